/* The rules of diagnosis of locks that are made of a word of memory, and of who is left to signal (cli/diagnose/): for
 * each a hand-made run that shows the pattern, and its neighbour, which must not be accused. */

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "made_run.h"

/* A step on the word at which this futex waits. */
static void step_on(unsigned thread, unsigned op, unsigned futex, uint64_t place)
{
    step_at(&run, thread, op, 0, 5 + futex, place);
    run.sites[run.count - 1].object = OBJECT_AT + 64 * futex;
}

/* Threads 1 and 2 (or one of them) take and give back the word of futex 4, for which nobody has to wait. */
static void make_shared(bool both, bool gives)
{
    begin(2);
    for (unsigned round = 0; round < 2; round++) {
        unsigned thread = 1 + (both ? round : 0);
        step_on(thread, PCT_OP_ATOMIC_TRY, 4, 101);
        if (gives || !round)
            step_on(thread, PCT_OP_ATOMIC_UPDATE, 4, 201);
    }
    look(&run, PCT_VERDICT_EXIT, NULL);
}

static unsigned word_of_first(bool both, bool gives)
{
    make_shared(both, gives);
    uint32_t first = 0;
    while (run.history.steps[first].op != PCT_OP_ATOMIC_TRY)
        first++;
    unsigned word = run.history.steps[first].word;
    done(&run);
    return word;
}

static void test_shared_without_waiting(void **unused)
{
    (void)unused;
    assert_int_equal(word_of_first(true, true), PCT_WORD_SHARES);
    assert_int_equal(word_of_first(false, true), PCT_WORD_NONE); /* one thread alone: it may count something */
    assert_int_equal(word_of_first(true, false), PCT_WORD_NONE); /* likewise */
}

/* Steps on two words in turn: each is judged by its own. */
static void test_shared_between_others(void **unused)
{
    (void)unused;
    begin(2);
    for (unsigned thread = 1; thread < 3; thread++) {
        step_on(thread, PCT_OP_ATOMIC_TRY, 4, 101);
        step_on(thread, PCT_OP_ATOMIC_TRY, 5, 102);
        step_on(thread, PCT_OP_ATOMIC_UPDATE, 4, 201);
        if (thread == 1)
            step_on(thread, PCT_OP_ATOMIC_UPDATE, 5, 202);
    }
    look(&run, PCT_VERDICT_EXIT, NULL);
    for (uint32_t i = 0; i < run.history.count; i++) {
        const struct pct_moment *m = &run.history.steps[i];
        const unsigned word = m->op == PCT_OP_ATOMIC_TRY ? PCT_WORD_SHARES : PCT_WORD_GIVES;
        if (m->class_ == PCT_CLASS_MEMORY)
            assert_int_equal(m->word, m->address == OBJECT_AT + 64 * 4 ? word : PCT_WORD_NONE);
    }
    done(&run);
}

/* Thread 1 takes the lock of the word of futex 4, may give it back, and parks at futex 5; thread 2 wants that lock. */
static void make_parked_with(bool gives)
{
    begin(2);
    step_on(1, PCT_OP_ATOMIC_TRY, 4, 101);
    if (gives)
        step_on(1, PCT_OP_ATOMIC_TRY, 4, 201);
    step_on(2, PCT_OP_ATOMIC_TRY, 4, 101);
    STEP(&run, 1, FUTEX_WAIT, 5);
    STEP(&run, 2, FUTEX_WAIT, 4);
    pending(&run, 1, PCT_OP_FUTEX_WAIT, 5);
    pending(&run, 2, PCT_OP_FUTEX_WAIT, 4);
}

static void test_parks_with_lock(void **unused)
{
    (void)unused;
    make_parked_with(false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAITS_WITH_LOCK, true);
    make_parked_with(false);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_WAITS_WITH_LOCK, false);
    make_parked_with(true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAITS_WITH_LOCK, false);
}

/* Thread 1 exchanges the word of futex 4 twice, as with a lock; thread 2 reads it, then it again or something else. */
static void make_read(bool again)
{
    begin(2);
    step_on(1, PCT_OP_ATOMIC_TRY, 4, 101);
    step_on(2, PCT_OP_ATOMIC_LOAD, 4, 301);
    step_on(1, PCT_OP_ATOMIC_TRY, 4, 201);
    if (again)
        step_on(2, PCT_OP_ATOMIC_TRY, 4, 101);
    else
        STEP(&run, 2, MUTEX_LOCK, 3);
    step_on(2, PCT_OP_ATOMIC_LOAD, 4, 302);
}

/* Who reads a word and goes on does not want to have it. */
static void test_word_is_data(void **unused)
{
    (void)unused;
    for (unsigned again = 0; again < 2; again++) {
        make_read(again);
        look(&run, PCT_VERDICT_ASSERTION, NULL);
        assert_int_equal(run.history.steps[4].word, again ? PCT_WORD_TAKES : PCT_WORD_NONE);
        assert_int_equal(!found(&run, PCT_RULE_ATOMICITY), again);
        done(&run);
    }
}

/* Thread t takes the word of futex 3 + t, and then waits for the other one's at the word behind that, as who would
 * write does. */
