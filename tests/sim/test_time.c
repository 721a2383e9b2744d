/* Deadlines and virtual time: how it advances, when it jumps, who is woken by it; the heap of deadlines against a naive
 * model. Programs run on the simulated host; the heap is driven directly. */
#include "probe.h"
#include <sched/internal.h>
#include <stdlib.h>
#include <strategies/strategies.h>

static void note_time(struct sim *s)
{
    s->note[s->note[15]++] = pct_sched_now(&s->sched);
}

/* A step takes 1 us, a read of the clock 100 ns, and a read shows itself. */
static void test_advances(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CALL(note_time), READ(0), CALL(note_time), READ(0),
                                                            REPEAT(1000, 1), CALL(note_time), CLOCK, STORE(1), CLOCK,
                                                            CLOCK, STORE(2), CALL(note_time)) } };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(sim.note[0], 0);
    assert_int_equal(sim.note[1], PCT_STEP_NS);
    assert_int_equal(sim.note[2], 1001 * PCT_STEP_NS);
    assert_int_equal(probe_result.var[1], 1001 * PCT_STEP_NS + PCT_READ_NS);
    assert_int_equal(probe_result.var[2], 1002 * PCT_STEP_NS + 3 * PCT_READ_NS);
    assert_int_equal(probe_result.virtual_ns, 1004 * PCT_STEP_NS + 3 * PCT_READ_NS);
    assert_int_equal(probe_result.steps, 1004);
}

/* When nothing can run, time jumps to the deadline, and not a nanosecond further. */
static void test_jump(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(SLEEP(1000000000), CALL(note_time), DOWN_FOR(0, 77),
                                                            CALL(note_time), SLEEP(3600000000000), CALL(note_time)) } };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    /* The note is made after the step. */
    assert_int_equal(sim.note[0], 1000000000 + PCT_STEP_NS);
    assert_int_equal(sim.note[1], sim.note[0] + 77 + PCT_STEP_NS);
    assert_int_equal(sim.note[2], sim.note[1] + 3600000000000 + PCT_STEP_NS);
    assert_int_equal(probe_result.real_ns,
                     probe_result.steps * PCT_STEP_NS - 2 * PCT_STEP_NS); /* no real time passes */
}

/* A deadline in the past, or now, does not wait; it does not take time either. */
static void test_no_wait(void **unused)
{
    (void)unused;
    const struct sim_program program = {
        .thread = { THREAD(DOWN_FOR(0, 0), STORE(0), LOCK(0), LOCK_FOR(0, 0), STORE(1)) }, .var = { 9, 9 }
    };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(probe_result.var[0], 0);
    assert_int_equal(probe_result.var[1], 0);
    assert_int_equal(probe_result.virtual_ns, probe_result.steps * PCT_STEP_NS);
}

