/* The rules of diagnosis of those who would wake a thread, and have ended, come too early, or second (cli/diagnose/):
 * for each a hand-made run that shows the pattern, and its neighbour, which must not be accused. */

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "made_run.h"

/* Thread 2 waits on 4, which thread 1, joined by thread 0, signals and has ended, or has not. */
static void make_ended(bool signals, bool ends)
{
    begin(2);
    STEP(&run, 1, MUTEX_LOCK, 3);
    if (signals)
        STEP_ARG(&run, 1, COND_SIGNAL, PCT_ARG_NOBODY, 4);
    STEP(&run, 1, MUTEX_UNLOCK, 3);
    STEP(&run, 0, COND_SIGNAL, 5);
    if (ends)
        STEP(&run, 1, THREAD_FINISH, 1);
    else
        pending(&run, 1, PCT_OP_SEM_WAIT, 6);
    STEP(&run, 2, MUTEX_LOCK, 3);
    STEP(&run, 2, COND_WAIT, 4);
    if (ends)
        STEP(&run, 0, THREAD_JOIN, 1);
    pending(&run, 0, PCT_OP_THREAD_JOIN, 2);
    pending(&run, 2, PCT_OP_COND_WAIT, 4);
}

static void test_has_ended(void **unused)
{
    (void)unused;
    make_ended(true, true);
    look(&run, PCT_VERDICT_DEADLOCK, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_HAS_ENDED);
    assert_non_null(d);
    assert_int_equal(d->count, 4);
    assert_int_equal(run.history.steps[d->step[2]].op, PCT_OP_COND_SIGNAL);
    assert_int_equal(run.history.steps[d->step[3]].op, PCT_OP_THREAD_JOIN);
    done(&run);
    make_ended(true, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_HAS_ENDED, false);
    make_ended(false, true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_HAS_ENDED, false);
    /* Such a thread does signal it in another run. */
    struct pct_evidence evidence = { 0 };
    make_ended(true, true);
    look(&run, PCT_VERDICT_EXIT, NULL);
    pct_evidence_add(&evidence, &run.history, false);
    done(&run);
    make_ended(false, true);
    look(&run, PCT_VERDICT_DEADLOCK, &evidence);
    assert_non_null(found(&run, PCT_RULE_HAS_ENDED));
    done(&run);
    pct_evidence_free(&evidence);
}

/* Thread 1 comes to barrier 4 and has ended, or waits for something; thread 2 waits at the barrier. */
static void make_barrier(bool comes, bool ends)
{
    begin(2);
    if (comes) {
        STEP(&run, 1, BARRIER_ARRIVE, 4);
        STEP(&run, 1, BARRIER_LEAVE, 4);
    }
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 1, MUTEX_UNLOCK, 3);
    if (ends)
        STEP(&run, 1, THREAD_FINISH, 1);
    else
        pending(&run, 1, PCT_OP_SEM_WAIT, 6);
    STEP(&run, 2, BARRIER_ARRIVE, 4);
    pending(&run, 2, PCT_OP_BARRIER_LEAVE, 4);
}

static void test_left_barrier(void **unused)
{
    (void)unused;
    make_barrier(true, true);
    look(&run, PCT_VERDICT_DEADLOCK, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_LEFT_BARRIER);
    assert_non_null(d);
    assert_int_equal(run.history.steps[d->step[0]].op, PCT_OP_BARRIER_ARRIVE);
    assert_int_equal(run.history.steps[d->step[2]].op, PCT_OP_MUTEX_LOCK);
    done(&run);
    make_barrier(true, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_LEFT_BARRIER, false);
    make_barrier(false, true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_LEFT_BARRIER, false);
    make_barrier(true, true);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_LEFT_BARRIER, false);
}

/* Threads 1 and 2 are of one kind; thread 0 waits, with mutex 3. Thread 1 has come to it, or has ended without, as far
 * as these say. */
