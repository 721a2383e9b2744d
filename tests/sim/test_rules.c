/* The scheduler's rules for waiting, waking, picking and ending, each in a small program on the simulated host whose
 * outcome follows from the rule alone. The audit (simops.c) checks enabledness at every step of all of them. Spins
 * have test_spins.c, virtual time test_time.c, the outside world test_outside.c, the trace test_trace.c. */
#include "probe.h"
#include <strategies/strategies.h>

/* The operation of record i of the run, which must not have been longer than the ring. */
static uint64_t record_at(uint64_t i)
{
    assert_true(i < probe_result.steps);
    return sim.sched.records[i];
}

/* The first record of this operation. */
static uint64_t find_record(enum pct_op op)
{
    for (uint64_t i = 0; i < probe_result.steps; i++)
        if (PCT_RECORD_OP(record_at(i)) == (uint32_t)op)
            return record_at(i);
    fail_msg("operation %d was not recorded", (int)op);
    return 0;
}

/* --- Enabledness -------------------------------------------------------------------------------------------------- */

/* A thread that waits for a mutex is given the baton only when it is free: with a budget of one step, each of the
 * others would be tried between any two steps of the holder. */
static void test_lock_not_failed(void **unused)
{
    (void)unused;
    const struct sim_op body[] = { LOCK(0),  READ(0),   READ(0),      ADD(1),
                                   STORE(0), UNLOCK(0), REPEAT(5, 6), { .kind = SIM_END } };
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3)), body, body, body } };
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++)
        for (uint64_t budget = 1; budget < 8; budget++) {
            assert_int_equal(probe_run(&program, (enum prefer)prefer, budget), PCT_VERDICT_EXIT);
            assert_int_equal(probe_result.var[0], 15);
        }
}

