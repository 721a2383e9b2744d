/* The rules of diagnosis of what threads wait for, and who wakes them (cli/diagnose/): for each a hand-made run that
 * shows the pattern, and its neighbour, which must not be accused. */

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "made_run.h"

/* --- Waits -------------------------------------------------------------------------------------------------------- */

static void test_cycle(void **unused)
{
    (void)unused;
    begin(2);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 2, MUTEX_LOCK, 4);
    pending(&run, 0, PCT_OP_THREAD_JOIN, 1);
    pending(&run, 1, PCT_OP_MUTEX_LOCK, 4);
    pending(&run, 2, PCT_OP_MUTEX_LOCK, 3);
    look(&run, PCT_VERDICT_DEADLOCK, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_WAIT_CYCLE);
    assert_non_null(d);
    assert_int_equal(d->count, 4);
    done(&run);
    /* One of them could go on. */
    begin(2);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 2, MUTEX_LOCK, 4);
    STEP(&run, 2, MUTEX_UNLOCK, 4);
    pending(&run, 1, PCT_OP_MUTEX_LOCK, 4);
    pending(&run, 2, PCT_OP_MUTEX_LOCK, 3);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAIT_CYCLE, false);
    /* A run that has not ended in a deadlock. */
    begin(2);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 2, MUTEX_LOCK, 4);
    pending(&run, 1, PCT_OP_MUTEX_LOCK, 4);
    pending(&run, 2, PCT_OP_MUTEX_LOCK, 3);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_WAIT_CYCLE, false);
    /* Somebody joins who holds what the other one needs. */
    begin(1);
    STEP(&run, 0, MUTEX_LOCK, 3);
    pending(&run, 0, PCT_OP_THREAD_JOIN, 1);
    pending(&run, 1, PCT_OP_MUTEX_LOCK, 3);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAIT_CYCLE, true);
    begin(1);
    STEP(&run, 1, MUTEX_LOCK, 3);
    pending(&run, 1, PCT_OP_MUTEX_LOCK, 3);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_SELF_DEADLOCK, true);
}

/* Thread 1 has lock 3 for reading and waits to read it once more, beside thread 2. */
static void reads_again(unsigned other)
{
    begin(2);
    STEP(&run, 1, RWLOCK_RDLOCK, 3);
    pending(&run, 1, PCT_OP_RWLOCK_RDLOCK, 3);
    pending(&run, 2, other, 3);
}

static void test_relocked(void **unused)
{
    (void)unused;
    reads_again(PCT_OP_RWLOCK_WRLOCK);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_RELOCKED, true);
    reads_again(PCT_OP_RWLOCK_RDLOCK);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_RELOCKED, false);
    reads_again(PCT_OP_RWLOCK_WRLOCK);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_RELOCKED, false);
}

/* Thread 1 waits on 4 with mutex 3 until its time is up; thread 2 signals before it goes on. */
static void signals_late(unsigned waiters, unsigned ends)
{
    begin(2);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 1, COND_WAIT, 4);
    STEP(&run, 2, MUTEX_LOCK, 3);
    STEP_ARG(&run, 2, COND_SIGNAL, waiters, 4);
    STEP(&run, 2, MUTEX_UNLOCK, 3);
    STEP_ARG(&run, 1, COND_WAKE, ends, 4);
    STEP(&run, 1, MUTEX_UNLOCK, 3);
}

static void test_late(void **unused)
{
    (void)unused;
    signals_late(PCT_ARG_NOBODY, PCT_ARG_TIMEOUT);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_SIGNALLED_LATE, true);
    signals_late(0, 0); /* woken by it */
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_SIGNALLED_LATE, false);
    signals_late(PCT_ARG_NOBODY, PCT_ARG_TIMEOUT); /* looks, and waits again */
    run.count--;
    STEP(&run, 1, COND_WAIT, 4);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_SIGNALLED_LATE, false);
}

