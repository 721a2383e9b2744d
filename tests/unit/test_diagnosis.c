/* The rules of `pct explain` and of the first screen (cli/diagnose/): for each a hand-made run that shows the pattern,
 * and its neighbour, which must not be accused. */

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "made_run.h"

/* --- Objects ------------------------------------------------------------------------------------------------------ */

static void test_use_after_destroy(void **unused)
{
    (void)unused;
    begin(1);
    STEP(&run, 0, MUTEX_DESTROY, 4);
    STEP_ARG(&run, 1, MUTEX_LOCK, PCT_ARG_ERROR, 4);
    look(&run, PCT_VERDICT_EXIT, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_USE_AFTER_DESTROY);
    assert_non_null(d);
    assert_int_equal(d->step[0], 2);
    assert_int_equal(d->step[1], 3);
    char text[300];
    assert_string_equal(pct_diagnosis_format(text, sizeof text, &run.history, d),
                        "use after destroy: thread 0 destroys mutex 4 (step 3) while thread 1 is about to use it: "
                        "lock mutex 4 (error)");
    done(&run);
    /* It waits for it in the end. */
    begin(1);
    STEP(&run, 0, SEM_DESTROY, 4);
    pending(&run, 1, PCT_OP_SEM_WAIT, 4);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_USE_AFTER_DESTROY, true);
    /* It has run meanwhile, and waits for what is left there. */
    for (int other = 0; other < 3; other++) {
        begin(1);
        STEP(&run, 0, MUTEX_LOCK, 5);
        STEP(&run, 0, MUTEX_UNLOCK, 5);
        STEP(&run, 0, MUTEX_DESTROY, 4);
        STEP(&run, 1, YIELD, 0);
        if (other == 2) /* somebody else may have it */
            step_at(&run, 0, PCT_OP_MUTEX_LOCK, 0, 6, 77);
        run.left = (struct pct_snap_object){
            .number = 6, .class_ = PCT_CLASS_MUTEX, .holder = PCT_NO_THREAD, .address = OBJECT_AT + 64 * 4
        };
        if (other == 1) /* elsewhere */
            run.left.address++;
        pending(&run, 1, PCT_OP_MUTEX_LOCK, 6);
        expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAITS_FOR_DESTROYED, !other);
    }
    /* Another object may be there by then: its thread has run in between. */
    begin(1);
    STEP(&run, 0, COND_DESTROY, 4);
    STEP(&run, 1, YIELD, 0);
    STEP(&run, 1, COND_SIGNAL, 4);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_USE_AFTER_DESTROY, false);
    /* Made anew. */
    begin(1);
    STEP(&run, 0, MUTEX_DESTROY, 4);
    STEP(&run, 0, MUTEX_INIT, 4);
    STEP(&run, 1, MUTEX_LOCK, 4);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_USE_AFTER_DESTROY, false);
    /* Who waits with the mutex needs it when it wakes; not who has come back, or waits with another one. */
    for (unsigned other = 0; other < 3; other++) {
        begin(1);
        STEP(&run, 1, MUTEX_LOCK, other == 1 ? 5 : 3);
        STEP(&run, 1, COND_WAIT, 4);
        STEP(&run, 0, COND_BROADCAST, 4);
        if (other == 2) {
            STEP(&run, 1, COND_WAKE, 4);
            STEP(&run, 1, MUTEX_UNLOCK, 3);
        }
        STEP_ARG(&run, 0, MUTEX_DESTROY, PCT_ARG_ERROR, 3);
        if (other < 2)
            pending(&run, 1, PCT_OP_COND_WAKE, 4);
        expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_USE_AFTER_DESTROY, !other);
    }
    /* POSIX lets a condition variable go when all have been woken. */
    begin(1);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 1, COND_WAIT, 4);
    STEP(&run, 0, COND_BROADCAST, 4);
    STEP(&run, 0, COND_DESTROY, 4);
    STEP(&run, 1, COND_WAKE, 4);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_USE_AFTER_DESTROY, false);
    /* In its own code without a point, it may have made another one. */
    begin(1);
    STEP_ARG(&run, 1, STUCK, PCT_ARG_SPINS, 0);
    STEP(&run, 0, MUTEX_DESTROY, 4);
    STEP(&run, 1, MUTEX_LOCK, 4);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_USE_AFTER_DESTROY, false);
}