/* Who is about to lock a mutex that somebody else takes first becomes disabled although it never tried. */
static void test_disabled_by_others(void **unused)
{
    (void)unused;
    /* Thread 1 stands before LOCK(0) when main, preferred, takes the mutex. */
    const struct sim_program program = { .thread = { THREAD(CREATE(1), DOWN(0), LOCK(0), READ(0), READ(0), UNLOCK(0)),
                                                     THREAD(UP(0), LOCK(0), WRITE(1, 1), UNLOCK(0)) } };
    assert_int_equal(probe_run(&program, PREFER_OLD, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    /* create, start, up, down, lock: both were enabled until then, one from then on. */
    assert_int_equal(PCT_RECORD_OP(record_at(4)), PCT_OP_MUTEX_LOCK);
    assert_int_equal(PCT_RECORD_THREAD(record_at(4)), 0);
    assert_int_equal(PCT_RECORD_OP(record_at(7)), PCT_OP_MUTEX_UNLOCK);
    assert_int_equal(probe_result.max_enabled, 2);
}

/* The strategy has been told of some threads; how often it is, and a hash of whom, in which order. */
static struct {
    uint64_t calls, hash;
} told;

static void tell(void *state, const uint16_t *threads, uint32_t count, bool enabled)
{
    told.calls++;
    for (uint32_t i = 0; i < count; i++) {
        told.hash = (told.hash ^ (threads[i] * 2u + enabled)) * UINT64_C(0x100000001b3);
        (enabled ? probe_enable : probe_disable)(state, threads[i]);
    }
}

static void tell_enable_all(void *state, const uint16_t *threads, uint32_t count)
{
    tell(state, threads, count, true);
}

static void tell_disable_all(void *state, const uint16_t *threads, uint32_t count)
{
    tell(state, threads, count, false);
}

static void tell_enable(void *state, uint32_t thread)
{
    tell(state, &(uint16_t){ (uint16_t)thread }, 1, true);
}

static void tell_disable(void *state, uint32_t thread)
{
    tell(state, &(uint16_t){ (uint16_t)thread }, 1, false);
}

enum { CONTENDERS = SIM_THREADS - 1 };

/* Main has the mutex until all others want it. */
static void run_contended(enum prefer prefer, const struct pct_strategy *strategy)
{
    static const struct sim_op body[] = { LOCK(0), READ(0), UNLOCK(0), REPEAT(2, 3), { .kind = SIM_END } };
    struct sim_op first[CONTENDERS + 3] = { LOCK(0) };
    struct sim_program program = { .thread = { first } };
    for (int i = 1; i <= CONTENDERS; i++) {
        first[i] = (struct sim_op)CREATE(i);
        program.thread[i] = body;
    }
    first[CONTENDERS + 1] = (struct sim_op)UNLOCK(0);
    first[CONTENDERS + 2] = (struct sim_op){ .kind = SIM_END };
    told.calls = told.hash = 0;
    assert_int_equal(probe_run_with(&program, prefer, 1, (struct sim_options){ .strategy = strategy }),
                     PCT_VERDICT_EXIT);
}

/* Who locks or unlocks a mutex for which many wait tells the strategy of all of them at once. A strategy that was built
 * when there were no such functions is told of the same threads, in the same order, one by one. */
static void test_told_at_once(void **unused)
{
    (void)unused;
    struct pct_strategy strategy = probe_strategy;
    strategy.enable = tell_enable;
    strategy.disable = tell_disable;
    strategy.enable_all = tell_enable_all;
    strategy.disable_all = tell_disable_all;
    strategy.abi = PCT_STRATEGY_ABI;
    run_contended(PREFER_NEW, &strategy);
    uint64_t hash = told.hash, steps = probe_result.steps;
    assert_true(probe_result.max_enabled > CONTENDERS / 2);
    /* One for what a step does itself, one for what it lets others do; where a queue is short, its threads one by
     * one. */
    assert_true(told.calls <= 2 * steps);
    strategy.abi = PCT_STRATEGY_ABI_LEAST;
    run_contended(PREFER_NEW, &strategy);
    assert_int_equal(told.hash, hash);
    assert_int_equal(probe_result.steps, steps);
    assert_true(told.calls > 4 * steps);
}

/* A change of an object asks one of all its waiters that are alike, however many they are: each step asks for itself,
 * and for the object that it changed. */
static void test_alike(void **unused)
{
    (void)unused;
    enum { THREADS = CONTENDERS };
    run_contended(PREFER_NEW, &probe_strategy);
    assert_true(probe_result.max_enabled > THREADS / 2);
    assert_true(probe_result.asked > probe_result.steps / 4);
    assert_true(probe_result.asked <= 2 * probe_result.steps);
}

static void note_states(struct sim *s)
{
    s->note[0] = pct_state(&s->thread[1].core);
    s->note[1] = pct_state(&s->thread[2].core);
    s->note[2] = s->sched.enabled;
}

/* After a broadcast all waiters want the mutex: while the broadcaster holds it, none is enabled. */
static void test_broadcast_waits_for_mutex(void **unused)
{
    (void)unused;
    const struct sim_op body[] = { LOCK(0), WAIT(0, 0), READ(0), ADD(1), STORE(0), UNLOCK(0), { .kind = SIM_END } };
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), LOCK(0), BROADCAST(0),
                                                            CALL(note_states), READ(7), UNLOCK(0), JOIN(1), JOIN(2)),
                                                     body, body } };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(sim.note[0], PCT_STATE_BLOCKED);
    assert_int_equal(sim.note[1], PCT_STATE_BLOCKED);
    assert_int_equal(sim.note[2], 1);
    assert_int_equal(probe_result.var[0], 2);
}

/* --- Wake order --------------------------------------------------------------------------------------------------- */

/* Three wait, in the order 1, 2, 3, and write down in which order they were woken. */
#define WAITER(v) THREAD(LOCK(0), WAIT(0, 0), READ(0), ADD(1), STORE(0), STORE(v), UNLOCK(0))
#define WAKE LOCK(0), SIGNAL(0), UNLOCK(0)
static const struct sim_program three_waiters = { .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3), WAKE, WAKE, WAKE,
                                                                     WAKE, JOIN(1), JOIN(2), JOIN(3)),
                                                              WAITER(1), WAITER(2), WAITER(3) } };

