/* Rules of diagnosis (cli/diagnose/) of who goes away before its answer, posts what it has not taken, parks as all
 * others do, or ends without coming to a latch; of routines that run once; of what came less often than in runs that
 * pass; and what is said of a program of which none does. */

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "made_run.h"
#include <signal.h>

/* Thread 1 asks on 5, and waits on 4 with mutex 3, perhaps twice, until its time is up; thread 2 begins something in
 * one section, and tells of its end in another one, early: before that. */
static void make_answer(bool asks, bool twice, bool begins, bool early, bool tells)
{
    begin(2);
    STEP(&run, 1, MUTEX_LOCK, 3);
    if (asks)
        STEP(&run, 1, COND_SIGNAL, 5);
    STEP(&run, 1, COND_WAIT, 4);
    if (begins) {
        STEP(&run, 2, MUTEX_LOCK, 3);
        STEP(&run, 2, MUTEX_UNLOCK, 3);
    }
    if (twice) {
        STEP(&run, 1, COND_WAKE, 4);
        STEP(&run, 1, COND_WAIT, 4);
    }
    if (!early)
        STEP_ARG(&run, 1, COND_WAKE, PCT_ARG_TIMEOUT, 4);
    if (!early)
        STEP(&run, 1, MUTEX_UNLOCK, 3);
    STEP(&run, 2, MUTEX_LOCK, 3);
    if (tells)
        STEP_ARG(&run, 2, COND_BROADCAST, PCT_ARG_NOBODY, 4);
    STEP(&run, 2, MUTEX_UNLOCK, 3);
    if (early)
        STEP_ARG(&run, 1, COND_WAKE, PCT_ARG_TIMEOUT, 4);
}

/* Threads 1 and 2 wait on 4 with mutex 3; a signal wakes one of them, or none; thread 2, if it is woken, may look and
 * wait again; then the time of thread 1 is up. */
static void make_other(unsigned woken, bool again, bool more)
{
    begin(2);
    for (unsigned thread = 1; thread <= 2; thread++) {
        STEP(&run, thread, MUTEX_LOCK, 3);
        STEP(&run, thread, COND_WAIT, 4);
    }
    STEP_ARG(&run, 0, COND_SIGNAL, woken, 4);
    if (woken == 1)
        STEP(&run, 2, COND_WAKE, 4);
    if (again)
        STEP(&run, 2, COND_WAIT, 4);
    else
        STEP(&run, 2, MUTEX_UNLOCK, 3);
    if (more)
        STEP_ARG(&run, 0, COND_SIGNAL, 1, 4);
    STEP_ARG(&run, 1, COND_WAKE, PCT_ARG_TIMEOUT, 4);
    STEP(&run, 1, MUTEX_UNLOCK, 3);
}

static void test_other_is_woken(void **unused)
{
    (void)unused;
    make_other(1, true, false);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_WRONG_IN_TIME, true);
    make_other(1, false, false); /* it was for that one, which goes on */
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_WRONG_IN_TIME, false);
    make_other(1, true, true); /* another one has come, which woke it again */
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_WRONG_IN_TIME, false);
    make_other(PCT_ARG_NOBODY, true, false);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_WRONG_IN_TIME, false);
}

static void test_answered_late(void **unused)
{
    (void)unused;
    make_answer(true, false, true, false, true);
    look(&run, PCT_VERDICT_ASSERTION, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_ANSWERED_LATE);
    assert_non_null(d);
    assert_int_equal(d->count, 4);
    assert_int_equal(run.history.steps[d->step[3]].thread, 2);
    done(&run);
    make_answer(true, true, true, false, true); /* it had looked once more before */
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_ANSWERED_LATE, true);
    make_answer(true, false, false, false, true); /* nothing had been begun */
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_ANSWERED_LATE, false);
    make_answer(true, false, true, true, true); /* it was still there */
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_ANSWERED_LATE, false);
    make_answer(true, false, true, false, false); /* it has to do with something else */
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_ANSWERED_LATE, false);
    make_answer(false, false, true, false, true); /* it looks from time to time whether it is to end */
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_ANSWERED_LATE, false);
    assert_false(pct_rule_decides(PCT_RULE_ANSWERED_LATE));
}