/* Thread 1 makes a static local of guard 3, or has made it, and needs lock 4, with which thread 2 waits for the guard:
 * by a futex at the same address. */
static void make_guard(bool made)
{
    begin(2);
    STEP(&run, 1, GUARD_ACQUIRE, 3);
    if (made)
        STEP(&run, 1, GUARD_RELEASE, 3);
    STEP(&run, 2, MUTEX_LOCK, 4);
    STEP(&run, 2, GUARD_ACQUIRE, 3);
    step_at(&run, 2, PCT_OP_FUTEX_WAIT, 0, 5, 100);
    run.sites[run.count - 1].object = OBJECT_AT + 64 * 3;
    pending(&run, 1, PCT_OP_MUTEX_LOCK, 4);
    pending(&run, 2, PCT_OP_FUTEX_WAIT, 5);
}

static void test_guard(void **unused)
{
    (void)unused;
    make_guard(false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAIT_CYCLE, true);
    make_guard(true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAIT_CYCLE, false);
    /* Who comes when it is made has nothing to make. */
    begin(2);
    STEP(&run, 1, GUARD_ACQUIRE, 3);
    STEP(&run, 1, GUARD_RELEASE, 3);
    STEP(&run, 1, GUARD_ACQUIRE, 3);
    STEP(&run, 1, MUTEX_LOCK, 4);
    look(&run, PCT_VERDICT_EXIT, NULL);
    assert_null(pct_history_holds(&run.history, run.count - 1, PCT_CLASS_GUARD, 3));
    assert_non_null(pct_history_holds(&run.history, run.count - 1, PCT_CLASS_MUTEX, 4));
    done(&run);
}

/* Semaphore 3, by which thread 1 takes and gives back, and of which thread 0 takes twice. */
static void make_taken_twice(bool handed_over)
{
    begin(1);
    STEP(&run, 1, SEM_WAIT, 3);
    STEP(&run, 1, SEM_POST, 3);
    if (handed_over)
        STEP(&run, 1, SEM_POST, 3);
    STEP(&run, 0, SEM_WAIT, 3);
    pending(&run, 0, PCT_OP_SEM_WAIT, 3);
}

static void test_semaphore_as_lock(void **unused)
{
    (void)unused;
    make_taken_twice(false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_SELF_DEADLOCK, true);
    /* Others post what they have not taken: nobody holds it. */
    make_taken_twice(true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_SELF_DEADLOCK, false);
    /* They do in another run. */
    struct pct_evidence evidence = { 0 };
    make_taken_twice(true);
    look(&run, PCT_VERDICT_EXIT, NULL);
    pct_evidence_add(&evidence, &run.history, false);
    done(&run);
    make_taken_twice(false);
    look(&run, PCT_VERDICT_DEADLOCK, &evidence);
    assert_null(found(&run, PCT_RULE_SELF_DEADLOCK));
    done(&run);
    pct_evidence_free(&evidence);
}

/* Thread 1 takes from semaphore 4, where thread 0 posts, and posts semaphore 3; the second time it does not. */
static void make_ways(bool ends)
{
    begin(1);
    STEP(&run, 0, SEM_POST, 4);
    step_at(&run, 1, PCT_OP_SEM_WAIT, 0, 4, 10);
    step_at(&run, 1, PCT_OP_SEM_POST, 0, 3, 11);
    STEP(&run, 0, SEM_WAIT, 3);
    STEP(&run, 0, SEM_POST, 4);
    step_at(&run, 1, PCT_OP_SEM_WAIT, 0, 4, 10);
    if (ends)
        STEP(&run, 1, THREAD_FINISH, 1);
    else
        pending(&run, 1, PCT_OP_MUTEX_LOCK, 5);
    pending(&run, 0, PCT_OP_SEM_WAIT, 3);
}