static void test_choose(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t choice, argument;
        int64_t order[3]; /* when thread 1, 2, 3 was woken */
    } cases[] = { { 0, 0, { 1, 2, 3 } },
                  { 1, 1, { 3, 1, 2 } },
                  { 2, 2, { 2, 3, 1 } },
                  { 3, 0, { 1, 2, 3 } },
                  { UINT32_MAX, 0, { 1, 2, 3 } } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        probe.choice = cases[i].choice;
        assert_int_equal(probe_run(&three_waiters, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
        for (int t = 0; t < 3; t++)
            if (cases[i].choice != 2)
                assert_int_equal(probe_result.var[1 + t], cases[i].order[t]);
        assert_int_equal(PCT_RECORD_ARG(find_record(PCT_OP_COND_SIGNAL)), cases[i].argument);
        /* Asked only where there is a choice: among three, then among two. */
        assert_int_equal(probe.chooses, 2);
        assert_int_equal(probe.waiters[0], 3);
        assert_int_equal(probe.waiters[1], 2);
        if (cases[i].choice == 2) { /* of three the last; of two there is no third, so the first */
            assert_int_equal(probe_result.var[3], 1);
            assert_int_equal(probe_result.var[1], 2);
            assert_int_equal(probe_result.var[2], 3);
        }
    }
    probe.choice = 0;
}

/* Only these waiters may be woken, a bit each. */
static uint32_t wakeable;

static bool may_wake(const void *state, uint32_t thread, uint64_t step)
{
    (void)state;
    sim_check(step == pct_steps(&sim.sched), "may_wake() is given another step");
    return wakeable >> thread & 1;
}

/* choose() is asked among those that may be woken, where there is a choice left; among all if none may be. */
static void test_may_wake(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t wakeable, choice, chooses, asked; /* how often, and first among how many */
        int64_t order[3];                          /* when thread 1, 2, 3 was woken */
    } cases[] = { { 0xe, 0, 2, 3, { 1, 2, 3 } },   /* all */
                  { 0x0, 1, 2, 3, { 3, 1, 2 } },   /* none */
                  { 0x8, 0, 1, 2, { 2, 3, 1 } },   /* 3, then 1 of 1 and 2 */
                  { 0xc, 1, 1, 2, { 3, 2, 1 } },   /* 3 of 2 and 3, then 2 */
                  { 0xc, 0, 1, 2, { 3, 1, 2 } } }; /* 2 of 2 and 3, then 3 */
    struct pct_strategy strategy = probe_strategy;
    strategy.may_wake = may_wake;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wakeable = cases[i].wakeable;
        probe.choice = cases[i].choice;
        assert_int_equal(
            probe_run_with(&three_waiters, PREFER_NEW, PCT_UNLIMITED, (struct sim_options){ .strategy = &strategy }),
            PCT_VERDICT_EXIT);
        for (int t = 0; t < 3; t++)
            assert_int_equal(probe_result.var[1 + t], cases[i].order[t]);
        assert_int_equal(probe.chooses, cases[i].chooses);
        assert_int_equal(probe.waiters[0], cases[i].asked);
    }
    probe.choice = 0;
}

/* Without choose() the first that came; a signal that finds nobody says so. */
static void test_choose_absent(void **unused)
{
    (void)unused;
    struct pct_strategy plain = probe_strategy;
    plain.choose = NULL;
    assert_int_equal(
        probe_run_with(&three_waiters, PREFER_NEW, PCT_UNLIMITED, (struct sim_options){ .strategy = &plain }),
        PCT_VERDICT_EXIT);
    for (int t = 1; t <= 3; t++)
        assert_int_equal(probe_result.var[t], t);
    uint32_t nobody = 0;
    for (uint64_t i = 0; i < probe_result.steps; i++)
        nobody += PCT_RECORD_OP(record_at(i)) == PCT_OP_COND_SIGNAL && PCT_RECORD_ARG(record_at(i)) == PCT_ARG_NOBODY;
    assert_int_equal(nobody, 1);
}