/* Thread 1 stands before a write to 4 when thread 0 closes that, or 5; or it has run meanwhile. */
static void make_closed(unsigned closed, bool runs)
{
    begin(1);
    STEP(&run, 1, MUTEX_LOCK, 9);
    STEP(&run, 1, MUTEX_UNLOCK, 9);
    STEP(&run, 0, CLOSE, closed);
    if (runs)
        STEP(&run, 1, YIELD, 0);
    STEP(&run, 1, WRITE, 4);
}

static void test_use_after_close(void **unused)
{
    (void)unused;
    make_closed(4, false);
    look(&run, PCT_VERDICT_ASSERTION, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_USE_AFTER_CLOSE);
    assert_non_null(d);
    assert_int_equal(run.history.steps[d->step[2]].op, PCT_OP_MUTEX_LOCK);
    const double base = d->base;
    assert_false(d->shows);
    done(&run);
    make_closed(4, false); /* the write fails: that counts for more, also where the smallest run fails otherwise */
    run.records[run.count - 1] = PCT_RECORD(1, PCT_OP_WRITE, PCT_ARG_ERROR, 4);
    look(&run, PCT_VERDICT_ASSERTION, NULL);
    assert_true((d = found(&run, PCT_RULE_USE_AFTER_CLOSE)) && d->shows && d->base > base);
    done(&run);
    make_closed(5, false);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_USE_AFTER_CLOSE, false);
    make_closed(4, true); /* it may have opened another file */
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_USE_AFTER_CLOSE, false);
    begin(0);
    STEP(&run, 0, MUTEX_LOCK, 9);
    STEP(&run, 0, CLOSE, 4);
    STEP(&run, 0, WRITE, 4);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_USE_AFTER_CLOSE, false);
}

static void test_destroyed_while_held(void **unused)
{
    (void)unused;
    begin(1);
    STEP(&run, 1, MUTEX_LOCK, 4);
    STEP_ARG(&run, 0, MUTEX_DESTROY, PCT_ARG_ERROR, 4);
    STEP(&run, 1, MUTEX_UNLOCK, 4);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_DESTROYED_WHILE_HELD, true);
    begin(1);
    STEP(&run, 1, MUTEX_LOCK, 4);
    STEP(&run, 1, MUTEX_UNLOCK, 4);
    STEP(&run, 0, MUTEX_DESTROY, 4);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_DESTROYED_WHILE_HELD, false);
    /* A wait gives it back. */
    begin(1);
    STEP(&run, 1, MUTEX_LOCK, 4);
    STEP(&run, 1, COND_WAIT, 5);
    STEP(&run, 0, MUTEX_DESTROY, 4);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_DESTROYED_WHILE_HELD, false);
    /* Which of two mutexes it gives back is not known. */
    begin(1);
    STEP(&run, 1, MUTEX_LOCK, 4);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 1, COND_WAIT, 5);
    STEP(&run, 0, MUTEX_DESTROY, 4);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_DESTROYED_WHILE_HELD, false);
    /* Locks by threads that pct did not see. */
    begin(1);
    STEP(&run, 1, MUTEX_LOCK, 4);
    STEP(&run, 0, MUTEX_DESTROY, 4);
    look(&run, PCT_VERDICT_EXIT, NULL);
    assert_non_null(found(&run, PCT_RULE_DESTROYED_WHILE_HELD));
    struct pct_trace trace = run.trace;
    pct_diagnoses_free(&run.diagnoses);
    pct_history_close(&run.history);
    trace.header.uncontrolled[PCT_UNCONTROLLED_FOREIGN] = 1;
    assert_int_equal(pct_history_open(&run.history, &trace), 0);
    pct_diagnoses_find(&run.diagnoses, &run.history, NULL);
    assert_int_equal(run.diagnoses.count, 0);
    done(&run);
}

