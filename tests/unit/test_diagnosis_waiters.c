/* The rules of diagnosis of who waits for what others tell, or for nothing but time (cli/diagnose/): for each a
 * hand-made run that shows the pattern, and its neighbour, which must not be accused. */

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "made_run.h"

/* A step on the word at which futex 4 waits. */
static void word(unsigned thread, unsigned op)
{
    step_at(&run, thread, op, 0, 9, 1000 + run.count);
    run.sites[run.count - 1].object = OBJECT_AT + 64 * 4;
}

/* Threads 1 and 2 wait on futex 4, which notices raise or which is taken as a lock is; one wake-up, for thread 2. */
static void make_futex(bool lock, uint64_t place, bool tells)
{
    begin(2);
    step_at(&run, 1, PCT_OP_FUTEX_WAIT, 0, 4, 7);
    STEP(&run, 2, FUTEX_WAIT, 4);
    word(0, lock ? PCT_OP_ATOMIC_TRY : PCT_OP_ATOMIC_UPDATE);
    STEP_ARG(&run, 0, FUTEX_WAKE, 1, 4);
    STEP(&run, 2, FUTEX_WOKEN, 4);
    STEP(&run, 2, YIELD, 0);
    if (tells)
        STEP_ARG(&run, 2, FUTEX_WAKE, PCT_ARG_NOBODY, 4);
    step_at(&run, 2, PCT_OP_FUTEX_WAIT, 0, 4, place);
    pending(&run, 1, PCT_OP_FUTEX_WAIT, 4);
    pending(&run, 2, PCT_OP_FUTEX_WAIT, 4);
}

static void test_wrong_waiter_of_futex(void **unused)
{
    (void)unused;
    make_futex(false, 8, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WRONG_WAITER, true);
    make_futex(false, 7, false); /* both wait for the same thing */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WRONG_WAITER, false);
    make_futex(false, 8, true); /* it has done something */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WRONG_WAITER, false);
    make_futex(true, 8, false); /* whoever is woken may lose against another one */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WRONG_WAITER, false);
}

/* Threads 1 and 2 wait on condition variable 5; one signal, for thread 2, which goes on; and perhaps another one. */
static void make_several(unsigned op, bool again)
{
    begin(2);
    for (unsigned thread = 1; thread <= 2; thread++) {
        STEP(&run, thread, MUTEX_LOCK, 3);
        STEP(&run, thread, COND_WAIT, 5);
    }
    STEP(&run, 0, MUTEX_LOCK, 3);
    if (op == PCT_OP_COND_SIGNAL)
        STEP_ARG(&run, 0, COND_SIGNAL, 1, 5);
    else
        STEP(&run, 0, COND_BROADCAST, 5);
    STEP(&run, 0, MUTEX_UNLOCK, 3);
    STEP(&run, 2, COND_WAKE, 5);
    STEP(&run, 2, MUTEX_UNLOCK, 3);
    if (again)
        STEP_ARG(&run, 0, COND_SIGNAL, 0, 5);
    STEP(&run, 2, THREAD_FINISH, 0);
    pending(&run, 1, PCT_OP_COND_WAIT, 5);
}

static void test_one_of_several(void **unused)
{
    (void)unused;
    make_several(PCT_OP_COND_SIGNAL, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_ONE_OF_SEVERAL, true);
    make_several(PCT_OP_COND_SIGNAL, false); /* of a run that passes nothing is said */
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_ONE_OF_SEVERAL, false);
    make_several(PCT_OP_COND_BROADCAST, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_ONE_OF_SEVERAL, false);
    make_several(PCT_OP_COND_SIGNAL, true); /* the other one has its own */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_ONE_OF_SEVERAL, false);
}

/* Thread 1 waits on condition variable 5; a section of thread 2 behind that: one that waits, too, or signals. */
static void make_untold(bool before, bool waits, bool signals)
{
    begin(2);
    if (before) {
        STEP(&run, 2, MUTEX_LOCK, 3);
        STEP(&run, 2, MUTEX_UNLOCK, 3);
    }
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 1, COND_WAIT, 5);
    if (!before) {
        STEP(&run, 2, MUTEX_LOCK, 3);
        if (signals)
            STEP_ARG(&run, 2, COND_SIGNAL, PCT_ARG_NOBODY, 5);
        if (waits)
            STEP(&run, 2, COND_WAIT, 5);
        else
            STEP(&run, 2, MUTEX_UNLOCK, 3);
    }
    pending(&run, 1, PCT_OP_COND_WAIT, 5);
    if (waits)
        pending(&run, 2, PCT_OP_COND_WAIT, 5);
}