/* What comes before the deadline ends the wait, and the deadline is forgotten. */
static void test_in_time(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3), READ(7), UP(0), LOCK(0),
                                                            SIGNAL(0), UNLOCK(0), UNLOCK(1), JOIN(1), JOIN(2), JOIN(3)),
                                                     THREAD(DOWN_FOR(0, 1000000), STORE(0)),
                                                     THREAD(LOCK(0), WAIT_FOR(0, 0, 1000000), STORE(1), UNLOCK(0)),
                                                     THREAD(LOCK_FOR(1, 1000000), STORE(2)) } };
    struct sim_program with_lock = program;
    with_lock.thread[0] = THREAD(LOCK(1), CREATE(1), CREATE(2), CREATE(3), READ(7), UP(0), LOCK(0), SIGNAL(0),
                                 UNLOCK(0), UNLOCK(1), JOIN(1), JOIN(2), JOIN(3));
    assert_int_equal(probe_run(&with_lock, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    for (int i = 0; i < 3; i++)
        assert_int_equal(probe_result.var[i], 1);
    assert_int_equal(sim.sched.timers_count, 0);
    assert_int_equal(probe_result.virtual_ns, probe_result.steps * PCT_STEP_NS);
}

/* The same where it does not come: all three time out, in the order of their deadlines. */
static void test_too_late(void **unused)
{
    (void)unused;
    const struct sim_program program = {
        .thread = { THREAD(LOCK(1), CREATE(1), CREATE(2), CREATE(3), JOIN(1), JOIN(2), JOIN(3)),
                    THREAD(DOWN_FOR(0, 300000), CALL(note_time), STORE(0)),
                    THREAD(LOCK(0), WAIT_FOR(0, 0, 100000), CALL(note_time), STORE(1), UNLOCK(0)),
                    THREAD(LOCK_FOR(1, 200000), CALL(note_time), STORE(2)) },
        .var = { 9, 9, 9 }
    };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    for (int i = 0; i < 3; i++)
        assert_int_equal(probe_result.var[i], 0);
    for (uint64_t i = 0; i < 3; i++)
        assert_in_range(sim.note[i], (i + 1) * 100000, (i + 1) * 100000 + 20 * PCT_STEP_NS);
}

/* Equal deadlines: lower ids first. */
static void test_tie(void **unused)
{
    (void)unused;
    const struct sim_op body[] = { SLEEP(1000000), { .kind = SIM_END } };
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3), CREATE(4)), body, body,
                                                     body, body } };
    /* All four call sleep() at the same virtual time only if they run in turns of one step, so make the times equal. */
    assert_int_equal(probe_run(&program, PREFER_OLD, 1), PCT_VERDICT_EXIT);
    const uint32_t *last = probe.enable + probe.enables - 4;
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(last[i], i + 1);
}

/* A sleeper wakes after this many steps of threads that never stop: its deadline ends their budget, to the step. */
static void test_sleeper_wakes(void **unused)
{
    (void)unused;
    for (int64_t us = 1; us < 1200; us += 7) {
        const struct sim_program program = { .thread = { THREAD(CREATE(1), READ(0), UNLESS(0, 1), BACK(2)),
                                                         THREAD(SLEEP(us * 1000), CALL(note_time), WRITE(0, 1)) } };
        assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
        /* Asked for at step 2; the step that ends it is the one after the deadline. */
        assert_int_equal(sim.note[0], (uint64_t)(2 + us + 1) * PCT_STEP_NS);
    }
}

/* Reads of the clock bring a deadline about as well, at the next point. */
static void test_clock_wakes(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = {
                                             THREAD(CREATE(1), READ(0), CLOCK, REPEAT(500, 1), READ(0), STORE(1)),
                                             THREAD(SLEEP(45000), WRITE(0, 1)) } };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(probe_result.var[1], 1);
}