static void move_waiter(struct sim *s)
{
    struct pct_object *other = pct_object_at(&s->sched.objects, &s->cond[1], PCT_CLASS_COND);
    pct_sched_move(&sim.sched, &s->thread[1].core, other);
    sim_check(other->first == &s->thread[1].core && other->waiters == 1, "the thread did not move");
}

/* pct_sched_move(): from one queue to the end of another. */
static void test_move(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), CALL(move_waiter), SIGNAL(0),
                                                            SIGNAL(1), JOIN(1), JOIN(2)),
                                                     WAITER(1), WAITER(2) } };
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(probe_result.var[2], 1); /* the first in what is left of queue 0 */
    assert_int_equal(probe_result.var[1], 2);
}

/* --- Budgets and picks -------------------------------------------------------------------------------------------- */

/* While the budget lasts the strategy is not asked. */
static void test_budget(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(READ(0), REPEAT(99, 1)) } }; /* 100 steps */
    for (uint64_t budget = 0; budget < 120; budget++) {
        uint64_t steps = budget ? budget : 1; /* 0 counts as 1 */
        assert_int_equal(probe_run(&program, PREFER_NEW, budget), PCT_VERDICT_EXIT);
        assert_int_equal(probe_result.steps, 100);
        assert_int_equal(probe.picks, (100 + steps - 1) / steps);
        assert_int_equal(probe_result.max_enabled, 1);
        for (uint32_t i = 0; i < probe.picks && i < PROBE_LOG; i++)
            assert_pick(i, i * steps, i ? steps : 0, 0, i ? PCT_WHY_BUDGET : PCT_WHY_START);
    }
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(probe.picks, 1);
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED - 1), PCT_VERDICT_EXIT);
    assert_int_equal(probe.picks, 1);
}

/* What else asks it: a thread that became enabled, one that blocked, one that finished. */
static void test_why(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), READ(0), UP(0), READ(0), READ(0), JOIN(1)),
                                                     THREAD(READ(0), DOWN(0), READ(0)) } };
    assert_int_equal(probe_run(&program, PREFER_OLD, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_pick(0, 0, 0, 0, PCT_WHY_START);
    assert_pick(1, 1, 1, 0, PCT_WHY_ENABLED); /* thread 1 exists; main goes on */
    assert_pick(2, 5, 4, 0, PCT_WHY_BLOCKED); /* main joins */
    assert_pick(3, 10, 5, 1, PCT_WHY_FINISHED);
    assert_int_equal(probe.picks, 4);
    assert_int_equal(probe_run(&program, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_pick(1, 1, 1, 0, PCT_WHY_ENABLED); /* thread 1 runs at once */
    assert_pick(2, 3, 2, 1, PCT_WHY_BLOCKED); /* and waits for the semaphore */
    assert_pick(3, 5, 2, 0, PCT_WHY_ENABLED); /* which main posts */
    assert_pick(4, 8, 3, 1, PCT_WHY_FINISHED);
    assert_int_equal(probe.picks, 5);
    assert_int_equal(probe_result.switches, 4);
    assert_int_equal(probe_result.preemptions, 2); /* at 1 and at 5 */
}

/* Used up at the very step at which a thread becomes enabled: that the budget is used up comes first. */
static void test_why_both(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), READ(0)), THREAD(READ(0)) } };
    assert_int_equal(probe_run(&program, PREFER_OLD, 1), PCT_VERDICT_EXIT);
    assert_pick(1, 1, 1, 0, PCT_WHY_BUDGET);
}

static void test_bad_choice(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(READ(0)) } };
    assert_int_equal(probe_run(&program, PREFER_NONE, 1), PCT_VERDICT_INTERNAL);
    assert_string_equal(probe_result.message, "the strategy chose a thread that is not enabled");
}