static void test_untold(void **unused)
{
    (void)unused;
    make_untold(false, false, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_UNTOLD, true);
    make_untold(false, false, false);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_UNTOLD, false);
    make_untold(true, false, false); /* it has seen what was changed */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_UNTOLD, false);
    make_untold(false, true, false); /* waits for the same */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_UNTOLD, false);
    make_untold(false, false, true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_UNTOLD, false);
}

/* Threads 1 and 2 make locks of the words of futexes 4 and 5, as Rust does; gives: the second one gives its back. */
static void make_words(unsigned op, bool gives)
{
    begin(2);
    for (unsigned thread = 1; thread <= 2; thread++) {
        step_at(&run, thread, op, 0, 8 + thread, 100 + thread);
        run.sites[run.count - 1].object = OBJECT_AT + 64 * (3 + thread);
    }
    for (unsigned thread = 1; thread <= 2; thread++) {
        step_at(&run, thread, op, 0, 11 - thread, 200 + thread);
        run.sites[run.count - 1].object = OBJECT_AT + 64 * (6 - thread);
    }
    if (gives) {
        step_at(&run, 2, op, 0, 10, 300);
        run.sites[run.count - 1].object = OBJECT_AT + 64 * 5;
    }
    for (unsigned thread = 1; thread <= 2; thread++) {
        STEP(&run, thread, FUTEX_WAIT, 6 - thread);
        pending(&run, thread, PCT_OP_FUTEX_WAIT, 6 - thread);
    }
}

static void test_cycle_of_words(void **unused)
{
    (void)unused;
    make_words(PCT_OP_ATOMIC_TRY, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAIT_CYCLE, true);
    make_words(PCT_OP_ATOMIC_TRY, true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAIT_CYCLE, false);
    make_words(PCT_OP_ATOMIC_UPDATE, false); /* they count something */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAIT_CYCLE, false);
}

/* Thread 2 signals condition variable 4, from two places or one, behind a section that came before the waiter's. */
static void make_signalled_twice(uint64_t place)
{
    begin(2);
    STEP(&run, 2, MUTEX_LOCK, 3);
    STEP(&run, 2, MUTEX_UNLOCK, 3);
    STEP(&run, 1, MUTEX_LOCK, 3);
    step_at(&run, 2, PCT_OP_COND_SIGNAL, PCT_ARG_NOBODY, 4, 7);
    step_at(&run, 2, PCT_OP_COND_SIGNAL, PCT_ARG_NOBODY, 4, place);
    STEP(&run, 1, COND_WAIT, 4);
    pending(&run, 1, PCT_OP_COND_WAIT, 4);
}

static void test_second_signal(void **unused)
{
    (void)unused;
    make_signalled_twice(8);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_LOST_WAKEUP, true);
    make_signalled_twice(7); /* for two who wait for the same change */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_LOST_WAKEUP, false);
}

/* Thread 1 waits on 4 while thread 2 tells those who wait on 5, under the same mutex or another one; and then, perhaps,
 * thread 1. */
static void make_told_others(unsigned mutex, bool told)
{
    begin(2);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 1, COND_WAIT, 4);
    step_at(&run, 2, PCT_OP_MUTEX_LOCK, 0, mutex, 7);
    step_at(&run, 2, PCT_OP_COND_BROADCAST, 0, 5, 8);
    step_at(&run, 2, PCT_OP_MUTEX_UNLOCK, 0, mutex, 9);
    if (told)
        STEP(&run, 2, COND_SIGNAL, 4);
    pending(&run, 1, PCT_OP_COND_WAIT, 4);
}