static void test_no_post(void **unused)
{
    (void)unused;
    make_ways(true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_NO_POST, true);
    /* It did not come to the end of its way, and could still have posted. */
    make_ways(false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_NO_POST, false);
    make_ways(true);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_NO_POST, false);
    /* There is no post on such a way. */
    begin(1);
    STEP(&run, 1, SEM_POST, 3);
    STEP(&run, 0, SEM_WAIT, 3);
    STEP(&run, 1, MUTEX_LOCK, 5);
    STEP(&run, 1, THREAD_FINISH, 1);
    pending(&run, 0, PCT_OP_SEM_WAIT, 3);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_NO_POST, false);
}

/* Thread 1 takes and gives back, once more or not, and thread 2 takes; somebody takes what is too many, or does not. */
static void make_given_back(bool again, bool taken)
{
    begin(2);
    STEP(&run, 1, SEM_WAIT, 3);
    STEP(&run, 1, SEM_POST, 3);
    if (again)
        STEP(&run, 1, SEM_POST, 3);
    STEP(&run, 2, SEM_WAIT, 3);
    if (taken)
        STEP(&run, 0, SEM_WAIT, 3);
    STEP(&run, 2, SEM_POST, 3);
}

/* Whether a second post is found behind this many runs that pass. */
static bool is_one_too_many(unsigned passing, bool again, bool taken)
{
    struct pct_evidence evidence = { 0 };
    for (unsigned i = 0; i < passing; i++) {
        make_given_back(again, taken);
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(&evidence, &run.history, false);
        done(&run);
    }
    make_given_back(again, taken);
    look(&run, PCT_VERDICT_ASSERTION, &evidence);
    bool one = found(&run, PCT_RULE_TOO_MANY_POSTS);
    done(&run);
    pct_evidence_free(&evidence);
    return one;
}

static void test_too_many_posts(void **unused)
{
    (void)unused;
    assert_true(is_one_too_many(3, true, false));
    assert_false(is_one_too_many(2, true, false));
    assert_false(is_one_too_many(3, false, false));
    assert_false(is_one_too_many(3, true, true)); /* as at a turnstile, where another one takes it for all */
}

static void test_ends_with_lock(void **unused)
{
    (void)unused;
    begin(1);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 1, THREAD_FINISH, 1);
    pending(&run, 0, PCT_OP_MUTEX_LOCK, 3);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_ENDS_WITH_LOCK, true);
    /* Nobody waits for it: it may be a robust mutex. */
    begin(1);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 1, THREAD_FINISH, 1);
    pending(&run, 0, PCT_OP_SEM_WAIT, 5);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_ENDS_WITH_LOCK, false);
}

/* Thread 2 takes from semaphore 3 and gives back, or not; thread 1 takes from it and ends. */
static void make_kept(bool others_give_back)
{
    begin(2);
    STEP(&run, 2, SEM_WAIT, 3);
    if (others_give_back)
        STEP(&run, 2, SEM_POST, 3);
    STEP(&run, 1, SEM_WAIT, 3);
    STEP(&run, 1, THREAD_FINISH, 1);
    pending(&run, 2, PCT_OP_SEM_WAIT, 3);
}

static void test_ends_with_semaphore(void **unused)
{
    (void)unused;
    make_kept(true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_ENDS_WITH_LOCK, true);
    make_kept(false); /* it may be taken from for good */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_ENDS_WITH_LOCK, false);
}

/* --- Wakes -------------------------------------------------------------------------------------------------------- */

/* A waiter with mutex 3 and condition variable 4, and a signaller: the signal comes in the window, or before it. */
static void make_lost(bool before, bool under_mutex)
{
    begin(2);
    if (before) {
        if (under_mutex) {
            STEP(&run, 2, MUTEX_LOCK, 3);
            STEP(&run, 2, MUTEX_UNLOCK, 3);
        } else
            STEP(&run, 2, COND_SIGNAL, 4);
    }
    STEP(&run, 1, MUTEX_LOCK, 3);
    if (!before || under_mutex)
        STEP_ARG(&run, 2, COND_SIGNAL, PCT_ARG_NOBODY, 4);
    STEP(&run, 1, COND_WAIT, 4);
    pending(&run, 0, PCT_OP_THREAD_JOIN, 1);
    pending(&run, 1, PCT_OP_COND_WAIT, 4);
}