static void make_writers(uint64_t beside)
{
    begin(2);
    for (unsigned thread = 1; thread < 3; thread++)
        step_on(thread, PCT_OP_ATOMIC_TRY, 3 + thread, 101);
    for (unsigned thread = 1; thread < 3; thread++) {
        step_on(thread, PCT_OP_ATOMIC_TRY, 6 - thread, 102);
        STEP(&run, thread, FUTEX_WAIT, 10 + thread);
        run.sites[run.count - 1].object = OBJECT_AT + 64 * (6 - thread) + beside;
        pending(&run, thread, PCT_OP_FUTEX_WAIT, 10 + thread);
    }
}

static void test_waits_beside_the_word(void **unused)
{
    (void)unused;
    make_writers(4);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAIT_CYCLE, true);
    make_writers(8); /* something else */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAIT_CYCLE, false);
}

/* Thread 1 shares the word of futex 4 with others, and waits at the word itself; thread 3 beside it, or at something
 * else. */
static void make_reads_again(unsigned beside)
{
    begin(3);
    for (unsigned thread = 1; thread < 3; thread++) {
        step_on(thread, PCT_OP_ATOMIC_TRY, 4, 101);
        if (thread == 2)
            step_on(2, PCT_OP_ATOMIC_UPDATE, 4, 201);
    }
    step_on(3, PCT_OP_ATOMIC_TRY, 4, 301);
    STEP(&run, 3, FUTEX_WAIT, 5);
    run.sites[run.count - 1].object = OBJECT_AT + 64 * 4 + beside;
    step_on(1, PCT_OP_ATOMIC_TRY, 4, 101);
    STEP(&run, 1, FUTEX_WAIT, 4);
    pending(&run, 1, PCT_OP_FUTEX_WAIT, 4);
    pending(&run, 3, PCT_OP_FUTEX_WAIT, 5);
}

static void test_reads_again(void **unused)
{
    (void)unused;
    make_reads_again(4);
    look(&run, PCT_VERDICT_DEADLOCK, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_RELOCKED);
    assert_non_null(d);
    assert_null(found(&run, PCT_RULE_SELF_DEADLOCK));
    assert_int_equal(run.history.steps[d->step[2]].thread, 3);
    done(&run);
    make_reads_again(8);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_RELOCKED, false);
}

/* Thread 1 has counted itself by the word of futex 4 where it reads object 9 and writes it; thread 2 writes between,
 * with mutex 3. Somebody waits for that word, or nobody. */
static void make_counted(bool awaited)
{
    begin(3);
    step_on(3, PCT_OP_ATOMIC_TRY, 4, 101);
    step_on(3, PCT_OP_ATOMIC_UPDATE, 4, 201);
    step_on(1, PCT_OP_ATOMIC_TRY, 4, 101);
    if (awaited) {
        step_on(3, PCT_OP_ATOMIC_TRY, 4, 101);
        STEP(&run, 3, FUTEX_WAIT, 4);
    }
    step_at(&run, 1, PCT_OP_LOAD, 0, 19, 11);
    STEP(&run, 2, MUTEX_LOCK, 3);
    step_at(&run, 2, PCT_OP_STORE, 0, 19, 21);
    step_at(&run, 1, PCT_OP_STORE, 0, 19, 12);
    step_on(1, PCT_OP_ATOMIC_UPDATE, 4, 201);
}

static void test_count_is_no_lock(void **unused)
{
    (void)unused;
    make_counted(true);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_NOT_THE_SAME_LOCK, true);
    make_counted(false);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_NOT_THE_SAME_LOCK, false);
    make_counted(false);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_ATOMICITY, true);
}

enum waits { GOES_ON, WAITS_AGAIN, ALONE, UNWOKEN };

/* Thread 1 looks with the lock of the word of futex 4 and waits on a condition variable made of futex 5; thread 0 tells
 * it, and thread 2 may come first. */
static void make_told(enum waits kind)
{
    begin(2);
    step_at(&run, 0, PCT_OP_STORE, 0, 9, 90); /* makes the lock */
    run.sites[run.count - 1].object = OBJECT_AT + 64 * 4;
    step_on(1, PCT_OP_ATOMIC_TRY, 4, 101);
    step_on(1, PCT_OP_LOAD, 4, 110); /* is it poisoned? */
    run.sites[run.count - 1].object += 4;
    STEP(&run, 1, YIELD, 0);
    step_on(1, PCT_OP_ATOMIC_TRY, 4, 201);
    if (kind != UNWOKEN)
        STEP(&run, 1, FUTEX_WAIT, 5);
    step_on(0, PCT_OP_ATOMIC_TRY, 4, 101);
    step_on(0, PCT_OP_ATOMIC_UPDATE, 5, 301);
    STEP(&run, 0, FUTEX_WAKE, 5);
    step_on(0, PCT_OP_ATOMIC_TRY, 4, 202);
    if (kind != ALONE) {
        step_on(2, PCT_OP_ATOMIC_TRY, 4, 101);
        step_on(2, PCT_OP_ATOMIC_TRY, 4, 203);
    }
    if (kind != UNWOKEN)
        STEP(&run, 1, FUTEX_WOKEN, 5);
    step_on(1, PCT_OP_ATOMIC_TRY, 4, 102);
    if (kind == WAITS_AGAIN) {
        step_on(1, PCT_OP_ATOMIC_TRY, 4, 201);
        STEP(&run, 1, FUTEX_WAIT, 5);
        step_on(1, PCT_OP_ATOMIC_TRY, 4, 102);
    }
    STEP(&run, 1, MUTEX_LOCK, 13);
}