static void make_coming(bool one, bool two, bool waits)
{
    for (unsigned i = 1; i <= 2; i++)
        step_at(&run, 0, PCT_OP_THREAD_CREATE, 0, i, 20);
    for (unsigned i = 1; i <= 2; i++)
        step_at(&run, i, PCT_OP_THREAD_START, 0, i, 21);
    STEP(&run, 0, MUTEX_LOCK, 3);
    if (waits)
        STEP(&run, 0, COND_WAIT, 4);
    else
        STEP(&run, 0, MUTEX_UNLOCK, 3);
    for (unsigned i = 1; i <= 2; i++) {
        STEP(&run, i, MUTEX_LOCK, 6);
        STEP(&run, i, MUTEX_UNLOCK, 6);
        if (i == 1 ? one : two)
            STEP(&run, i, MUTEX_LOCK, 3);
        if (i == 1 ? one : two)
            STEP(&run, i, MUTEX_UNLOCK, 3);
        STEP(&run, i, THREAD_FINISH, i);
    }
    if (waits)
        pending(&run, 0, PCT_OP_COND_WAIT, 4);
}

static void test_not_come(void **unused)
{
    (void)unused;
    struct pct_evidence evidence = { 0 };
    make_coming(false, true, true);
    look(&run, PCT_VERDICT_DEADLOCK, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_NOT_COME);
    assert_non_null(d);
    assert_int_equal(run.history.steps[d->step[1]].thread, 1);
    assert_int_equal(run.history.steps[d->step[2]].object, 6);
    double alone = d->base;
    done(&run);
    make_coming(true, true, true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_NOT_COME, false);
    make_coming(false, false, true); /* none of its kind does */
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_NOT_COME, false);
    make_coming(false, true, true);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_NOT_COME, false);
    for (unsigned i = 0; i <= PCT_EVIDENCE_ENOUGH; i++) {
        /* Runs that pass know better: all come; and then one that does not. */
        make_coming(i < PCT_EVIDENCE_ENOUGH, true, false);
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(&evidence, &run.history, false);
        done(&run);
        make_coming(false, true, true);
        look(&run, PCT_VERDICT_DEADLOCK, &evidence);
        d = found(&run, PCT_RULE_NOT_COME);
        assert_true(i == PCT_EVIDENCE_ENOUGH ? !d : d && (d->base > alone) == (i + 1 == PCT_EVIDENCE_ENOUGH));
        done(&run);
    }
    pct_evidence_free(&evidence);
}

/* Thread 1 ends, and signals 4 before; thread 0 waits for it, or does not have to. */
static void make_silent(bool signals, bool waits)
{
    step_at(&run, 0, PCT_OP_THREAD_CREATE, 0, 1, 20);
    step_at(&run, 1, PCT_OP_THREAD_START, 0, 1, 21);
    STEP(&run, 1, MUTEX_LOCK, 6);
    STEP(&run, 1, MUTEX_UNLOCK, 6);
    if (signals)
        STEP_ARG(&run, 1, COND_SIGNAL, PCT_ARG_NOBODY, 4);
    else if (!waits)
        STEP_ARG(&run, 0, COND_SIGNAL, PCT_ARG_NOBODY, 4);
    STEP(&run, 1, THREAD_FINISH, 1);
    STEP(&run, 0, MUTEX_LOCK, 3);
    if (!waits) {
        STEP(&run, 0, MUTEX_UNLOCK, 3);
        return;
    }
    STEP(&run, 0, COND_WAIT, 4);
    pending(&run, 0, PCT_OP_COND_WAIT, 4);
}

static void test_ended_silently(void **unused)
{
    (void)unused;
    struct pct_evidence evidence = { 0 };
    for (unsigned i = 0; i <= PCT_EVIDENCE_ENOUGH; i++) {
        /* All of its kind signal before they end; and then one that does not. */
        make_silent(i < PCT_EVIDENCE_ENOUGH, false);
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(&evidence, &run.history, false);
        done(&run);
        make_silent(false, true);
        look(&run, PCT_VERDICT_DEADLOCK, &evidence);
        const struct pct_diagnosis *d = found(&run, PCT_RULE_HAS_ENDED);
        assert_non_null(d);
        assert_int_equal(run.history.steps[d->step[1]].op, PCT_OP_THREAD_FINISH);
        assert_int_equal(run.history.steps[d->step[2]].object, 6);
        assert_int_equal(d->base > 6, i + 1 == PCT_EVIDENCE_ENOUGH);
        done(&run);
    }
    pct_evidence_free(&evidence);
}

