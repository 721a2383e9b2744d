/* The rules for whom a notice reaches, where a thread waits with a lock that is not the mutex of its wait, and where it
 * is one of several; and who finds a lock taken, and leaves it to its holder: hand-made runs. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "made_run.h"

/* Thread 1 looks with reader-writer lock 6 and waits as condition_variable_any does, with mutex 3 of its own; thread 2
 * notifies meanwhile, or before that, having changed something with the lock. */
static void make_any(bool meanwhile)
{
    begin(2);
    if (!meanwhile) {
        STEP(&run, 2, RWLOCK_WRLOCK, 6);
        STEP(&run, 2, RWLOCK_UNLOCK, 6);
    }
    STEP(&run, 1, RWLOCK_RDLOCK, 6);
    STEP(&run, 2, MUTEX_LOCK, 3);
    STEP(&run, 2, COND_BROADCAST, 5);
    STEP(&run, 2, MUTEX_UNLOCK, 3);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 1, RWLOCK_UNLOCK, 6);
    STEP(&run, 1, COND_WAIT, 5);
    pending(&run, 1, PCT_OP_COND_WAIT, 5);
}

static void test_other_lock(void **unused)
{
    (void)unused;
    make_any(true);
    look(&run, PCT_VERDICT_DEADLOCK, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_LOST_WAKEUP);
    assert_non_null(d);
    assert_int_equal(run.history.steps[d->step[0]].op, PCT_OP_RWLOCK_RDLOCK);
    done(&run);
    make_any(false); /* it has seen the change */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_LOST_WAKEUP, false);
}

/* The base of what is said of thread 3, which goes through a section without a signal while threads 1 and 2 wait, and
 * then signals where it did not; who is woken waits again, or does not. */
static double base_of_silence(bool told, bool again)
{
    begin(3);
    for (unsigned waiter = 1; waiter < 3; waiter++) {
        step_at(&run, waiter, PCT_OP_MUTEX_LOCK, 0, 3, 2000);
        step_at(&run, waiter, PCT_OP_COND_WAIT, 0, 4, 2001);
    }
    for (unsigned section = 0; section < 2; section++) {
        bool signals = told == section;
        step_at(&run, 3, PCT_OP_MUTEX_LOCK, 0, 3, 2002);
        if (signals)
            step_at(&run, 3, PCT_OP_COND_SIGNAL, 1, 4, 2003);
        step_at(&run, 3, PCT_OP_MUTEX_UNLOCK, 0, 3, 2004);
        if (signals)
            step_at(&run, 2, PCT_OP_COND_WAKE, 0, 4, 2005);
        if (signals && again) {
            step_at(&run, 2, PCT_OP_MUTEX_UNLOCK, 0, 3, 2006);
            step_at(&run, 2, PCT_OP_MUTEX_LOCK, 0, 3, 2000);
            step_at(&run, 2, PCT_OP_COND_WAIT, 0, 4, 2001);
        } else if (signals)
            step_at(&run, 2, PCT_OP_MUTEX_UNLOCK, 0, 3, 2006);
    }
    pending(&run, 1, PCT_OP_COND_WAIT, 4);
    if (again)
        pending(&run, 2, PCT_OP_COND_WAIT, 4);
    look(&run, PCT_VERDICT_DEADLOCK, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_NO_NOTICE);
    assert_non_null(d);
    double base = d->base;
    done(&run);
    return base;
}

static void test_one_of_several(void **unused)
{
    (void)unused;
    assert_true(base_of_silence(false, false) > 7);
    assert_true(base_of_silence(true, false) < 4.5); /* that the signal woke one of several comes first */
    assert_true(base_of_silence(true, true) > 7);    /* it takes what there is, whoever told of it */
}

/* Thread 1 looks at 3 with lock 4, and gives that back; thread 2 comes to 3, before that look or behind it, and finds
 * the lock taken, or has to do with another one. */
static void make_taken(bool behind, bool another)
{
    begin(2);
    STEP(&run, 1, MUTEX_LOCK, 4);
    for (unsigned look = 0; look < 2; look++) {
        unsigned thread = !look == behind ? 1 : 2;
        STEP(&run, thread, MUTEX_LOCK, 3);
        STEP(&run, thread, MUTEX_UNLOCK, 3);
    }
    STEP_ARG(&run, 2, MUTEX_TRYLOCK, PCT_ARG_BUSY, another ? 5 : 4);
    STEP(&run, 1, MUTEX_UNLOCK, 4);
}

static void test_finds_taken(void **unused)
{
    (void)unused;
    make_taken(true, false);
    look(&run, PCT_VERDICT_EXIT, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_ATOMICITY);
    assert_non_null(d);
    assert_int_equal(d->count, 4);
    assert_int_equal(run.history.steps[d->step[2]].op, PCT_OP_MUTEX_UNLOCK);
    assert_int_equal(run.history.steps[d->step[3]].op, PCT_OP_MUTEX_TRYLOCK);
    done(&run);
    make_taken(false, false);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_ATOMICITY, false);
    make_taken(true, true);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_ATOMICITY, false);
}

/* Threads 1 and 2 signal 4 in sections of mutex 3; before thread 2 does, or behind that, thread 0 looks, and waits or
 * does not. Thread 3 may come through such a section, too; or thread 0 looks before thread 1, waits, and is woken. */