/* All strategies: a sleeper is not forgotten while others spin, and comes on time within their fairness. */
static void test_sleeper_all_strategies(void **unused)
{
    (void)unused;
    const struct sim_program program = {
        .thread = { THREAD(CREATE(1), CREATE(2), READ(0), UNLESS(0, 2), YIELD, BACK(3)),
                    THREAD(SLEEP(100000), WRITE(0, 1)), THREAD(READ(0), UNLESS(0, 2), YIELD, BACK(3)) }
    };
    for (const struct pct_strategy *const *strategy = pct_strategies; *strategy; strategy++)
        for (uint64_t seed = 0; seed < 50; seed++) {
            if (*strategy == &pct_strategy_none)
                continue; /* promises nothing: see test_strategies_sim.c */
            struct sim_options options = sim_defaults(*strategy);
            options.run.seed = seed;
            assert_int_equal(probe_run_with(&program, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
            assert_in_range(probe_result.steps, 100, 2000);
        }
}

static void end_nap(struct sim *s)
{
    pct_sched_cancel(&s->sched, &s->thread[1].core); /* cannot be cancelled */
    sim_check(pct_state(&s->thread[1].core) == PCT_STATE_BLOCKED, "a wait that is not cancellable was cancelled");
    s->thread[1].core.wait.cancellable = true;
    pct_sched_cancel(&s->sched, &s->thread[1].core);
    pct_sched_interrupt(&s->sched, &s->thread[2].core);
    pct_sched_interrupt(&s->sched, &s->thread[0].core); /* does not wait: no effect */
    s->thread[1].deadline = s->thread[2].deadline = 0;  /* for the audit */
    s->note[0] = s->thread[1].core.result;
    s->note[1] = s->thread[2].core.result;
    s->note[2] = s->sched.timers_count;
}

/* pct_sched_cancel() and pct_sched_interrupt() end waits early and take their deadlines back. */
static void test_cut_short(void **unused)
{
    (void)unused;
    const struct sim_op body[] = { SLEEP(1000000000), { .kind = SIM_END } };
    const struct sim_program program = {
        .thread = { THREAD(CREATE(1), CREATE(2), READ(0), CALL(end_nap), JOIN(1), JOIN(2)), body, body }
    };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(sim.note[0], PCT_CANCELLED);
    assert_int_equal(sim.note[1], PCT_INTERRUPTED);
    assert_int_equal(sim.note[2], 0);
    assert_true(probe_result.virtual_ns < 1000000);
}

static void cancel_waiter(struct sim *s)
{
    struct pct_thread *waiter = &s->thread[1].core;
    waiter->wait.cancellable = true;
    s->note[0] = waiter->in_then;
    pct_sched_wake(&s->sched, waiter);
    s->thread[1].woken = true; /* for the audit */
    s->note[1] = waiter->in_then;
    pct_sched_cancel(&s->sched, waiter);
    s->note[2] = waiter->result;
    sim_check(pct_state(waiter) == PCT_STATE_BLOCKED && waiter->queued,
              "a thread that needs a mutex no longer waits for it");
}

static void call_away(struct sim *s)
{
    struct pct_thread *waiter = &s->thread[1].core;
    pct_sched_interrupt(&s->sched, waiter);
    s->thread[1].then_mutex = false; /* for the audit */
    s->note[2] = waiter->result;
    sim_check(pct_state(waiter) == PCT_STATE_ENABLED && !waiter->queued,
              "a thread that handles a signal waits for a mutex");
}

/* A wait for a condition variable that has ended is one for the mutex. No cancellation ends that; a signal does for a
 * while, and what ended the first part stands. */
static void test_not_cut_short(void **unused)
{
    (void)unused;
    const struct sim_op body[] = { LOCK(0), WAIT_FOR(0, 0, 5000), STORE(1), UNLOCK(0), { .kind = SIM_END } };
    const struct sim_program woken = {
        .thread = { THREAD(CREATE(1), LOCK(0), CALL(cancel_waiter), READ(0), UNLOCK(0), JOIN(1)), body }
    };
    const struct sim_program called = { .thread = { THREAD(CREATE(1), LOCK(0), CALL(cancel_waiter), CALL(call_away),
                                                           READ(0), UNLOCK(0), JOIN(1)),
                                                    body } };
    const struct sim_program late = {
        .thread = { THREAD(CREATE(1), LOCK(0), SLEEP(9000), CALL(call_away), READ(0), UNLOCK(0), JOIN(1)), body }
    };
    for (int way = 0; way < 2; way++) {
        assert_int_equal(probe_run(way ? &called : &woken, PREFER_NEW, way ? 1 : PCT_UNLIMITED), PCT_VERDICT_EXIT);
        assert_int_equal(sim.note[0], false);
        assert_int_equal(sim.note[1], true);
        assert_int_equal(sim.note[2], PCT_READY);
        assert_int_equal(probe_result.var[1], 1);
    }
    assert_int_equal(probe_run(&late, PREFER_NEW, 1), PCT_VERDICT_EXIT);
    assert_int_equal(sim.note[2], PCT_TIMEOUT);
    assert_int_equal(probe_result.var[1], 0);
}

static void interrupt_waiter(struct sim *s)
{
    struct pct_thread *waiter = &s->thread[1].core;
    struct pct_object *object = waiter->wait.object;
    pct_sched_interrupt(&s->sched, waiter);
    s->thread[1].woken = true; /* for the audit */
    s->note[0] = waiter->result;
    s->note[1] = object->away;
    sim_check(pct_state(waiter) == PCT_STATE_ENABLED && !waiter->queued && !waiter->in_then && !object->waiters,
              "a thread that handles a signal waits for something");
}

static void note_waiter(struct sim *s)
{
    struct pct_object *object = s->thread[1].core.wait.object;
    s->note[2] = object->waiters;
    s->note[3] = object->away;
}

/* A wait for a condition variable goes on after a signal. To handle it, the thread needs nothing, not the mutex either;
 * it is counted meanwhile. */
static void test_interrupted_again(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), LOCK(0), CALL(interrupt_waiter), READ(0),
                                                            CALL(note_waiter), UNLOCK(0), SIGNAL(0), JOIN(1)),
                                                     THREAD(LOCK(0), WAIT(0, 0), STORE(1), UNLOCK(0)) } };
    assert_int_equal(probe_run(&program, PREFER_NEW, 1), PCT_VERDICT_EXIT);
    assert_int_equal(sim.note[0], PCT_INTERRUPTED);
    assert_int_equal(sim.note[1], 1);
    assert_int_equal(sim.note[2], 1);
    assert_int_equal(sim.note[3], 0);
    assert_int_equal(probe_result.var[1], 1);
}