static void test_foreign_unlock(void **unused)
{
    (void)unused;
    begin(1);
    STEP(&run, 1, MUTEX_LOCK, 4);
    STEP(&run, 0, MUTEX_UNLOCK, 4);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_FOREIGN_UNLOCK, true);
    /* An error-checking mutex said no. */
    begin(1);
    STEP(&run, 1, MUTEX_LOCK, 4);
    STEP_ARG(&run, 0, MUTEX_UNLOCK, PCT_ARG_ERROR, 4);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_FOREIGN_UNLOCK, false);
    /* A recursive one. */
    begin(1);
    STEP(&run, 1, MUTEX_LOCK, 4);
    STEP(&run, 1, MUTEX_LOCK, 4);
    STEP(&run, 1, MUTEX_UNLOCK, 4);
    STEP(&run, 1, MUTEX_UNLOCK, 4);
    STEP(&run, 0, MUTEX_LOCK, 4);
    STEP(&run, 0, MUTEX_UNLOCK, 4);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_FOREIGN_UNLOCK, false);
    /* Nobody is known to have it: a child process begins in the middle. */
    begin(1);
    STEP(&run, 0, MUTEX_UNLOCK, 4);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_FOREIGN_UNLOCK, false);
}

/* A child process waits, in the end, for the lock at the address of `object`, or had it before. */
static void make_child(struct made *child, unsigned object, bool had)
{
    memset(child, 0, sizeof *child);
    STEP(child, 0, YIELD, 0);
    if (had)
        STEP(child, 0, MUTEX_UNLOCK, 1);
    child->left = (struct pct_snap_object){
        .number = 1, .class_ = PCT_CLASS_MUTEX, .holder = PCT_NO_THREAD, .address = OBJECT_AT + 64 * object
    };
    pending(child, 0, PCT_OP_MUTEX_LOCK, 1);
    look(child, PCT_VERDICT_DEADLOCK, NULL);
}

/* Whether it is said of such a run and child that a lock was held at a fork. */
static bool is_held_at_fork(const struct made *child)
{
    struct pct_diagnoses with_child;
    look(&run, PCT_VERDICT_EXIT, NULL);
    assert_null(found(&run, PCT_RULE_HELD_AT_FORK));
    pct_history_add_child(&run.history, &child->trace);
    pct_diagnoses_find(&with_child, &run.history, NULL);
    bool is = with_child.count;
    if (is) {
        assert_int_equal(with_child.item[0].rule, PCT_RULE_HELD_AT_FORK);
        assert_int_equal(run.history.steps[with_child.item[0].step[0]].op, PCT_OP_MUTEX_LOCK);
        assert_int_equal(run.history.steps[with_child.item[0].step[1]].op, PCT_OP_FORK);
    }
    pct_diagnoses_free(&with_child);
    return is;
}

/* Thread `holder` has object 4 when thread 0 forks, or has given it back before. */
static void make_fork(unsigned holder, bool released)
{
    begin(1);
    STEP(&run, holder, MUTEX_LOCK, 4);
    if (released)
        STEP(&run, holder, MUTEX_UNLOCK, 4);
    STEP(&run, 0, FORK, 0);
    if (!released)
        STEP(&run, holder, MUTEX_UNLOCK, 4);
}

static void test_held_at_fork(void **unused)
{
    (void)unused;
    static struct made child;
    for (int wrong = 0; wrong < 7; wrong++) {
        make_child(&child, wrong == 1 ? 5 : 4, wrong == 2);
        if (wrong == 3) /* it is another program by now */
            child.trace.header.images = 1;
        if (wrong == 4)
            child.trace.header.verdict = PCT_VERDICT_ASSERTION;
        make_fork(wrong == 5 ? 0 : 1, wrong == 6);
        assert_int_equal(is_held_at_fork(&child), !wrong);
        done(&run);
        done(&child);
    }
    /* The one that forked has it at another fork: the child may come from that. */
    make_child(&child, 4, false);
    make_fork(1, false);
    STEP(&run, 0, MUTEX_LOCK, 4);
    STEP(&run, 0, FORK, 0);
    assert_false(is_held_at_fork(&child));
    done(&run);
    done(&child);
}