static void test_tells_others(void **unused)
{
    (void)unused;
    make_told_others(3, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_TELLS_OTHERS, true);
    make_told_others(6, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_TELLS_OTHERS, false);
    make_told_others(3, true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_TELLS_OTHERS, false);
    /* In a run that passes somebody waits there meanwhile, too, and is told by somebody else. */
    struct pct_evidence evidence = { 0 };
    make_told_others(3, true);
    look(&run, PCT_VERDICT_EXIT, NULL);
    pct_evidence_add(&evidence, &run.history, false);
    done(&run);
    make_told_others(3, false);
    look(&run, PCT_VERDICT_DEADLOCK, &evidence);
    assert_null(found(&run, PCT_RULE_TELLS_OTHERS));
    done(&run);
    pct_evidence_free(&evidence);
}

/* Thread 1, which signals 4, looks and ends; thread 2 asks for something, and waits. Whether it is said to be late. */
static bool asks_too_late(bool late)
{
    begin(2);
    STEP_ARG(&run, 1, COND_SIGNAL, PCT_ARG_NOBODY, 4);
    if (!late)
        STEP_ARG(&run, 2, COND_SIGNAL, PCT_ARG_NOBODY, 5);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 1, MUTEX_UNLOCK, 3);
    if (late)
        STEP_ARG(&run, 2, COND_SIGNAL, PCT_ARG_NOBODY, 5);
    STEP(&run, 1, THREAD_FINISH, 1);
    STEP(&run, 2, MUTEX_LOCK, 3);
    STEP(&run, 2, COND_WAIT, 4);
    pending(&run, 2, PCT_OP_COND_WAIT, 4);
    look(&run, PCT_VERDICT_DEADLOCK, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_HAS_ENDED);
    assert_non_null(d);
    bool said = d->note[d->count - 1] && !strncmp(d->note[d->count - 1], "asks", 4);
    done(&run);
    return said;
}

static void test_asked_too_late(void **unused)
{
    (void)unused;
    assert_true(asks_too_late(true));
    assert_false(asks_too_late(false)); /* it may have been heard */
}

/* Thread 1 waits on 4 with mutex 3 while thread 2 comes by this many times. */
static void make_passed(unsigned times, bool comes_in)
{
    begin(2);
    step_at(&run, 1, PCT_OP_MUTEX_LOCK, 0, 3, 5);
    step_at(&run, 1, PCT_OP_COND_WAIT, 0, 4, 6);
    for (unsigned i = 0; i < times; i++) {
        step_at(&run, 2, PCT_OP_MUTEX_LOCK, 0, 3, 7);
        step_at(&run, 2, PCT_OP_MUTEX_UNLOCK, 0, 3, 8);
    }
    if (comes_in) {
        STEP(&run, 2, COND_SIGNAL, 4);
        STEP(&run, 1, COND_WAKE, 4);
        STEP(&run, 1, MUTEX_UNLOCK, 3);
    } else
        pending(&run, 1, PCT_OP_COND_WAIT, 4);
}

static bool starves(unsigned passing, unsigned usual, unsigned times)
{
    struct pct_evidence evidence = { 0 };
    for (unsigned i = 0; i < passing; i++) {
        make_passed(usual, true);
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(&evidence, &run.history, false);
        done(&run);
    }
    make_passed(times, false);
    look(&run, PCT_VERDICT_ASSERTION, &evidence);
    bool one = found(&run, PCT_RULE_STARVES);
    done(&run);
    pct_evidence_free(&evidence);
    return one;
}

static void test_starvation(void **unused)
{
    (void)unused;
    assert_true(starves(3, 2, 5));
    assert_false(starves(2, 2, 5)); /* too few to compare with */
    assert_false(starves(3, 5, 5)); /* no more often than in runs that pass */
    assert_false(starves(3, 1, 3)); /* nor that often at all */
}

/* Thread 1 loads what thread 2 stores, later by a sleep, behind which it may wait for thread 2. */
static void make_slept(bool in_order, bool waits)
{
    begin(2);
    STEP(&run, 1, SLEEP, 0);
    if (in_order)
        step_at(&run, 2, PCT_OP_STORE, 0, 4, 21);
    STEP(&run, 1, AWAKE, 0);
    if (waits)
        STEP(&run, 1, SEM_WAIT, 5);
    step_at(&run, 1, PCT_OP_LOAD, 0, 4, 11);
    if (!in_order)
        step_at(&run, 2, PCT_OP_STORE, 0, 4, 21);
}