static void interrupt_down(struct sim *s)
{
    struct pct_thread *waiter = &s->thread[1].core;
    pct_sched_interrupt(&s->sched, waiter);
    s->thread[1].deadline = 0; /* for the audit */
    s->note[0] = waiter->result;
    sim_check(pct_state(waiter) == PCT_STATE_ENABLED && !waiter->queued,
              "a thread that handles a signal waits for something");
}

static void note_result(struct sim *s)
{
    s->note[1] = s->thread[1].core.result;
}

/* An operation that could complete when the signal came, or can when the thread runs, is not interrupted. */
static void test_not_interrupted(void **unused)
{
    (void)unused;
    const struct sim_op body[] = { UP(1), DOWN(0), CALL(note_result), STORE(1), { .kind = SIM_END } };
    const struct sim_program before = { .thread = { THREAD(CREATE(1), DOWN(1), UP(0), CALL(interrupt_down), JOIN(1)),
                                                    body } };
    const struct sim_program after = { .thread = { THREAD(CREATE(1), DOWN(1), CALL(interrupt_down), UP(0), JOIN(1)),
                                                   body } };
    assert_int_equal(probe_run(&before, PREFER_OLD, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(sim.note[0], PCT_READY);
    assert_int_equal(sim.note[1], PCT_READY);
    assert_int_equal(probe_run(&after, PREFER_OLD, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(sim.note[0], PCT_INTERRUPTED);
    assert_int_equal(sim.note[1], PCT_READY);
}

/* PCT_TIME=real: sleeps take real time, and steps none of it. */
static void test_real_time(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), SLEEP(5000000), STORE(0)),
                                                     THREAD(DOWN_FOR(0, 3000000), READ(1), REPEAT(200, 1)) } };
    assert_int_equal(probe_run_with(&program, PREFER_NEW, PCT_UNLIMITED, (struct sim_options){ .real_time = true }),
                     PCT_VERDICT_EXIT);
    assert_in_range(probe_result.real_ns, 5000000, 5300000);
    assert_int_equal(probe_result.virtual_ns, probe_result.real_ns);
    /* While another thread runs on, the clock is looked at every so often. */
    const struct sim_program busy = { .thread = { THREAD(CREATE(1), READ(0), UNLESS(0, 1), BACK(2)),
                                                  THREAD(SLEEP(1200000), CALL(note_time), WRITE(0, 1)) } };
    assert_int_equal(probe_run_with(&busy, PREFER_NEW, PCT_UNLIMITED, (struct sim_options){ .real_time = true }),
                     PCT_VERDICT_EXIT);
    assert_in_range(sim.note[0], 1200000, 1200000 + 70 * PCT_STEP_NS);
}