/* Two threads take 3 and give it back; thread 0 posts it in between, and thread 2 takes that. */
static void make_post(bool takes, bool taken, bool another)
{
    begin(3);
    STEP(&run, 1, SEM_WAIT, 3);
    STEP(&run, 0, MUTEX_LOCK, 4);
    STEP(&run, 0, MUTEX_UNLOCK, 4);
    if (takes)
        STEP(&run, 0, SEM_WAIT, 3);
    STEP(&run, 0, SEM_POST, 3);
    if (another)
        STEP(&run, 3, SEM_POST, 3);
    if (taken)
        STEP(&run, 2, SEM_WAIT, 3);
    STEP(&run, 1, SEM_POST, 3);
    if (taken)
        STEP(&run, 2, SEM_POST, 3);
}

static void test_untaken(void **unused)
{
    (void)unused;
    make_post(false, true, false);
    look(&run, PCT_VERDICT_ASSERTION, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_POSTS_UNTAKEN);
    assert_non_null(d);
    assert_int_equal(run.history.steps[d->step[0]].op, PCT_OP_SEM_POST);
    assert_int_equal(run.history.steps[d->step[1]].thread, 2);
    assert_int_equal(run.history.steps[d->step[2]].op, PCT_OP_MUTEX_LOCK);
    done(&run);
    make_post(true, true, false); /* it gives back */
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_POSTS_UNTAKEN, false);
    make_post(false, true, true); /* others hand over as well: it counts something */
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_POSTS_UNTAKEN, false);
    make_post(false, false, false); /* nobody takes it */
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_POSTS_UNTAKEN, false);
    begin(2); /* it begins with nothing, and thread 0 puts there what others take in turn */
    STEP(&run, 0, SEM_POST, 3);
    for (unsigned i = 1; i <= 2; i++) {
        STEP(&run, i, SEM_WAIT, 3);
        STEP(&run, i, SEM_POST, 3);
    }
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_POSTS_UNTAKEN, false);
    assert_false(pct_rule_decides(PCT_RULE_POSTS_UNTAKEN));
}

/* The thread parks at this word. */
static void park(unsigned thread, unsigned futex)
{
    STEP(&run, thread, ATOMIC_UPDATE, 10 + futex);
    run.sites[run.count - 1].object = OBJECT_AT + 64 * futex;
    STEP(&run, thread, FUTEX_WAIT, futex);
    pending(&run, thread, PCT_OP_FUTEX_WAIT, futex);
}

static void test_all_parked(void **unused)
{
    (void)unused;
    for (unsigned other = 0; other < 4; other++) {
        begin(2);
        park(1, 4);
        if (other != 1)
            park(2, 5);
        else
            STEP(&run, 2, THREAD_FINISH, 0);
        if (other == 2)
            pending(&run, 0, PCT_OP_MUTEX_LOCK, 6);
        else
            pending(&run, 0, PCT_OP_THREAD_JOIN, 1);
        expect(&run, other == 3 ? PCT_VERDICT_EXIT : PCT_VERDICT_DEADLOCK, PCT_RULE_ALL_PARKED, !other);
    }
}

/* Whether something that one run does not decide is left behind this many runs, of which some pass, and how good it
 * is. */