static void test_word_taken_back(void **unused)
{
    (void)unused;
    for (enum waits kind = GOES_ON; kind <= UNWOKEN; kind++) {
        make_told(kind);
        look(&run, PCT_VERDICT_ASSERTION, NULL);
        assert_int_equal(!found(&run, PCT_RULE_NOT_LOOKED_AGAIN), kind != GOES_ON);
        /* Who has waited looks anew, and does not go on with what it saw before; that this is a wait, a run without one
         * does not show. */
        assert_int_equal(!found(&run, PCT_RULE_ATOMICITY), kind != UNWOKEN);
        done(&run);
    }
}

/* What comes between when a thread has begun to panic has not made it do so. */
static void test_behind_the_panic(void **unused)
{
    (void)unused;
    for (unsigned behind = 0; behind < 2; behind++) {
        begin(2);
        step_at(&run, 1, PCT_OP_LOAD, 0, 19, 11);
        step_at(&run, 2, PCT_OP_STORE, 0, 19, 21);
        step_at(&run, 1, PCT_OP_STORE, 0, 19, 12);
        look(&run, PCT_VERDICT_EXIT, NULL);
        run.history.failed = behind ? 5 : 6;
        pct_diagnoses_free(&run.diagnoses);
        pct_diagnoses_find(&run.diagnoses, &run.history, NULL);
        assert_int_equal(!found(&run, PCT_RULE_ATOMICITY), behind);
        done(&run);
    }
}

/* Thread 1 signals 4 and ends; thread 2 has signalled it, too, and waits for it. Thread 0 as well, and then joins
 * thread 2, or waits for something else. */
static void make_left(bool joins)
{
    begin(2);
    for (unsigned thread = 0; thread < 3; thread++)
        STEP_ARG(&run, thread, COND_SIGNAL, PCT_ARG_NOBODY, 4);
    STEP(&run, 1, THREAD_FINISH, 1);
    STEP(&run, 2, MUTEX_LOCK, 3);
    STEP(&run, 2, COND_WAIT, 4);
    pending(&run, 2, PCT_OP_COND_WAIT, 4);
    pending(&run, 0, joins ? PCT_OP_THREAD_JOIN : PCT_OP_SEM_WAIT, joins ? 2 : 6);
}

static void test_nobody_left_but_who_joins(void **unused)
{
    (void)unused;
    make_left(true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_HAS_ENDED, true);
    make_left(false); /* it would signal when it goes on */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_HAS_ENDED, false);
}

/* Thread 2 comes into the section with the lock of the word of futex 4, and may tell who waits for that of futex 5. */
static void come_by(uint64_t place, bool tells)
{
    step_on(2, PCT_OP_ATOMIC_TRY, 4, place);
    if (tells) {
        step_on(2, PCT_OP_ATOMIC_UPDATE, 5, 301);
        STEP(&run, 2, FUTEX_WAKE, 5);
    }
    step_on(2, PCT_OP_ATOMIC_TRY, 4, 201);
}

/* As in Rust: thread 1 gives the lock up and waits; thread 2 has come before that, and comes once more. */
static void make_untold(bool before, uint64_t place, bool then)
{
    begin(2);
    come_by(101, before);
    step_on(1, PCT_OP_ATOMIC_TRY, 4, 102);
    step_on(1, PCT_OP_ATOMIC_LOAD, 5, 302);
    step_on(1, PCT_OP_ATOMIC_TRY, 4, 202);
    STEP(&run, 1, FUTEX_WAIT, 5);
    come_by(place, then);
    pending(&run, 1, PCT_OP_FUTEX_WAIT, 5);
}

static void test_no_notice(void **unused)
{
    (void)unused;
    make_untold(true, 101, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_NO_NOTICE, true);
    make_untold(true, 103, false); /* that is another section, which never tells */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_NO_NOTICE, false);
    make_untold(true, 101, true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_NO_NOTICE, false);
    make_untold(true, 101, false);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_NO_NOTICE, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared_without_waiting),
        cmocka_unit_test(test_shared_between_others),
        cmocka_unit_test(test_parks_with_lock),
        cmocka_unit_test(test_nobody_left_but_who_joins),
        cmocka_unit_test(test_word_is_data),
        cmocka_unit_test(test_waits_beside_the_word),
        cmocka_unit_test(test_count_is_no_lock),
        cmocka_unit_test(test_reads_again),
        cmocka_unit_test(test_word_taken_back),
        cmocka_unit_test(test_behind_the_panic),
        cmocka_unit_test(test_no_notice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