/* --- Timers of the host ------------------------------------------------------------------------------------------- */

enum { TIMERS = 4 };
static struct pct_timer timers[TIMERS];

/* note[n]: when the n-th went off; note[8 + n]: which it was. Each posts semaphore 0. */
static void go_off(struct pct_sched *s, struct pct_timer *timer)
{
    uint64_t n = sim.note[15]++;
    sim.note[n] = pct_sched_now(s);
    sim.note[8 + n] = (uint64_t)(timer - timers);
    sim.sem[0]++;
    pct_sched_changed(s, pct_object_at(&s->objects, &sim.sem[0], PCT_CLASS_SEM));
}

static void arm(struct sim *s, unsigned which, uint64_t deadline, uint64_t order)
{
    timers[which] = (struct pct_timer){ .order = PCT_MAX_THREADS + order, .fire = go_off };
    pct_sched_set_timer(&s->sched, &timers[which], deadline);
}

static void arm_four(struct sim *s)
{
    arm(s, 0, 500000, 9);
    arm(s, 1, 500000, 2); /* at the same time, the lower order first */
    arm(s, 2, 300000, 5);
    arm(s, 3, 400000, 1);
    pct_sched_set_timer(&s->sched, &timers[3], PCT_NEVER); /* never mind */
    pct_sched_set_timer(&s->sched, &timers[3], PCT_NEVER);
}

/* They go off in order of (deadline, order), time jumps to them, and what waits for nothing else is no deadlock. */
static void test_host_timers(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CALL(arm_four), DOWN(0), DOWN(0), DOWN(0)) } };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(sim.note[15], 3);
    assert_int_equal(sim.note[8], 2);
    assert_int_equal(sim.note[9], 1);
    assert_int_equal(sim.note[10], 0);
    assert_int_equal(sim.note[0], 300000);
    assert_int_equal(sim.note[1], 500000);
    assert_int_equal(sim.note[2], 500000);
    assert_int_equal(sim.sched.timers_count, 0);
    /* A fourth never comes. */
    struct sim_program more = program;
    more.thread[0] = THREAD(CALL(arm_four), DOWN(0), DOWN(0), DOWN(0), DOWN(0));
    assert_int_equal(probe_run(&more, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_DEADLOCK);
}

static void arm_one(struct sim *s)
{
    arm(s, 0, pct_sched_now(&s->sched) + 50000, 0);
}

/* One goes off to the step while others run, and before the deadlines of sleeps that are later only in order. */
static void test_host_timer_while_busy(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CALL(arm_one), READ(0), UNLESS(0, 1), BACK(2)),
                                                     THREAD(DOWN(0), CALL(note_time), WRITE(0, 1)) } };
    for (uint64_t budget = 1; budget < 1000; budget = budget * 3 + 1) {
        assert_int_equal(probe_run(&program, PREFER_NEW, budget), PCT_VERDICT_EXIT);
        assert_in_range(sim.note[0], 50000, 52000);
        assert_in_range(sim.note[1], sim.note[0], sim.note[0] + 2 * PCT_STEP_NS);
    }
}

static void go_off_again(struct pct_sched *s, struct pct_timer *timer)
{
    sim.note[0]++;
    pct_sched_set_timer(s, timer, timer->deadline + 1000000);
}

static void arm_for_ever(struct sim *s)
{
    timers[0] = (struct pct_timer){ .order = PCT_MAX_THREADS, .fire = go_off_again };
    pct_sched_set_timer(&s->sched, &timers[0], 1000);
}

/* One that goes off again and again for nobody does not keep a deadlock from being seen; but a thread that sleeps
 * beyond thousands of them is no such thing; nor does it keep a process that has no thread left. */