/* How many steps are said of the store that comes too late: its own, the load, and the sleep. */
static unsigned steps_of_order(bool waits)
{
    struct pct_evidence evidence = { 0 };
    for (unsigned i = 0; i < PCT_EVIDENCE_ENOUGH; i++) {
        make_slept(true, waits);
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(&evidence, &run.history, false);
        done(&run);
    }
    make_slept(false, waits);
    look(&run, PCT_VERDICT_ASSERTION, &evidence);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_ORDER_MISSING);
    assert_non_null(d);
    unsigned count = d->count;
    done(&run);
    pct_evidence_free(&evidence);
    return count;
}

static void test_sleep_is_no_order(void **unused)
{
    (void)unused;
    assert_int_equal(steps_of_order(false), 3);
    assert_int_equal(steps_of_order(true), 2);
}

/* A thread takes what there is under a mutex and then empties the pipe or the like that tells of it. */
static void make_emptied(unsigned descriptor)
{
    begin(2);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 1, MUTEX_UNLOCK, 3);
    STEP(&run, 2, MUTEX_LOCK, 3);
    STEP(&run, 2, MUTEX_UNLOCK, 3);
    STEP(&run, 2, WRITE, descriptor);
    STEP(&run, 1, READ, descriptor);
}

static void test_descriptors(void **unused)
{
    (void)unused;
    make_emptied(5);
    look(&run, PCT_VERDICT_DEADLOCK, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_ATOMICITY);
    assert_non_null(d);
    assert_int_equal(d->count, 4);
    done(&run);
    make_emptied(1); /* what people read */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_ATOMICITY, false);
}

/* Thread 1 is woken by thread 2, but thread 0 comes first (or another one that waits itself), and it waits again. */
static void make_taken_back(bool competes, bool told)
{
    begin(3);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 1, COND_WAIT, 4);
    STEP(&run, 3, MUTEX_LOCK, 3);
    STEP(&run, 3, COND_WAIT, 4);
    STEP(&run, 2, MUTEX_LOCK, 3);
    STEP(&run, 2, COND_BROADCAST, 4);
    STEP(&run, 2, MUTEX_UNLOCK, 3);
    if (competes)
        STEP(&run, 3, COND_WAKE, 4);
    else
        STEP(&run, 0, MUTEX_LOCK, 3);
    STEP(&run, competes ? 3 : 0, MUTEX_UNLOCK, 3);
    if (told)
        STEP(&run, 0, COND_SIGNAL, 4);
    STEP(&run, 1, COND_WAKE, 4);
    STEP(&run, 1, COND_WAIT, 4);
    pending(&run, 1, PCT_OP_COND_WAIT, 4);
}

static void test_taken_back(void **unused)
{
    (void)unused;
    make_taken_back(false, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_TAKEN_BACK, true);
    make_taken_back(true, false); /* it may have what both wait for */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_TAKEN_BACK, false);
    make_taken_back(false, true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_TAKEN_BACK, false);
    make_taken_back(false, false);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_TAKEN_BACK, false);
}

/* An exchange of the word of futex 4 or 5, at this place. */
static void exchange(unsigned thread, unsigned word, uint64_t place)
{
    step_at(&run, thread, PCT_OP_ATOMIC_TRY, 0, 5 + word, place);
    run.sites[run.count - 1].object = OBJECT_AT + 64 * word;
}

/* A lock is taken and given back; of the second time no release is seen. */
static void test_words(void **unused)
{
    (void)unused;
    static const enum pct_word does[] = { PCT_WORD_TAKES, PCT_WORD_GIVES, PCT_WORD_TAKES,
                                          PCT_WORD_TAKES, PCT_WORD_FAILS, PCT_WORD_GIVES };
    begin(2);
    unsigned first = run.count;
    exchange(1, 4, 101);
    exchange(1, 4, 201);
    exchange(1, 4, 101);
    exchange(1, 4, 101);
    exchange(2, 4, 102);
    STEP(&run, 2, FUTEX_WAIT, 4);
    exchange(1, 4, 201);
    look(&run, PCT_VERDICT_EXIT, NULL);
    for (unsigned i = 0, step = first; i < sizeof does / sizeof *does; i++, step += i == 5 ? 2 : 1)
        assert_int_equal(run.history.steps[step].word, does[i]);
    assert_true(pct_moment_locks(&run.history.steps[first]));
    assert_int_equal(pct_moment_access(&run.history.steps[first]), PCT_ACCESS_UNKNOWN);
    assert_int_equal(pct_moment_access(&run.history.steps[first + 1]), PCT_ACCESS_NONE);
    done(&run);
    /* What is exchanged at one place only is a counter, or the like. */
    begin(2);
    for (unsigned i = 0; i < 6; i++)
        exchange(1 + i % 2, 4, 101);
    look(&run, PCT_VERDICT_EXIT, NULL);
    assert_int_equal(pct_moment_access(&run.history.steps[first]), PCT_ACCESS_UPDATE);
    done(&run);
}