/* --- Patterns that other runs tell about -------------------------------------------------------------------------- */

/* Thread 1 reads object 4 twice, thread 2 writes it: between the two, or behind them. Under one lock, or none. */
static void make_reads(bool between, bool locked)
{
    begin(2);
    if (locked)
        step_at(&run, 1, PCT_OP_MUTEX_LOCK, 0, 3, 10);
    step_at(&run, 1, PCT_OP_LOAD, 0, 4, 11);
    if (between && locked)
        step_at(&run, 2, PCT_OP_MUTEX_LOCK, 0, 5, 20);
    if (between)
        step_at(&run, 2, PCT_OP_STORE, 0, 4, 21);
    step_at(&run, 1, PCT_OP_LOAD, 0, 4, 12);
    if (!between)
        step_at(&run, 2, PCT_OP_STORE, 0, 4, 21);
}

/* Both have lock 3 for reading when they raise object 4. */
static void make_readers(void)
{
    begin(2);
    STEP(&run, 1, RWLOCK_RDLOCK, 3);
    STEP(&run, 2, RWLOCK_RDLOCK, 3);
    STEP(&run, 1, LOAD, 4);
    STEP(&run, 2, STORE, 4);
    STEP(&run, 1, STORE, 4);
}

static void test_atomicity(void **unused)
{
    (void)unused;
    make_reads(true, false);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_ATOMICITY, true);
    make_reads(false, false);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_ATOMICITY, false);
    make_reads(true, true);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_NOT_THE_SAME_LOCK, true);
    make_readers();
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_NOT_THE_SAME_LOCK, false);
    /* What thread 1 had yet to make counts; what thread 2 had yet to make has not come between. */
    for (unsigned made = 0; made < 2; made++) {
        begin(2);
        STEP(&run, 1, LOAD, 4);
        if (made)
            STEP(&run, 2, STORE, 4);
        else
            pending(&run, 2, PCT_OP_STORE, 4);
        pending(&run, 1, PCT_OP_STORE, 4);
        expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_ATOMICITY, made);
    }
    make_readers();
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_ATOMICITY, true);
    /* Two reads with a read between them: nothing. */
    begin(2);
    STEP(&run, 1, LOAD, 4);
    STEP(&run, 2, LOAD, 4);
    STEP(&run, 1, LOAD, 4);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_ATOMICITY, false);
}

/* Thread 0 ends the program and locks 3 meanwhile; thread 1 locks it behind that, or before. */
static void make_ending(bool behind)
{
    begin(1);
    STEP(&run, 0, EXIT, 0);
    if (!behind)
        STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 0, MUTEX_LOCK, 3);
    STEP(&run, 0, MUTEX_UNLOCK, 3);
    if (behind)
        STEP(&run, 1, MUTEX_LOCK, 3);
}

static void test_ending(void **unused)
{
    (void)unused;
    make_ending(true);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_NOT_WAITED_FOR, true);
    make_ending(false);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_NOT_WAITED_FOR, false);
}

/* Thread 1 does something under lock 3 and then under lock 4; thread 2 has both, between or behind the two. */
static void make_halves(bool between, bool under_one)
{
    begin(2);
    if (under_one)
        STEP(&run, 1, MUTEX_LOCK, 9);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 1, MUTEX_UNLOCK, 3);
    for (unsigned i = 0; i < 2; i++) {
        if ((i == 0) == between) {
            STEP(&run, 2, MUTEX_LOCK, 3);
            STEP(&run, 2, MUTEX_LOCK, 4);
            STEP(&run, 2, MUTEX_UNLOCK, 4);
            STEP(&run, 2, MUTEX_UNLOCK, 3);
        } else {
            STEP(&run, 1, MUTEX_LOCK, 4);
            STEP(&run, 1, MUTEX_UNLOCK, 4);
        }
    }
}