/* Short cuts change nothing: the same program with every point taken the long way. */
static void test_short_cuts(void **unused)
{
    (void)unused;
    for (uint64_t budget = 1; budget < 30; budget++) {
        enum pct_verdict verdict = probe_run(&three_waiters, PREFER_OLD, budget);
        struct sim_result fast = probe_result;
        assert_int_equal(probe_run_with(&three_waiters, PREFER_OLD, budget, (struct sim_options){ .slow = true }),
                         verdict);
        assert_int_equal(probe_result.hash, fast.hash);
        assert_int_equal(probe_result.switches, fast.switches);
        assert_int_equal(probe_result.virtual_ns, fast.virtual_ns);
    }
}

/* --- Verdicts ----------------------------------------------------------------------------------------------------- */

static void test_deadlock(void **unused)
{
    (void)unused;
    const struct sim_program programs[] = {
        { .name = "a mutex twice", .thread = { THREAD(LOCK(0), LOCK(0)) } },
        { .name = "two locks",
          .thread = { THREAD(LOCK(0), CREATE(1), DOWN(0), LOCK(1)), THREAD(LOCK(1), UP(0), LOCK(0)) } },
        { .name = "a signal too early", .thread = { THREAD(SIGNAL(0), LOCK(0), WAIT(0, 0)) } },
        { .name = "a barrier for three",
          .thread = { THREAD(CREATE(1), BARRIER(0)), THREAD(BARRIER(0)) },
          .barrier = { 3 } },
        { .name = "joins one that waits", .thread = { THREAD(CREATE(1), JOIN(1)), THREAD(DOWN(0)) } },
        { .name = "woken, but the mutex is lost",
          .thread = { THREAD(CREATE(1), LOCK(0), SIGNAL(0)), THREAD(LOCK(0), WAIT(0, 0)) } },
        { .name = "timed out, but the mutex is lost",
          .thread = { THREAD(CREATE(1), LOCK(0)), THREAD(LOCK(0), WAIT_FOR(0, 0, 1000000)) } },
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        assert_int_equal(probe_run(&programs[i], PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_DEADLOCK);
        assert_int_equal(sim.sched.enabled, 0);
        assert_true(sim.sched.live > 0);
    }
}

/* Threads that wait for each other's locks are one, too, as soon as the others only sleep or wait for the outside. */
static void test_deadlock_of_some(void **unused)
{
    (void)unused;
    static const struct sim_op one[] = { LOCK(0), UP(0), DOWN(1), LOCK(1), { .kind = SIM_END } },
                               other[] = { LOCK(1), UP(1), DOWN(0), LOCK(0), { .kind = SIM_END } };
    const struct sim_program programs[] = {
        { .name = "a poller", .thread = { THREAD(CREATE(1), CREATE(2), SLEEP(5000), BACK(1)), one, other } },
        { .name = "the outside", .thread = { THREAD(CREATE(1), CREATE(2), DOWN_SHARED(2)), one, other } },
        { .name = "it would end", .thread = { THREAD(CREATE(1), CREATE(2), SLEEP(1000000000), EXIT), one, other } },
        { .name = "behind them", .thread = { THREAD(CREATE(1), CREATE(2), SLEEP(5000), LOCK(0)), one, other } },
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++) {
            assert_int_equal(probe_run(&programs[i], (enum prefer)prefer, 1), PCT_VERDICT_DEADLOCK);
            assert_int_equal(sim.sched.enabled, 0);
            assert_true(probe_result.virtual_ns < 1000000);
        }
}

/* None while a deadline is pending, or the outside world may do something. */
static void test_no_deadlock(void **unused)
{
    (void)unused;
    const struct sim_program programs[] = {
        { .thread = { THREAD(LOCK(0), LOCK_FOR(0, 1000000)) } },
        { .thread = { THREAD(LOCK(0), WAIT_FOR(0, 0, 1000000), UNLOCK(0)) } },
        { .thread = { THREAD(DOWN_FOR(0, 1000000)) } },
        { .thread = { THREAD(CREATE(1), DOWN(0)), THREAD(SLEEP(1000000), UP(0)) } },
        { .thread = { THREAD(CREATE(1), DOWN(0)), THREAD(AWAY(1000000), UP(0)) } },
        { .thread = { THREAD(DOWN_SHARED(0)) }, .event = { { .at = 1000000, .post = true } } },
        /* A cycle that a deadline ends. */
        { .thread = { THREAD(LOCK(0), CREATE(1), DOWN(0), LOCK_FOR(1, 1000000), UNLOCK(0), JOIN(1)),
                      THREAD(LOCK(1), UP(0), LOCK(0), UNLOCK(0), UNLOCK(1)) } },
    };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        assert_int_equal(probe_run(&programs[i], PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
        assert_true(probe_result.virtual_ns >= 1000000);
    }
}

/* The step bound is exact, whatever the strategy and wherever the blocks of the trace end. */
static void test_step_bound(void **unused)
{
    (void)unused;
    const struct sim_op body[] = { READ(0), BACK(1) };
    const struct sim_program program = { .thread = { THREAD(CREATE(1), READ(0), BACK(1)), body } };
    static const uint64_t bounds[] = { 1, 2, 511, 512, 513, 1000, 1024, 5000 };
    for (const struct pct_strategy *const *strategy = pct_strategies; *strategy; strategy++)
        for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
            struct sim_options options = sim_defaults(*strategy);
            options.max_steps = bounds[i];
            assert_int_equal(probe_run_with(&program, PREFER_NEW, 1, options), PCT_VERDICT_LIVELOCK);
            assert_int_equal(probe_result.steps, bounds[i]);
            assert_string_equal(probe_result.message, "the step bound was reached");
        }
}

/* --- The end ------------------------------------------------------------------------------------------------------ */

/* Section 4.2, "Final Wait": who ends the process goes last, so the others come to where they block. */
static void test_final_wait(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), CALL(note_step), EXIT),
                                                     THREAD(READ(0), REPEAT(30, 1), WRITE(1, 1), DOWN(0), WRITE(1, 9)),
                                                     THREAD(READ(0), REPEAT(40, 1), WRITE(2, 1)) } };
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct sim_options options = sim_defaults(&pct_strategy_pct);
        options.run.seed = seed;
        sim_set(&options, "k", 80);
        assert_int_equal(probe_run_with(&program, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
        assert_int_equal(probe_result.var[1], 1);
        assert_int_equal(probe_result.var[2], 1);
    }
    assert_int_equal(probe_run(&program, PREFER_OLD, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(probe.final_waits, 1);
    assert_int_equal(probe.final_waiter, 0);
    /* A pick follows at once. */
    assert_pick(probe.picks - 1, sim.note[0], 1, 0, PCT_WHY_BUDGET);
}

/* Not for ever: others that never block delay the end by PCT_FINAL_WAIT_STEPS and no more. */
static void test_final_wait_bound(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CALL(note_step), EXIT),
                                                     /* Rounds too long to be taken for polling. */
                                                     THREAD(READ(0), READ(1), READ(1), READ(1), READ(1), READ(1),
                                                            READ(1), READ(1), READ(1), READ(1), READ(1), READ(1),
                                                            READ(1), READ(1), READ(1), READ(1), READ(1), BACK(17)) } };
    struct sim_options options = sim_defaults(&pct_strategy_pct);
    for (options.run.seed = 0; options.run.seed < 20; options.run.seed++) {
        assert_int_equal(probe_run_with(&program, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
        /* The bound, and the exit itself. */
        assert_int_equal(probe_result.steps, sim.note[0] + PCT_FINAL_WAIT_STEPS + 1);
    }
    for (const struct pct_strategy *const *strategy = pct_strategies; *strategy; strategy++) {
        options = sim_defaults(*strategy);
        assert_int_equal(probe_run_with(&program, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
        assert_true(probe_result.steps <= sim.note[0] + PCT_FINAL_WAIT_STEPS + 1);
    }
}

/* Who ends the process may still have to wait, in an exit handler, when its time has come: then the others go on; and
 * it goes before all others again as soon as it can. */
static void test_exit_handler_waits(void **unused)
{
    (void)unused;
    enum { PASSES = 7000 }; /* of three steps: beyond the bound */
    const struct sim_program program = {
        .thread = { THREAD(CREATE(1), CREATE(2), EXITING, DOWN(0), CALL(note_step), READ(0), REPEAT(50, 1), EXIT_NOW),
                    THREAD(READ(0), READ(0), YIELD, REPEAT(PASSES, 3), UP(0), READ(0), BACK(1)),
                    THREAD(READ(0), BACK(1)) }
    };
    struct sim_options options = sim_defaults(&pct_strategy_random_walk);
    assert_int_equal(probe_run_with(&program, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
    assert_true(sim.note[0] > PCT_FINAL_WAIT_STEPS);
    assert_int_equal(probe_result.steps, sim.note[0] + 51);
}

/* A joiner is enabled by the end of the thread, not before; who is joined late is no reason to wait. */
static void test_join(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), JOIN(1), CHECK(0, 1), JOIN(2)),
                                                     THREAD(READ(1), READ(1), READ(1), WRITE(0, 1)),
                                                     THREAD(READ(1)) } };
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++)
        for (uint64_t budget = 1; budget < 5; budget++) {
            assert_int_equal(probe_run(&program, (enum prefer)prefer, budget), PCT_VERDICT_EXIT);
            assert_int_equal(sim.sched.live, 0);
        }
    assert_int_equal(PCT_RECORD_OBJECT(find_record(PCT_OP_THREAD_JOIN)), 1); /* the thread's id */
}