static void test_lost_wakeup(void **unused)
{
    (void)unused;
    make_lost(false, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_LOST_WAKEUP, true);
    /* Just outside of the window. */
    make_lost(true, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_LOST_WAKEUP, false);
    make_lost(true, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_NOBODY_SIGNALS, true);
    /* What it tells of was there when the waiter looked. */
    make_lost(true, true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_LOST_WAKEUP, false);
}

/* Of what the waiter looks at, the last before the signal is what the sentence speaks of. */
static void test_lost_wakeup_look(void **unused)
{
    (void)unused;
    begin(2);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 1, LOAD, 7);
    STEP(&run, 1, LOAD, 8);
    STEP_ARG(&run, 2, COND_SIGNAL, PCT_ARG_NOBODY, 4);
    STEP(&run, 1, LOAD, 9);
    STEP(&run, 1, COND_WAIT, 4);
    pending(&run, 0, PCT_OP_THREAD_JOIN, 1);
    pending(&run, 1, PCT_OP_COND_WAIT, 4);
    look(&run, PCT_VERDICT_DEADLOCK, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_LOST_WAKEUP);
    assert_non_null(d);
    const uint32_t first = d->step[1] - 1;
    char text[300], expected[300];
    snprintf(expected, sizeof expected,
             "lost wake-up: thread 2 signals condition variable 4 (step %u) between thread 1's look (step %u) and its "
             "wait (step %u), without the mutex that thread 1 waits with",
             first + 2, first + 1, first + 4);
    assert_string_equal(pct_diagnosis_format(text, sizeof text, &run.history, d), expected);
    done(&run);
}

/* A signal wakes thread 2, which waits again, at this place, or changes something first. */
static void make_wrong(uint64_t place, bool changes)
{
    begin(2);
    STEP(&run, 2, MUTEX_LOCK, 3);
    STEP(&run, 2, COND_WAIT, 4);
    STEP(&run, 1, MUTEX_LOCK, 3);
    step_at(&run, 1, PCT_OP_COND_WAIT, 0, 4, 7);
    STEP(&run, 0, MUTEX_LOCK, 3);
    STEP(&run, 0, COND_SIGNAL, 4);
    STEP(&run, 0, MUTEX_UNLOCK, 3);
    STEP(&run, 2, COND_WAKE, 4);
    if (changes) {
        STEP(&run, 2, COND_SIGNAL, 9);
    }
    step_at(&run, 2, PCT_OP_COND_WAIT, 0, 4, place);
    pending(&run, 1, PCT_OP_COND_WAIT, 4);
    pending(&run, 2, PCT_OP_COND_WAIT, 4);
}

/* Threads 1 and 2 wait at place 7; 2 is woken and waits again. taken: thread 0 comes first; told: it signals again. */
static void make_same(bool taken, bool told)
{
    begin(2);
    for (unsigned thread = 1; thread <= 2; thread++) {
        STEP(&run, thread, MUTEX_LOCK, 3);
        step_at(&run, thread, PCT_OP_COND_WAIT, 0, 4, 7);
    }
    STEP(&run, 0, MUTEX_LOCK, 3);
    STEP_ARG(&run, 0, COND_SIGNAL, 1, 4);
    STEP(&run, 0, MUTEX_UNLOCK, 3);
    if (taken) {
        STEP(&run, 0, MUTEX_LOCK, 3);
        STEP(&run, 0, MUTEX_UNLOCK, 3);
    }
    STEP(&run, 2, COND_WAKE, 4);
    step_at(&run, 2, PCT_OP_COND_WAIT, 0, 4, 7);
    if (told)
        STEP_ARG(&run, 0, COND_SIGNAL, PCT_ARG_NOBODY, 4);
    pending(&run, 1, PCT_OP_COND_WAIT, 4);
    pending(&run, 2, PCT_OP_COND_WAIT, 4);
}