static void test_two_objects(void **unused)
{
    (void)unused;
    make_halves(true, false);
    look(&run, PCT_VERDICT_ASSERTION, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_ATOMICITY);
    assert_non_null(d);
    assert_int_equal(d->count, 4);
    done(&run);
    make_halves(false, false);
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_ATOMICITY, false);
    /* Thread 2 looks at the second half again and again: the last time has seen it. */
    begin(2);
    STEP(&run, 1, STORE, 3);
    STEP(&run, 2, LOAD, 3);
    for (unsigned i = 0; i < 3; i++)
        step_at(&run, 2, PCT_OP_LOAD, 0, 4, 10);
    STEP(&run, 1, STORE, 4);
    look(&run, PCT_VERDICT_ASSERTION, NULL);
    d = found(&run, PCT_RULE_ATOMICITY);
    assert_non_null(d);
    assert_int_equal(d->count, 4);
    assert_int_equal(d->step[3], run.count - 2);
    done(&run);
    make_halves(true, true); /* thread 1 has another lock throughout */
    expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_ATOMICITY, false);
}

/* Thread 1 stores at some place, and thread 2, too, or not. */
static void make_visits(bool both)
{
    begin(2);
    step_at(&run, 1, PCT_OP_STORE, 0, 4, 10);
    if (both)
        step_at(&run, 2, PCT_OP_STORE, 0, 4, 10);
}

/* Whether two threads that do the same are found behind this many runs of which each had both, or one. */
static bool is_twice(unsigned passing, bool both)
{
    struct pct_evidence evidence = { 0 };
    for (unsigned i = 0; i < passing; i++) {
        make_visits(both);
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(&evidence, &run.history, false);
        done(&run);
    }
    make_visits(true);
    look(&run, PCT_VERDICT_ASSERTION, &evidence);
    bool twice = found(&run, PCT_RULE_TWICE);
    done(&run);
    pct_evidence_free(&evidence);
    return twice;
}

static void test_twice(void **unused)
{
    (void)unused;
    assert_true(is_twice(3, false));
    assert_false(is_twice(2, false));
    assert_false(is_twice(3, true));
}

/* The score of what all runs that fail have, if the smallest one that fails has it, has something else, or is not
 * known. */
static double score_with_least(bool known, bool like)
{
    struct pct_evidence evidence = { 0 };
    for (unsigned i = 0; i < PCT_EVIDENCE_ENOUGH; i++) {
        make_reads(false, false);
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(&evidence, &run.history, false);
        done(&run);
    }
    if (known) {
        make_reads(true, !like);
        look(&run, PCT_VERDICT_ASSERTION, NULL);
        pct_evidence_least(&evidence, &run.history);
        done(&run);
    }
    make_reads(true, false);
    look(&run, PCT_VERDICT_ASSERTION, &evidence);
    pct_evidence_add(&evidence, &run.history, true);
    pct_evidence_weigh(&evidence, &run.diagnoses);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_ATOMICITY);
    double score = d ? d->score : 0;
    assert_true(!d || d->unneeded == (known && !like));
    done(&run);
    pct_evidence_free(&evidence);
    return score;
}

static void test_least(void **unused)
{
    (void)unused;
    double known = score_with_least(true, true), other = score_with_least(true, false);
    assert_true(known > 0);
    assert_true(known >= score_with_least(false, false));
    assert_true(other > 0 && other < known / 2);
}

/* With `passing` runs like the one that fails, or not, what is left of a pattern. */
static bool is_left(unsigned passing, bool like)
{
    struct pct_evidence evidence = { 0 };
    for (unsigned i = 0; i < passing; i++) {
        make_reads(like, false);
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(&evidence, &run.history, false);
        done(&run);
    }
    make_reads(true, false);
    look(&run, PCT_VERDICT_ASSERTION, &evidence);
    pct_evidence_add(&evidence, &run.history, true);
    pct_evidence_weigh(&evidence, &run.diagnoses);
    bool left = found(&run, PCT_RULE_ATOMICITY);
    done(&run);
    pct_evidence_free(&evidence);
    return left;
}

static void test_evidence(void **unused)
{
    (void)unused;
    assert_true(is_left(3, false));
    assert_false(is_left(3, true));  /* runs that pass have it, too */
    assert_false(is_left(2, false)); /* too few to compare with */
}