static void test_host_timer_without_effect(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CALL(arm_for_ever), DOWN(0)) } };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_LIVELOCK);
    assert_string_equal(probe_result.message, "timers go off again and again, and no thread can go on");
    assert_int_equal(sim.note[0], PCT_VAIN_JUMPS);
    const struct sim_program sleeps = { .thread = {
                                            THREAD(CALL(arm_for_ever), SLEEP(1000000000), SLEEP(1000000000)) } };
    assert_int_equal(probe_run(&sleeps, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_in_range(sim.note[0], 1999, 2001);
    const struct sim_program sleeps_long = { .thread = { THREAD(CALL(arm_for_ever), SLEEP(20000000000), DOWN(0)) } };
    assert_int_equal(probe_run(&sleeps_long, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_LIVELOCK);
    assert_in_range(sim.note[0], 20000 + PCT_VAIN_JUMPS - 1, 20000 + PCT_VAIN_JUMPS + 1);
}

static void note_both_times(struct pct_sched *s, struct pct_timer *timer)
{
    (void)timer;
    sim.note[8] = pct_sched_now(s);
    sim.note[9] = sim.real_ns;
}

static void arm_to_note(struct sim *s)
{
    timers[0] = (struct pct_timer){ .order = PCT_MAX_THREADS, .fire = note_both_times };
    pct_sched_set_timer(&s->sched, &timers[0], 300000);
}

/* It goes off in time also where every thread is away for good: nobody holds the baton then. */
static void test_host_timer_all_away(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CALL(arm_to_note), CREATE(1), AWAY(5000000), JOIN(1)),
                                                     THREAD(AWAY(7000000)) } };
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++) {
        assert_int_equal(probe_run(&program, (enum prefer)prefer, PCT_UNLIMITED), PCT_VERDICT_EXIT);
        assert_int_equal(sim.note[8], 300000);
        assert_in_range(sim.note[9], 300000 - 10 * PCT_STEP_NS, 300000 + 10 * PCT_STEP_NS);
        assert_in_range(probe_result.real_ns, 7000000, 7000000 + 20 * PCT_STEP_NS);
    }
    const struct sim_program alone = { .thread = { THREAD(CALL(arm_to_note), AWAY(5000000)) } };
    assert_int_equal(probe_run(&alone, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(sim.note[8], 300000);
}

/* While every thread waits for the outside world, one of them comes back for the timer. */
static void test_host_timer_outside(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CALL(arm_one), DOWN_SHARED(0), CALL(note_time),
                                                            JOIN(1)),
                                                     THREAD(DOWN_SHARED(1)) },
                                         .event = { { .at = 900000, .sem = 1, .post = true } } };
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++) {
        assert_int_equal(probe_run(&program, (enum prefer)prefer, PCT_UNLIMITED), PCT_VERDICT_EXIT);
        assert_in_range(sim.note[0], 50000, 80000);
    }
}

/* The same schedule, and the same times, when it is replayed from its trace. */
static void test_host_timer_replay(void **unused)
{
    (void)unused;
    static uint64_t records[PCT_TRACE_BLOCK];
    const struct sim_program program = { .thread = {
                                             THREAD(CREATE(1), CALL(arm_four), DOWN(0), SLEEP(7000), DOWN(0), JOIN(1)),
                                             THREAD(READ(0), DOWN(0), SLEEP(450000), READ(0)) } };
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct sim_options options = sim_defaults(&pct_strategy_random_walk);
        options.run.seed = seed;
        options.records = records;
        options.max = PCT_TRACE_BLOCK;
        assert_int_equal(probe_run_with(&program, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
        struct sim_result first = probe_result;
        uint64_t recorded[PCT_TRACE_BLOCK];
        memcpy(recorded, records, sizeof recorded);
        options.run.seed = seed + 1000;
        options.replay = recorded;
        options.replay_count = first.steps;
        assert_int_equal(probe_run_with(&program, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
        assert_int_equal(probe_result.hash, first.hash);
        assert_int_equal(probe_result.virtual_ns, first.virtual_ns);
    }
}

/* --- The heap of deadlines ---------------------------------------------------------------------------------------- */

enum { HEAP_TIMERS = 1000, HEAP_OPERATIONS = 300000 };

static void *test_map(size_t size)
{
    return calloc(1, size);
}

static uint64_t random_state;
static uint32_t draw(uint32_t bound)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) % bound);
}