static void test_wrong_waiter(void **unused)
{
    (void)unused;
    make_wrong(8, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WRONG_WAITER, true);
    make_wrong(7, false); /* both wait for the same thing */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WRONG_WAITER, false);
    make_wrong(8, true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WRONG_WAITER, false);
    /* At the same place, one may wait for what the other one does not: its turn. */
    make_same(false, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WRONG_OF_SAME, true);
    make_same(true, false); /* another thread came first, and took what it was */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WRONG_OF_SAME, false);
    make_same(false, true); /* it was told later */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WRONG_OF_SAME, false);
}

/* A section at place 7 of thread 2, while thread 1 waits; one like it, of thread 0, notifies. */
static void make_change(bool twin, bool notifies)
{
    begin(2);
    step_at(&run, 0, PCT_OP_MUTEX_LOCK, 0, 3, 7);
    STEP(&run, 0, MUTEX_UNLOCK, 3);
    if (twin)
        STEP_ARG(&run, 0, COND_SIGNAL, PCT_ARG_NOBODY, 4);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 1, COND_WAIT, 4);
    step_at(&run, 2, PCT_OP_MUTEX_LOCK, 0, 3, 7);
    STEP(&run, 2, MUTEX_UNLOCK, 3);
    if (notifies)
        STEP(&run, 2, COND_BROADCAST, 4);
    pending(&run, 0, PCT_OP_THREAD_JOIN, 1);
    pending(&run, 1, PCT_OP_COND_WAIT, 4);
}

static void test_no_notice(void **unused)
{
    (void)unused;
    make_change(true, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_NO_NOTICE, true);
    make_change(false, false); /* such sections never notify */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_NO_NOTICE, false);
    make_change(true, true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_NO_NOTICE, false);
    /* The twin was in another run. */
    struct pct_evidence evidence = { 0 };
    make_change(true, true);
    look(&run, PCT_VERDICT_EXIT, NULL);
    pct_evidence_add(&evidence, &run.history, false);
    done(&run);
    make_change(false, false);
    look(&run, PCT_VERDICT_DEADLOCK, &evidence);
    assert_non_null(found(&run, PCT_RULE_NO_NOTICE));
    done(&run);
    pct_evidence_free(&evidence);
}

/* Thread 1 takes what it was woken for, tells on condition variable 4 of more, and waits for that; thread 2, too. */
static void make_pool(bool all_wait)
{
    begin(2);
    for (unsigned i = 1; i <= 2; i++) {
        STEP(&run, i, MUTEX_LOCK, 3);
        STEP(&run, i, COND_WAIT, 4);
    }
    STEP(&run, 0, COND_BROADCAST, 4);
    for (unsigned i = 1; i <= 2; i++) {
        STEP(&run, i, COND_WAKE, 4);
        STEP(&run, i, MUTEX_UNLOCK, 3);
        STEP_ARG(&run, i, COND_SIGNAL, PCT_ARG_NOBODY, 4);
    }
    pending(&run, 1, PCT_OP_SEM_WAIT, 5);
    if (all_wait)
        pending(&run, 2, PCT_OP_SEM_WAIT, 5);
    else
        STEP(&run, 2, THREAD_FINISH, 2);
}

static void test_nobody_left(void **unused)
{
    (void)unused;
    make_pool(true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_NOBODY_LEFT, true);
    make_pool(false); /* one of them has ended, and was told to, perhaps */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_NOBODY_LEFT, false);
    make_pool(true);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_NOBODY_LEFT, false);
}