/* Thread 1 signals 4 before thread 2 waits for it, or behind that; thread 2's section at place 10 may end without. */
static void make_signalled(bool before, bool waits)
{
    begin(2);
    if (before)
        STEP_ARG(&run, 1, COND_SIGNAL, PCT_ARG_NOBODY, 4);
    step_at(&run, 2, PCT_OP_MUTEX_LOCK, 0, 3, 10);
    if (waits)
        STEP(&run, 2, COND_WAIT, 4);
    else
        STEP(&run, 2, MUTEX_UNLOCK, 3);
    if (!before) {
        STEP_ARG(&run, 1, COND_SIGNAL, 0, 4);
        STEP(&run, 2, COND_WAKE, 4);
    }
    STEP(&run, 1, THREAD_FINISH, 1);
    if (before)
        pending(&run, 2, PCT_OP_COND_WAIT, 4);
}

static void add_passing(struct pct_evidence *evidence, unsigned runs, bool waits)
{
    for (unsigned i = 0; i < runs; i++) {
        make_signalled(false, waits);
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(evidence, &run.history, false);
        done(&run);
    }
}

static void test_signalled_before(void **unused)
{
    (void)unused;
    struct pct_evidence evidence = { 0 };
    add_passing(&evidence, PCT_EVIDENCE_ENOUGH, true);
    make_signalled(true, true);
    look(&run, PCT_VERDICT_DEADLOCK, &evidence);
    assert_non_null(found(&run, PCT_RULE_SIGNALLED_BEFORE));
    assert_null(found(&run, PCT_RULE_HAS_ENDED));
    done(&run);
    /* At other times it looks, and does not wait. */
    add_passing(&evidence, 1, false);
    make_signalled(true, true);
    look(&run, PCT_VERDICT_DEADLOCK, &evidence);
    assert_null(found(&run, PCT_RULE_SIGNALLED_BEFORE));
    assert_non_null(found(&run, PCT_RULE_HAS_ENDED));
    done(&run);
    pct_evidence_free(&evidence);
    /* Nobody knows what other runs do. */
    make_signalled(true, true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_SIGNALLED_BEFORE, false);
}

/* Threads 1 and 2 signal 4, and both wait on it at the end; or thread 2 for something else. sent: thread 2 once more
 * while thread 1 waits, which wakes another one. */
static void make_waiting(bool both, bool sent)
{
    begin(2);
    for (unsigned thread = 1; thread <= 2; thread++) {
        STEP(&run, thread, MUTEX_LOCK, 3);
        STEP_ARG(&run, thread, COND_SIGNAL, PCT_ARG_NOBODY, 4);
        STEP(&run, thread, MUTEX_UNLOCK, 3);
    }
    for (unsigned thread = 1; thread <= (both ? 2 : 1); thread++) {
        STEP(&run, thread, MUTEX_LOCK, 3);
        STEP(&run, thread, COND_WAIT, 4);
        pending(&run, thread, PCT_OP_COND_WAIT, 4);
        if (sent && thread == 1)
            STEP_ARG(&run, 2, COND_SIGNAL, 1, 4);
    }
    if (!both)
        pending(&run, 2, PCT_OP_SEM_WAIT, 6);
}

static void test_all_wait(void **unused)
{
    (void)unused;
    make_waiting(true, false);
    look(&run, PCT_VERDICT_DEADLOCK, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_ALL_WAIT);
    assert_non_null(d);
    assert_int_equal(d->count, 4);
    assert_int_equal(run.history.steps[d->step[0]].op, PCT_OP_COND_WAIT);
    done(&run);
    make_waiting(false, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_ALL_WAIT, false);
    /* That this one was sent, and woke one alone, says more. */
    make_waiting(true, true);
    look(&run, PCT_VERDICT_DEADLOCK, NULL);
    d = found(&run, PCT_RULE_ALL_WAIT);
    assert_non_null(d);
    assert_true(d->base < 4);
    done(&run);
}