static double left_of(unsigned made, unsigned passing)
{
    struct pct_evidence evidence = { .made = made };
    for (unsigned i = 0; i < passing; i++) {
        begin(2);
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(&evidence, &run.history, false);
        done(&run);
    }
    make_post(false, true, false);
    look(&run, PCT_VERDICT_ASSERTION, NULL);
    pct_evidence_add(&evidence, &run.history, true);
    pct_evidence_weigh(&evidence, &run.diagnoses);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_POSTS_UNTAKEN);
    double score = d ? d->score : 0;
    /* Good runs are full of such pairs: these need some to compare with. */
    if (passing < PCT_EVIDENCE_ENOUGH)
        assert_null(found(&run, PCT_RULE_ATOMICITY));
    done(&run);
    pct_evidence_free(&evidence);
    return score;
}

static void test_no_run_passes(void **unused)
{
    (void)unused;
    assert_true(left_of(0, 0) > 0 && left_of(0, 0) < PCT_DIAGNOSIS_LIKELY);
    assert_true(left_of(20, 0) == 0);
    assert_true(left_of(20, 1) > 0 && left_of(20, 1) < PCT_DIAGNOSIS_LIKELY);
    assert_true(left_of(20, PCT_EVIDENCE_ENOUGH) > PCT_DIAGNOSIS_LIKELY);
}

/* A time that is up is virtual: where it is so in every run, other schedules say nothing of it. */
static void test_no_run_passes_in_time(void **unused)
{
    (void)unused;
    for (unsigned other = 0; other < 2; other++) {
        struct pct_evidence evidence = { .made = 20 };
        begin(2);
        look(&run, PCT_VERDICT_ASSERTION, NULL);
        if (other) /* one that fails alike has not got it */
            pct_evidence_add(&evidence, &run.history, true);
        done(&run);
        make_answer(true, false, true, false, true);
        look(&run, PCT_VERDICT_ASSERTION, NULL);
        pct_evidence_add(&evidence, &run.history, true);
        pct_evidence_weigh(&evidence, &run.diagnoses);
        const struct pct_diagnosis *d = found(&run, PCT_RULE_ANSWERED_LATE);
        assert_int_equal(!d, other);
        assert_true(!d || d->score < PCT_DIAGNOSIS_LIKELY);
        done(&run);
        pct_evidence_free(&evidence);
    }
}

/* Thread 1 was in the middle of a write when this signal came to that thread: the state of the call that it was in. */
static enum pct_access access_amid(int signal, unsigned culprit)
{
    begin(1);
    STEP(&run, 1, MUTEX_LOCK, 3);
    pending(&run, 1, PCT_OP_WRITE, 0);
    run.pending[0].state = PCT_SNAP_RUNNING;
    run.pending[0].regs[5] = 7; /* rdi */
    look(&run, PCT_VERDICT_CRASH, NULL);
    pct_diagnoses_free(&run.diagnoses);
    pct_history_close(&run.history);
    run.trace.header.signal = signal;
    run.trace.header.culprit = culprit;
    assert_int_equal(pct_history_open(&run.history, &run.trace), 0);
    pct_diagnoses_find(&run.diagnoses, &run.history, NULL);
    const struct pct_history *h = &run.history;
    enum pct_access access = h->all > h->count ? pct_moment_access(&h->steps[h->count]) : PCT_ACCESS_NONE;
    if (access)
        assert_int_equal(h->steps[h->count].object, 7);
    done(&run);
    return access;
}

static void test_broken_pipe(void **unused)
{
    (void)unused;
    assert_int_equal(access_amid(SIGPIPE, 1), PCT_ACCESS_UPDATE);
    assert_int_equal(access_amid(SIGPIPE, 0), PCT_ACCESS_NONE);
    assert_int_equal(access_amid(SIGSEGV, 1), PCT_ACCESS_NONE);
}

/* Thread 1 runs the routine of 3, which may have returned, and waits for 4, whose routine thread 2 runs, or itself. */
static void make_once(bool returned, bool itself)
{
    begin(2);
    STEP_ARG(&run, 1, ONCE, PCT_ARG_RUN, 3);
    if (returned)
        STEP(&run, 1, ONCE_DONE, 3);
    STEP_ARG(&run, itself ? 1 : 2, ONCE, PCT_ARG_RUN, 4);
    pending(&run, 1, PCT_OP_ONCE, 4);
    if (!itself)
        pending(&run, 2, PCT_OP_ONCE, 3);
}