static void make_passed(bool late, bool waits, bool other, bool woken)
{
    begin(3);
    if (woken) {
        step_at(&run, 0, PCT_OP_MUTEX_LOCK, 0, 3, 11);
        step_at(&run, 0, PCT_OP_COND_WAIT, 0, 4, 12);
    }
    for (unsigned thread = 1; thread < 3; thread++) {
        if (thread == 2 && woken) {
            STEP(&run, 0, COND_WAKE, 4);
            step_at(&run, 0, PCT_OP_COND_WAIT, 0, 4, 12);
        }
        if (thread == 2 && !late) {
            step_at(&run, 0, PCT_OP_MUTEX_LOCK, 0, 3, 11);
            STEP(&run, 0, MUTEX_UNLOCK, 3);
        }
        step_at(&run, thread, PCT_OP_MUTEX_LOCK, 0, 3, 21);
        step_at(&run, thread, PCT_OP_COND_SIGNAL, PCT_ARG_NOBODY, 4, 22);
        step_at(&run, thread, PCT_OP_MUTEX_UNLOCK, 0, 3, 23);
    }
    if (other)
        STEP(&run, 3, MUTEX_LOCK, 3);
    if (other)
        STEP(&run, 3, MUTEX_UNLOCK, 3);
    if (!late)
        return;
    if (woken)
        STEP(&run, 0, COND_WAKE, 4);
    else
        step_at(&run, 0, PCT_OP_MUTEX_LOCK, 0, 3, 11);
    step_at(&run, 0, waits ? PCT_OP_COND_WAIT : PCT_OP_MUTEX_UNLOCK, 0, waits ? 4 : 3, 12);
    if (waits)
        pending(&run, 0, PCT_OP_COND_WAIT, 4);
}

static bool has_passed(unsigned runs, bool other, bool woken)
{
    struct pct_evidence evidence = { 0 };
    for (unsigned i = 0; i < runs; i++) {
        make_passed(i % 2, false, false, false);
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(&evidence, &run.history, false);
        done(&run);
    }
    make_passed(true, true, other, woken);
    look(&run, PCT_VERDICT_DEADLOCK, &evidence);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_HELD_BETWEEN);
    bool has = d != NULL;
    if (d) {
        assert_int_equal(run.history.steps[d->step[1]].thread, 2);
        assert_int_equal(run.history.steps[d->step[3]].op, PCT_OP_COND_WAIT);
    }
    done(&run);
    pct_evidence_free(&evidence);
    return has;
}

static void test_held_between(void **unused)
{
    (void)unused;
    assert_true(has_passed(PCT_EVIDENCE_ENOUGH, false, false));
    assert_false(has_passed(PCT_EVIDENCE_ENOUGH - 1, false, false));
    assert_true(has_passed(PCT_EVIDENCE_ENOUGH, false, true));
    assert_false(has_passed(PCT_EVIDENCE_ENOUGH, true, false)); /* it may have taken it away */
    make_passed(true, true, false, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_HELD_BETWEEN, false);
}

/* Thread 0 lets two go by semaphore 4, and goes itself, or not: thread 1 does, and again, or thread 3. Thread 2 stands
 * there, or comes later. */
static void make_turns(bool twice, bool there, bool itself)
{
    begin(3);
    if (there)
        pending(&run, 2, PCT_OP_SEM_WAIT, 4);
    STEP(&run, 0, SEM_POST, 4);
    STEP(&run, 0, SEM_POST, 4);
    if (itself)
        STEP(&run, 0, SEM_WAIT, 4);
    step_at(&run, 1, PCT_OP_SEM_WAIT, 0, 4, 31);
    if (twice) {
        step_at(&run, 1, PCT_OP_SEM_WAIT, 0, 4, 31);
    } else {
        step_at(&run, 3, PCT_OP_SEM_WAIT, 0, 4, 31);
    }
    if (!there)
        STEP(&run, 2, MUTEX_LOCK, 3);
    if (!there)
        pending(&run, 2, PCT_OP_SEM_WAIT, 4);
}

static void test_taken_twice(void **unused)
{
    (void)unused;
    make_turns(true, true, true);
    look(&run, PCT_VERDICT_ASSERTION, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_TAKEN_TWICE);
    assert_non_null(d);
    assert_int_equal(run.history.steps[d->step[0]].op, PCT_OP_SEM_POST);
    assert_int_equal(run.history.steps[d->step[2]].thread, 1);
    assert_int_equal(run.history.steps[d->step[3]].thread, 2);
    done(&run);
    make_turns(false, true, true);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_TAKEN_TWICE, false);
    make_turns(true, false, true);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_TAKEN_TWICE, false);
    make_turns(true, true, false); /* work for others */
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_TAKEN_TWICE, false);
    /* In two rounds each goes once. */
    begin(2);
    for (unsigned round = 0; round < 2; round++) {
        STEP(&run, 0, SEM_POST, 4);
        STEP(&run, 0, SEM_POST, 4);
        step_at(&run, 1, PCT_OP_SEM_WAIT, 0, 4, 31);
        STEP(&run, 0, SEM_WAIT, 4);
    }
    pending(&run, 2, PCT_OP_SEM_WAIT, 4);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_TAKEN_TWICE, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_lock),   cmocka_unit_test(test_one_of_several), cmocka_unit_test(test_finds_taken),
        cmocka_unit_test(test_held_between), cmocka_unit_test(test_taken_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