/* Who has the lock and asks for it once more, twice, has had it since the first time. */
static void test_words_again(void **unused)
{
    (void)unused;
    begin(1);
    unsigned first = run.count;
    exchange(1, 4, 101);
    exchange(1, 4, 201);
    for (unsigned i = 0; i < 3; i++)
        exchange(1, 4, i == 2 ? 102 : 101);
    STEP(&run, 1, FUTEX_WAIT, 4);
    pending(&run, 1, PCT_OP_FUTEX_WAIT, 4);
    look(&run, PCT_VERDICT_DEADLOCK, NULL);
    assert_int_equal(found(&run, PCT_RULE_SELF_DEADLOCK)->step[0], first + 2);
    done(&run);
}

/* Who gives the lock back may wake others by its word: that place takes no other lock. Who has to wait gets it where it
 * tried to first. */
static void test_words_woken(void **unused)
{
    (void)unused;
    begin(2);
    unsigned first = run.count;
    exchange(1, 4, 101);
    exchange(2, 4, 101);
    STEP(&run, 2, FUTEX_WAIT, 4);
    exchange(1, 4, 201);
    STEP_ARG(&run, 1, FUTEX_WAKE, 0, 4);
    STEP(&run, 2, FUTEX_WOKEN, 4);
    exchange(2, 4, 102);
    exchange(2, 4, 201);
    look(&run, PCT_VERDICT_EXIT, NULL);
    assert_int_equal(run.history.steps[first + 3].word, PCT_WORD_GIVES);
    assert_int_equal(run.history.steps[first + 6].word, PCT_WORD_TAKES);
    assert_int_equal(run.history.steps[first + 6].place, run.history.steps[first + 1].place);
    assert_int_equal(run.history.steps[first + 7].word, PCT_WORD_GIVES);
    done(&run);
}

/* Threads 1 and 2 have the lock of readers in the word of futex 4; thread 2 may give it back before it asks for it once
 * more, and foreign: thread 1 gives back what it has not got. */
static void make_readers(bool gives, bool foreign)
{
    begin(3);
    for (unsigned thread = foreign ? 2 : 1; thread <= 2; thread++)
        exchange(thread, 4, 101);
    word(1, PCT_OP_ATOMIC_UPDATE);
    if (gives)
        word(2, PCT_OP_ATOMIC_UPDATE);
    exchange(3, 4, 201);
    STEP(&run, 3, FUTEX_WAIT, 5);
    exchange(2, 4, 101);
    STEP(&run, 2, FUTEX_WAIT, 4);
    pending(&run, 2, PCT_OP_FUTEX_WAIT, 4);
    pending(&run, 3, PCT_OP_FUTEX_WAIT, 5);
}

static void test_readers(void **unused)
{
    (void)unused;
    make_readers(false, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_SELF_DEADLOCK, true);
    make_readers(true, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_SELF_DEADLOCK, false);
    make_readers(false, true); /* it counts something */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_SELF_DEADLOCK, false);
    make_readers(false, false);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_SELF_DEADLOCK, false);
}

/* Thread 1 parks at futex 4, is woken twice by thread 0, and parks again; it may look between the two; takes: it takes
 * a wake-up before it waits. */