static void test_once(void **unused)
{
    (void)unused;
    make_once(false, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAIT_CYCLE, true);
    make_once(true, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAIT_CYCLE, false);
    make_once(false, true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_SELF_DEADLOCK, true);
}

/* What is used where another one has destroyed a condition variable has another number: it is the same one, unless
 * others have used what is there, or its user has run meanwhile. */
static void test_signal_behind_destroy(void **unused)
{
    (void)unused;
    for (int other = 0; other < 3; other++) {
        begin(1);
        STEP(&run, 0, COND_DESTROY, 4);
        if (other == 1)
            STEP(&run, 0, COND_WAIT, 6);
        if (other == 2)
            STEP(&run, 1, YIELD, 0);
        STEP(&run, 1, COND_SIGNAL, 6);
        for (size_t i = 1; i < run.count; i++)
            if (run.sites[i].object == OBJECT_AT + 64 * 6)
                run.sites[i].object = OBJECT_AT + 64 * 4;
        expect(&run, PCT_VERDICT_EXIT, PCT_RULE_USE_AFTER_DESTROY, !other);
    }
}

/* Who waits for a lock that it had, and that another one has destroyed since, does not wait for itself. */
static void test_gone(void **unused)
{
    (void)unused;
    for (unsigned gone = 0; gone < 2; gone++) {
        begin(1);
        STEP(&run, 1, MUTEX_LOCK, 3);
        if (gone)
            STEP(&run, 0, MUTEX_DESTROY, 3);
        pending(&run, 1, PCT_OP_MUTEX_LOCK, 3);
        look(&run, PCT_VERDICT_DEADLOCK, NULL);
        assert_int_equal(!found(&run, PCT_RULE_SELF_DEADLOCK), gone);
        assert_int_equal(!!found(&run, PCT_RULE_DESTROYED_WHILE_HELD), gone);
        done(&run);
    }
}

/* Thread 0 waits for the word of futex 4; thread 1, of the kind of thread 2, makes this access to it and ends; thread 2
 * ends. */
static void make_latch(unsigned op, bool alike, bool counts, bool ends, unsigned verdict)
{
    for (unsigned i = 1; i <= 2; i++)
        step_at(&run, 0, PCT_OP_THREAD_CREATE, 0, i, alike ? 500 : 500 + i);
    for (unsigned i = 1; i <= 2; i++)
        step_at(&run, i, PCT_OP_THREAD_START, 0, i, 510);
    STEP(&run, 0, FUTEX_WAIT, 4);
    for (unsigned i = 1; i <= 2; i++) {
        if (i == 1 || counts) {
            step_at(&run, i, op, 0, 9, 520 + i);
            run.sites[run.count - 1].object = OBJECT_AT + 64 * 4;
        }
        if (i == 1 || ends)
            STEP(&run, i, THREAD_FINISH, 0);
    }
    pending(&run, 0, PCT_OP_FUTEX_WAIT, 4);
    expect(&run, verdict, PCT_RULE_NOT_COUNTED,
           op == PCT_OP_ATOMIC_UPDATE && alike && !counts && ends && verdict == PCT_VERDICT_DEADLOCK);
}

static void test_not_counted(void **unused)
{
    (void)unused;
    make_latch(PCT_OP_ATOMIC_UPDATE, true, false, true, PCT_VERDICT_DEADLOCK);
    make_latch(PCT_OP_ATOMIC_UPDATE, false, false, true, PCT_VERDICT_DEADLOCK); /* it is of another kind */
    make_latch(PCT_OP_ATOMIC_UPDATE, true, true, true, PCT_VERDICT_DEADLOCK);
    make_latch(PCT_OP_ATOMIC_UPDATE, true, false, false, PCT_VERDICT_DEADLOCK); /* it may come yet */
    make_latch(PCT_OP_ATOMIC_UPDATE, true, false, true, PCT_VERDICT_EXIT);
    make_latch(PCT_OP_ATOMIC_LOAD, true, false, true, PCT_VERDICT_DEADLOCK); /* nobody counts */
}