/* Thread 1 waits with mutex 3, thread 2 signals; thread 2 has the mutex once more before thread 1 goes on, or after. */
static void make_woken(bool between, bool again)
{
    begin(2);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 1, COND_WAIT, 4);
    STEP(&run, 2, MUTEX_LOCK, 3);
    STEP(&run, 2, COND_SIGNAL, 4);
    STEP(&run, 2, MUTEX_UNLOCK, 3);
    if (between) {
        STEP(&run, 2, MUTEX_LOCK, 3);
        STEP(&run, 2, MUTEX_UNLOCK, 3);
    }
    STEP(&run, 1, COND_WAKE, 4);
    if (again)
        STEP(&run, 1, COND_WAIT, 4);
    else
        STEP(&run, 1, MUTEX_UNLOCK, 3);
    STEP(&run, 2, MUTEX_LOCK, 3);
}

static void test_woken(void **unused)
{
    (void)unused;
    make_woken(true, false);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_NOT_LOOKED_AGAIN, true);
    make_woken(false, false);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_NOT_LOOKED_AGAIN, false);
    make_woken(true, true);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_NOT_LOOKED_AGAIN, false);
}

/* Thread 2 signals before thread 1 waits, until its time is up, or behind that. */
static void make_timed_out(bool before, bool again)
{
    begin(2);
    if (before) {
        STEP(&run, 2, MUTEX_LOCK, 3);
        STEP_ARG(&run, 2, COND_SIGNAL, PCT_ARG_NOBODY, 4);
        STEP(&run, 2, MUTEX_UNLOCK, 3);
    }
    step_at(&run, 1, PCT_OP_MUTEX_LOCK, 0, 3, 100);
    step_at(&run, 1, PCT_OP_COND_WAIT, 0, 4, 101);
    STEP_ARG(&run, 1, COND_WAKE, PCT_ARG_TIMEOUT, 4);
    if (again)
        step_at(&run, 1, PCT_OP_COND_WAIT, 0, 4, 101);
    else
        STEP(&run, 1, MUTEX_UNLOCK, 3);
    STEP(&run, 2, MUTEX_LOCK, 3);
    STEP(&run, 2, COND_SIGNAL, 4);
}

/* Whether the rule speaks, if others that passed have waited there, or one has looked and gone on. */
static bool says_timed_out(bool before, bool again, bool looks)
{
    struct pct_evidence evidence = { 0 };
    for (int i = 0; i < PCT_EVIDENCE_ENOUGH; i++) {
        make_timed_out(false, false);
        if (looks) {
            step_at(&run, 1, PCT_OP_MUTEX_LOCK, 0, 3, 100);
            STEP(&run, 1, MUTEX_UNLOCK, 3);
        }
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(&evidence, &run.history, false);
        done(&run);
    }
    make_timed_out(before, again);
    look(&run, PCT_VERDICT_ASSERTION, &evidence);
    bool said = found(&run, PCT_RULE_TIMED_OUT);
    done(&run);
    pct_evidence_free(&evidence);
    return said;
}

static void test_timed_out(void **unused)
{
    (void)unused;
    assert_true(says_timed_out(true, false, false));
    assert_false(says_timed_out(false, false, false));
    assert_false(says_timed_out(true, true, false)); /* it looks, and waits again */
    assert_false(says_timed_out(true, false, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cycle),          cmocka_unit_test(test_relocked),
        cmocka_unit_test(test_late),           cmocka_unit_test(test_semaphore_as_lock),
        cmocka_unit_test(test_no_post),        cmocka_unit_test(test_too_many_posts),
        cmocka_unit_test(test_ends_with_lock), cmocka_unit_test(test_ends_with_semaphore),
        cmocka_unit_test(test_lost_wakeup),    cmocka_unit_test(test_lost_wakeup_look),
        cmocka_unit_test(test_wrong_waiter),   cmocka_unit_test(test_no_notice),
        cmocka_unit_test(test_nobody_left),    cmocka_unit_test(test_woken),
        cmocka_unit_test(test_guard),          cmocka_unit_test(test_timed_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