static void make_parked(bool looks, bool takes)
{
    begin(1);
    word(1, PCT_OP_ATOMIC_UPDATE);
    STEP(&run, 1, FUTEX_WAIT, 4);
    word(0, PCT_OP_ATOMIC_TRY);
    STEP_ARG(&run, 0, FUTEX_WAKE, 0, 4);
    STEP(&run, 1, FUTEX_WOKEN, 4);
    if (looks)
        word(1, PCT_OP_ATOMIC_TRY);
    word(0, PCT_OP_ATOMIC_TRY);
    word(1, PCT_OP_ATOMIC_TRY);
    if (takes)
        word(1, PCT_OP_ATOMIC_UPDATE);
    STEP(&run, 1, FUTEX_WAIT, 4);
    pending(&run, 1, PCT_OP_FUTEX_WAIT, 4);
}

static void test_merged(void **unused)
{
    (void)unused;
    make_parked(false, true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_MERGED, true);
    make_parked(true, true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_MERGED, false);
    make_parked(false, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_MERGED, false);
    make_parked(false, true);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_MERGED, false);
}

/* Threads 1 and 2 meet at a barrier that is made of mutex 3 and condition 5, and thread 2 comes again; the one that
 * lets all go comes by the same way as they do, or not; early: thread 1 has looked before thread 2 comes again. */
static void make_rounds(uint64_t last, bool early)
{
    begin(2);
    step_at(&run, 1, PCT_OP_MUTEX_LOCK, 0, 3, 11);
    STEP(&run, 1, COND_WAIT, 5);
    step_at(&run, 2, PCT_OP_MUTEX_LOCK, 0, 3, last);
    STEP(&run, 2, COND_BROADCAST, 5);
    STEP(&run, 2, MUTEX_UNLOCK, 3);
    if (early)
        STEP(&run, 1, COND_WAKE, 5);
    if (early)
        STEP(&run, 1, MUTEX_UNLOCK, 3);
    step_at(&run, 2, PCT_OP_MUTEX_LOCK, 0, 3, 11);
    STEP(&run, 2, COND_WAIT, 5);
    if (!early)
        STEP(&run, 1, COND_WAKE, 5);
    if (early)
        step_at(&run, 1, PCT_OP_MUTEX_LOCK, 0, 3, 11);
    STEP(&run, 1, COND_WAIT, 5);
    pending(&run, 1, PCT_OP_COND_WAIT, 5);
    pending(&run, 2, PCT_OP_COND_WAIT, 5);
}

static void test_overtaken(void **unused)
{
    (void)unused;
    make_rounds(11, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_OVERTAKEN, true);
    make_rounds(11, true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_OVERTAKEN, false);
    make_rounds(12, false); /* as who gives work does */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_OVERTAKEN, false);
    make_rounds(11, false);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_OVERTAKEN, false);
}

/* What counts notices is no data; what is also changed otherwise is. */
static void test_notices(void **unused)
{
    (void)unused;
    for (unsigned other = 0; other < 2; other++) {
        begin(2);
        unsigned first = run.count;
        step_at(&run, 1, PCT_OP_ATOMIC_UPDATE, 0, 9, 101);
        run.sites[run.count - 1].object = OBJECT_AT + 64 * 4;
        STEP(&run, 1, FUTEX_WAKE, 4);
        if (other) {
            step_at(&run, 2, PCT_OP_ATOMIC_STORE, 0, 9, 102);
            run.sites[run.count - 1].object = OBJECT_AT + 64 * 4;
        }
        look(&run, PCT_VERDICT_EXIT, NULL);
        assert_int_equal(pct_moment_access(&run.history.steps[first]), other ? PCT_ACCESS_UPDATE : PCT_ACCESS_NONE);
        done(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_waiter_of_futex),
        cmocka_unit_test(test_second_signal),
        cmocka_unit_test(test_tells_others),
        cmocka_unit_test(test_asked_too_late),
        cmocka_unit_test(test_starvation),
        cmocka_unit_test(test_sleep_is_no_order),
        cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_cycle_of_words),
        cmocka_unit_test(test_taken_back),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_words_again),
        cmocka_unit_test(test_words_woken),
        cmocka_unit_test(test_notices),
        cmocka_unit_test(test_readers),
        cmocka_unit_test(test_merged),
        cmocka_unit_test(test_overtaken),
        cmocka_unit_test(test_one_of_several),
        cmocka_unit_test(test_untold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