/* Who wakes others by the word has told them something: those of its kind need not. */
static void test_notice_is_no_count(void **unused)
{
    (void)unused;
    for (unsigned i = 1; i <= 2; i++)
        step_at(&run, 0, PCT_OP_THREAD_CREATE, 0, i, 500);
    for (unsigned i = 1; i <= 2; i++)
        step_at(&run, i, PCT_OP_THREAD_START, 0, i, 510);
    STEP(&run, 0, FUTEX_WAIT, 4);
    step_at(&run, 1, PCT_OP_ATOMIC_UPDATE, 0, 9, 521);
    run.sites[run.count - 1].object = OBJECT_AT + 64 * 4;
    STEP_ARG(&run, 1, FUTEX_WAKE, 1, 4);
    for (unsigned i = 1; i <= 2; i++)
        STEP(&run, i, THREAD_FINISH, 0);
    pending(&run, 0, PCT_OP_FUTEX_WAIT, 4);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_NOT_COUNTED, false);
}

/* Thread 1 goes this number of times through a section, perhaps ends, and then thread 0 through another one; there may
 * be a thread 2, which was made in the same place, or elsewhere, and has not begun. */
static void make_times(unsigned times, bool ends, unsigned another)
{
    begin(1);
    if (another) {
        step_at(&run, 0, PCT_OP_THREAD_CREATE, 0, 2, another);
        pending(&run, 2, PCT_OP_THREAD_START, 0);
    }
    for (unsigned i = 0; i < times; i++)
        step_at(&run, 1, PCT_OP_MUTEX_LOCK, 0, 3, 21);
    if (ends)
        STEP(&run, 1, THREAD_FINISH, 0);
    step_at(&run, 0, PCT_OP_MUTEX_LOCK, 0, 3, 11);
}

static bool comes_too_early(unsigned times, bool ends, bool once_less, unsigned another)
{
    struct pct_evidence evidence = { 0 };
    for (unsigned i = 0; i < 4; i++) {
        make_times(once_less && !i ? 2 : 3, false, another);
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(&evidence, &run.history, false);
        done(&run);
    }
    make_times(times, ends, another);
    look(&run, PCT_VERDICT_ASSERTION, &evidence);
    bool early = found(&run, PCT_RULE_ORDER_MISSING);
    done(&run);
    pct_evidence_free(&evidence);
    return early;
}

/* What came three times before something, in every run that passed, and less often here. */
static void test_too_few(void **unused)
{
    (void)unused;
    assert_true(comes_too_early(2, false, false, 0));
    assert_true(comes_too_early(1, false, false, 0));
    assert_false(comes_too_early(3, false, false, 0));
    assert_false(comes_too_early(2, true, false, 0));   /* it does not come any more: so often a loop went round */
    assert_false(comes_too_early(2, false, true, 0));   /* so it was in a run that passed */
    assert_true(comes_too_early(2, true, false, 1000)); /* another one, of its kind, may come yet */
    assert_false(comes_too_early(2, true, false, 9));   /* it is of another kind */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answered_late),
        cmocka_unit_test(test_untaken),
        cmocka_unit_test(test_all_parked),
        cmocka_unit_test(test_no_run_passes),
        cmocka_unit_test(test_no_run_passes_in_time),
        cmocka_unit_test(test_broken_pipe),
        cmocka_unit_test(test_once),
        cmocka_unit_test(test_gone),
        cmocka_unit_test(test_not_counted),
        cmocka_unit_test(test_notice_is_no_count),
        cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_signal_behind_destroy),
        cmocka_unit_test(test_other_is_woken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
