/* The rule for who waits for others with a lock held: hand-made runs. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "made_run.h"

/* Thread 1 waits for semaphore 4 with lock 3, or without; thread 2, which posts it at other times, or does not, needs
 * the lock. */
static void make_hold_and_wait(bool holds, bool posts)
{
    begin(2);
    if (posts)
        STEP(&run, 2, SEM_POST, 4);
    STEP(&run, 1, SEM_WAIT, 4);
    STEP(&run, 1, MUTEX_LOCK, 3);
    if (!holds)
        STEP(&run, 1, MUTEX_UNLOCK, 3);
    pending(&run, 1, PCT_OP_SEM_WAIT, 4);
    pending(&run, 2, PCT_OP_MUTEX_LOCK, 3);
}

static void test_waits_with_lock(void **unused)
{
    (void)unused;
    make_hold_and_wait(true, true);
    look(&run, PCT_VERDICT_DEADLOCK, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_WAITS_WITH_LOCK);
    assert_non_null(d);
    assert_int_equal(run.history.steps[d->step[0]].op, PCT_OP_MUTEX_LOCK);
    assert_int_equal(run.history.steps[d->step[1]].op, PCT_OP_SEM_WAIT);
    done(&run);
    make_hold_and_wait(false, true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAITS_WITH_LOCK, false);
    /* Who needs the lock has nothing to do with the semaphore. */
    make_hold_and_wait(true, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAITS_WITH_LOCK, false);
    make_hold_and_wait(true, true);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_WAITS_WITH_LOCK, false);
}

/* Thread 1 has two mutexes when it begins to wait, which gives back the second one: as thread 2 shows by a lock, or by
 * a wait of its own, or nobody does. */
static void make_two_held(bool taken, bool alone)
{
    begin(2);
    if (alone) {
        STEP(&run, 2, MUTEX_LOCK, 3);
        STEP(&run, 2, COND_WAIT, 5);
    }
    STEP(&run, 1, MUTEX_LOCK, 4);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 1, COND_WAIT, 5);
    if (alone)
        STEP(&run, 2, COND_WAKE, 5);
    if (taken)
        STEP(&run, 2, MUTEX_LOCK, 3);
    if (alone || taken)
        STEP(&run, 2, MUTEX_UNLOCK, 3);
    pending(&run, 1, PCT_OP_COND_WAKE, 5);
    pending(&run, 2, PCT_OP_MUTEX_LOCK, 4);
}

static void test_waits_with_two_locks(void **unused)
{
    (void)unused;
    make_two_held(true, false);
    look(&run, PCT_VERDICT_DEADLOCK, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_WAITS_WITH_LOCK);
    assert_non_null(d);
    assert_int_equal(run.history.steps[d->step[0]].object, 4);
    done(&run);
    make_two_held(false, true);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAITS_WITH_LOCK, true);
    make_two_held(false, false);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAITS_WITH_LOCK, false);
    /* Woken before anybody takes one: all is known behind that. */
    begin(1);
    STEP(&run, 1, MUTEX_LOCK, 4);
    STEP(&run, 1, MUTEX_LOCK, 3);
    STEP(&run, 1, COND_WAIT, 5);
    STEP(&run, 1, COND_WAKE, 5);
    STEP(&run, 0, MUTEX_DESTROY, 4);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_DESTROYED_WHILE_HELD, true);
}

/* Thread 1 has lock 3, or gave it back, and waits for this at the end; thread 2 needs the lock. */
static void make_hold_and_block(bool holds, unsigned op)
{
    begin(2);
    STEP(&run, 1, MUTEX_LOCK, 3);
    if (!holds)
        STEP(&run, 1, MUTEX_UNLOCK, 3);
    pending(&run, 1, op, 4);
    pending(&run, 2, PCT_OP_MUTEX_LOCK, 3);
}

static void test_waits_for_others(void **unused)
{
    static const unsigned ops[] = { PCT_OP_WRITE, PCT_OP_READ, PCT_OP_BARRIER_ARRIVE };
    (void)unused;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        make_hold_and_block(true, ops[i]);
        expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAITS_WITH_LOCK, true);
        make_hold_and_block(false, ops[i]);
        expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAITS_WITH_LOCK, false);
        make_hold_and_block(true, ops[i]);
        expect(&run, PCT_VERDICT_EXIT, PCT_RULE_WAITS_WITH_LOCK, false);
    }
    /* Time goes on by itself. */
    make_hold_and_block(true, PCT_OP_SLEEP);
    expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_WAITS_WITH_LOCK, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits_with_lock),
        cmocka_unit_test(test_waits_with_two_locks),
        cmocka_unit_test(test_waits_for_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