/* Thread 2 stores, then thread 1 loads, in `passing` runs; here it is the other way round. */
static bool order_is_missing(unsigned passing, bool other_thread)
{
    struct pct_evidence evidence = { 0 };
    for (unsigned i = 0; i < passing; i++) {
        begin(2);
        step_at(&run, 2, PCT_OP_STORE, 0, 4, 21);
        step_at(&run, 1, PCT_OP_LOAD, 0, 4, 11);
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(&evidence, &run.history, false);
        done(&run);
    }
    begin(2);
    step_at(&run, 1, PCT_OP_LOAD, 0, 4, 11);
    step_at(&run, other_thread ? 2 : 1, PCT_OP_STORE, 0, 4, 21);
    look(&run, PCT_VERDICT_ASSERTION, &evidence);
    bool missing = found(&run, PCT_RULE_ORDER_MISSING);
    done(&run);
    pct_evidence_free(&evidence);
    return missing;
}

/* The same at one place, an accessor's, that both threads call from places of their own. */
static void make_called(bool in_order)
{
    begin(2);
    for (unsigned i = 0; i < 2; i++) {
        unsigned thread = in_order ? 2 - i : 1 + i;
        step_at(&run, thread, PCT_OP_MUTEX_LOCK, 0, 4, 30);
        run.sites[run.count - 1].callers = (uint16_t)thread;
        step_at(&run, thread, PCT_OP_MUTEX_UNLOCK, 0, 4, 31);
    }
}

static void test_order_of_callers(void **unused)
{
    (void)unused;
    struct pct_evidence evidence = { 0 };
    for (unsigned i = 0; i < 3; i++) {
        make_called(true);
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(&evidence, &run.history, false);
        done(&run);
    }
    for (int in_order = 0; in_order < 2; in_order++) {
        make_called(in_order);
        look(&run, PCT_VERDICT_ASSERTION, &evidence);
        assert_int_equal(!found(&run, PCT_RULE_ORDER_MISSING), in_order);
        done(&run);
    }
    pct_evidence_free(&evidence);
}

static void test_order(void **unused)
{
    (void)unused;
    assert_true(order_is_missing(3, true));
    assert_false(order_is_missing(2, true));
    assert_false(order_is_missing(3, false)); /* its own thread does it later: the threads have swapped roles */
}

/* Thread 2 stores by an accessor, twice, and once itself; then thread 1 loads. whole: before that it does all of it. */
static void make_prepared(bool whole)
{
    begin(2);
    for (unsigned i = 0; i < (whole ? 2 : 1); i++) {
        step_at(&run, 2, PCT_OP_STORE, 0, 4, 21);
        run.sites[run.count - 1].callers = (uint16_t)(1 + i);
    }
    if (whole)
        step_at(&run, 2, PCT_OP_STORE, 0, 4, 22);
    step_at(&run, 1, PCT_OP_LOAD, 0, 4, 11);
}

/* Of what has not come yet, the first is named. */
static void test_first_absence(void **unused)
{
    (void)unused;
    struct pct_evidence evidence = { 0 };
    for (unsigned i = 0; i < 3; i++) {
        make_prepared(true);
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(&evidence, &run.history, false);
        done(&run);
    }
    make_prepared(false);
    look(&run, PCT_VERDICT_ASSERTION, &evidence);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_ORDER_MISSING);
    assert_non_null(d);
    assert_int_equal(d->absent_step, 5); /* behind two threads made and begun, and the first store */
    done(&run);
    pct_evidence_free(&evidence);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_use_after_destroy),
        cmocka_unit_test(test_use_after_close),
        cmocka_unit_test(test_destroyed_while_held),
        cmocka_unit_test(test_foreign_unlock),
        cmocka_unit_test(test_held_at_fork),
        cmocka_unit_test(test_atomicity),
        cmocka_unit_test(test_two_objects),
        cmocka_unit_test(test_twice),
        cmocka_unit_test(test_ending),
        cmocka_unit_test(test_evidence),
        cmocka_unit_test(test_least),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_order_of_callers),
        cmocka_unit_test(test_first_absence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