static uint32_t fired;
static void fire(struct pct_sched *s, struct pct_timer *timer)
{
    assert_true(timer->deadline <= pct_sched_now(s));
    assert_int_equal(timer->place, 0);
    timer->deadline = 0; /* seen */
    fired++;
}

/* Random additions, removals and jumps against a scan over all timers: the earliest (deadline, order) is first, and
 * exactly those whose deadline has passed are fired. */
static void test_heap(void **unused)
{
    (void)unused;
    static struct pct_timer timer[HEAP_TIMERS];
    static uint64_t ring[PCT_TRACE_BLOCK];
    static const struct pct_host host = { .map = test_map };
    struct pct_sched s = { .host = &host, .step_ns = PCT_STEP_NS, .record = ring, .block = ring };
    assert_int_equal(pct_timer_start(&s), 0);
    uint32_t waiting = 0;
    random_state = 1;
    for (uint32_t i = 0; i < HEAP_TIMERS; i++)
        timer[i] = (struct pct_timer){ .order = i, .fire = fire };
    for (uint32_t i = 0; i < HEAP_OPERATIONS; i++) {
        struct pct_timer *t = &timer[draw(HEAP_TIMERS)];
        uint32_t action = draw(100);
        s.jumps = 0; /* all of this is one step */
        if (action < 60 && !t->place) {
            pct_sched_set_timer(&s, t, pct_sched_now(&s) + 1 + draw(50) * UINT64_C(1000));
            waiting++;
        } else if (action < 95) {
            waiting -= t->place != 0;
            pct_sched_set_timer(&s, t, PCT_NEVER); /* without effect on one that is not armed */
        } else if (waiting) {
            fired = 0;
            pct_timer_jump(&s);
            assert_true(fired > 0);
            waiting -= fired;
            for (uint32_t n = 0; n < HEAP_TIMERS; n++)
                assert_true(!timer[n].place || timer[n].deadline > pct_sched_now(&s));
        }
        assert_int_equal(s.timers_count, waiting);
        if (i % 16 && i > 2000)
            continue;
        struct pct_timer *least = NULL;
        uint32_t count = 0;
        for (uint32_t n = 0; n < HEAP_TIMERS; n++)
            if (timer[n].place) {
                assert_ptr_equal(s.timers[timer[n].place - 1], &timer[n]);
                if (!least || timer[n].deadline < least->deadline)
                    least = &timer[n];
                count++;
            }
        assert_int_equal(count, waiting);
        if (least) {
            assert_ptr_equal(s.timers[0], least);
            uint64_t ahead = least->deadline - pct_sched_now(&s);
            assert_int_equal(pct_timer_step(&s), pct_steps(&s) + (ahead + PCT_STEP_NS - 1) / PCT_STEP_NS);
        }
    }
    free(s.timers);
    free(s.nearing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_advances),
        cmocka_unit_test(test_jump),
        cmocka_unit_test(test_no_wait),
        cmocka_unit_test(test_in_time),
        cmocka_unit_test(test_too_late),
        cmocka_unit_test(test_tie),
        cmocka_unit_test(test_sleeper_wakes),
        cmocka_unit_test(test_clock_wakes),
        cmocka_unit_test(test_sleeper_all_strategies),
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_not_cut_short),
        cmocka_unit_test(test_interrupted_again),
        cmocka_unit_test(test_not_interrupted),
        cmocka_unit_test(test_real_time),
        cmocka_unit_test(test_host_timers),
        cmocka_unit_test(test_host_timer_while_busy),
        cmocka_unit_test(test_host_timer_without_effect),
        cmocka_unit_test(test_host_timer_outside),
        cmocka_unit_test(test_host_timer_all_away),
        cmocka_unit_test(test_host_timer_replay),
        cmocka_unit_test(test_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