/* --- What the scheduler does not see ------------------------------------------------------------------------------ */

static void post_unseen(struct sim *s)
{
    s->sem[0]++;
    s->sched.unseen = (uint32_t)s->note[1];
}

static void allow_unseen(struct sim *s)
{
    s->note[1] = 1;
}

/* A change without pct_sched_changed(): found, at the latest before a deadlock is called, if the host said that there
 * may be any; else the verdict is deadlock. */
static void test_unseen(void **unused)
{
    (void)unused;
    struct sim_program program = {
        .thread = { THREAD(CREATE(1), READ(0), CALL(allow_unseen), CALL(post_unseen), JOIN(1)), THREAD(DOWN(0)) }
    };
    struct sim_options options = { .strategy = &probe_strategy };
    probe.prefer = PREFER_NEW;
    probe.budget = PCT_UNLIMITED;
    sim_run(&program, &options, &probe_result);
    assert_int_equal(probe_result.verdict, PCT_VERDICT_EXIT);
    program.thread[0] = THREAD(CREATE(1), READ(0), CALL(post_unseen), JOIN(1));
    sim_run(&program, &options, &probe_result);
    assert_int_equal(probe_result.verdict, PCT_VERDICT_DEADLOCK);
    /* While others run on it is found at the end of a block of the trace. */
    program.thread[0] =
        THREAD(CREATE(1), READ(0), CALL(allow_unseen), CALL(post_unseen), READ(1), UNLESS(0, 1), BACK(2));
    program.thread[1] = THREAD(DOWN(0), WRITE(1, 1));
    sim_run(&program, &options, &probe_result);
    assert_int_equal(probe_result.verdict, PCT_VERDICT_EXIT);
    assert_in_range(probe_result.steps, PCT_TRACE_BLOCK, PCT_TRACE_BLOCK + 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lock_not_failed),
        cmocka_unit_test(test_disabled_by_others),
        cmocka_unit_test(test_alike),
        cmocka_unit_test(test_told_at_once),
        cmocka_unit_test(test_broadcast_waits_for_mutex),
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_may_wake),
        cmocka_unit_test(test_choose_absent),
        cmocka_unit_test(test_move),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_why),
        cmocka_unit_test(test_why_both),
        cmocka_unit_test(test_bad_choice),
        cmocka_unit_test(test_short_cuts),
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_deadlock_of_some),
        cmocka_unit_test(test_no_deadlock),
        cmocka_unit_test(test_step_bound),
        cmocka_unit_test(test_final_wait),
        cmocka_unit_test(test_final_wait_bound),
        cmocka_unit_test(test_exit_handler_waits),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_unseen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