/* Thread 2 is woken by thread 1, and thread 0 comes first; at other times it waits again at once, or does not. */
static void make_second(bool again)
{
    begin(2);
    STEP(&run, 2, MUTEX_LOCK, 3);
    step_at(&run, 2, PCT_OP_COND_WAIT, 0, 4, 10);
    if (again) {
        STEP(&run, 1, COND_BROADCAST, 4);
        step_at(&run, 2, PCT_OP_COND_WAKE, 0, 4, 10);
        step_at(&run, 2, PCT_OP_COND_WAIT, 0, 4, 10);
    }
    STEP(&run, 1, COND_BROADCAST, 4);
    STEP(&run, 0, MUTEX_LOCK, 3);
    STEP(&run, 0, MUTEX_UNLOCK, 3);
    step_at(&run, 2, PCT_OP_COND_WAKE, 0, 4, 10);
    STEP(&run, 2, MUTEX_UNLOCK, 3);
}

static void test_woken_second(void **unused)
{
    (void)unused;
    struct pct_evidence evidence = { 0 };
    make_second(false);
    look(&run, PCT_VERDICT_EXIT, &evidence);
    assert_non_null(found(&run, PCT_RULE_NOT_LOOKED_AGAIN));
    assert_null(found(&run, PCT_RULE_WOKEN_SECOND));
    done(&run);
    make_second(true);
    look(&run, PCT_VERDICT_EXIT, NULL);
    pct_evidence_add(&evidence, &run.history, false);
    done(&run);
    make_second(false);
    look(&run, PCT_VERDICT_EXIT, &evidence);
    assert_null(found(&run, PCT_RULE_NOT_LOOKED_AGAIN));
    assert_non_null(found(&run, PCT_RULE_WOKEN_SECOND));
    done(&run);
    pct_evidence_free(&evidence);
}

/* Threads 0 and 2 are woken by one broadcast, or thread 0 by a signal of its own before: it comes first. */
static void make_both_woken(bool broadcast)
{
    begin(2);
    STEP(&run, 0, MUTEX_LOCK, 3);
    step_at(&run, 0, PCT_OP_COND_WAIT, 0, 4, 20);
    STEP(&run, 2, MUTEX_LOCK, 3);
    step_at(&run, 2, PCT_OP_COND_WAIT, 0, 4, 10);
    step_at(&run, 1, broadcast ? PCT_OP_COND_BROADCAST : PCT_OP_COND_SIGNAL, 0, 4, 30);
    if (!broadcast)
        STEP(&run, 1, COND_SIGNAL, 4);
    step_at(&run, 0, PCT_OP_COND_WAKE, 0, 4, 20);
    STEP(&run, 0, MUTEX_UNLOCK, 3);
    step_at(&run, 2, PCT_OP_COND_WAKE, 0, 4, 10);
    STEP(&run, 2, MUTEX_UNLOCK, 3);
}

static void test_both_woken(void **unused)
{
    (void)unused;
    struct pct_evidence evidence = { 0 };
    make_both_woken(true);
    look(&run, PCT_VERDICT_EXIT, NULL);
    /* The second one may not have looked again. */
    assert_non_null(found(&run, PCT_RULE_NOT_LOOKED_AGAIN));
    done(&run);
    make_second(true);
    look(&run, PCT_VERDICT_EXIT, NULL);
    pct_evidence_add(&evidence, &run.history, false);
    done(&run);
    make_both_woken(true);
    look(&run, PCT_VERDICT_EXIT, &evidence);
    assert_null(found(&run, PCT_RULE_WOKEN_SECOND));
    done(&run);
    make_both_woken(false);
    look(&run, PCT_VERDICT_EXIT, &evidence);
    assert_non_null(found(&run, PCT_RULE_WOKEN_SECOND));
    done(&run);
    pct_evidence_free(&evidence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_has_ended),      cmocka_unit_test(test_left_barrier),     cmocka_unit_test(test_not_come),
        cmocka_unit_test(test_ended_silently), cmocka_unit_test(test_signalled_before), cmocka_unit_test(test_all_wait),
        cmocka_unit_test(test_woken_second),   cmocka_unit_test(test_both_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
