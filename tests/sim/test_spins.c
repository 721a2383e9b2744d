/* Threads that make no progress: spins, livelocks, polling, and those that starve behind them. On the simulated host,
 * as test_rules.c. */
#include "probe.h"
#include <strategies/strategies.h>

/* Counted since the thread last blocked; the next pick follows at once, whatever budget is left. */
static void test_spins(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), LOCK(0), YIELD, YIELD, READ(0), YIELD, DOWN(0),
                                                            YIELD, UNLOCK(0)),
                                                     THREAD(TRYLOCK(0), TRYLOCK(0), TRYDOWN(1), UP(0)) } };
    assert_int_equal(probe_run(&program, PREFER_OLD, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    static const struct {
        uint32_t thread;
        uint64_t spins;
    } expected[] = { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 1, 1 }, { 1, 2 }, { 1, 3 }, { 0, 1 } };
    assert_int_equal(probe.spins, 7);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(probe.spin[i].thread, expected[i].thread);
        assert_int_equal(probe.spin[i].spins, expected[i].spins);
    }
    /* Before each yield of main: after create and lock, after the first yield, after the read. */
    assert_pick(2, 2, 1, 0, PCT_WHY_BUDGET);
    assert_pick(3, 3, 1, 0, PCT_WHY_BUDGET);
    assert_pick(4, 5, 2, 0, PCT_WHY_BUDGET);
    assert_pick(5, 6, 1, 0, PCT_WHY_BLOCKED);
    assert_pick(6, 8, 2, 1, PCT_WHY_BUDGET); /* after start and the first trylock, which failed */
}

/* A sleep is a spin, and ends with the count at 0 again: the thread was blocked. */
static void test_spins_sleep(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(YIELD, SLEEP(5000), YIELD, SLEEP(0), YIELD) } };
    assert_int_equal(probe_run(&program, PREFER_OLD, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    static const uint64_t expected[] = { 1, 2, 1, 2, 3 };
    assert_int_equal(probe.spins, 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(probe.spin[i].spins, expected[i]);
}

/* A million spins in a row, by whichever threads, are a livelock. */
static void test_livelock(void **unused)
{
    (void)unused;
    const struct sim_program yields = { .thread = { THREAD(CREATE(1), YIELD, BACK(1)), THREAD(YIELD, BACK(1)) } };
    const struct sim_program sleeps = { .thread = { THREAD(CREATE(1), SLEEP(5000), BACK(1)), THREAD(YIELD, BACK(1)) } };
    const struct sim_program *const programs[] = { &yields, &sleeps };
    for (size_t i = 0; i < 2; i++) {
        struct sim_options options = { .strategy = &pct_strategy_round_robin, .run.param = { 10 } };
        sim_run(programs[i], &options, &probe_result);
        assert_null(probe_result.broken);
        assert_int_equal(probe_result.verdict, PCT_VERDICT_LIVELOCK);
        assert_non_null(strstr(probe_result.message, "million steps"));
        assert_in_range(sim.sched.progress.in_a_row, PCT_LIVELOCK_SPINS, 2 * PCT_LIVELOCK_SPINS);
    }
    /* Not if somebody makes progress in between: three other steps between two spins. */
    const struct sim_program progress = { .thread = { THREAD(YIELD, READ(0), READ(0), READ(0), BACK(4)) } };
    struct sim_options options = { .strategy = &pct_strategy_round_robin, .run.param = { 10 }, .max_steps = 4200000 };
    sim_run(&progress, &options, &probe_result);
    assert_string_equal(probe_result.message, "the step bound was reached");
    assert_int_equal(sim.sched.progress.in_a_row, 1);
}

/* Threads may spin for as long as something that is pending may end it: a deadline far away, to which time jumps,
 * ... */
static void test_spins_until(void **unused)
{
    (void)unused;
    const int64_t minute = 60 * INT64_C(1000000000);
    const struct sim_program sleeper = { .thread = { THREAD(CREATE(1), CREATE(1), SLEEP(minute), EXIT_NOW),
                                                     THREAD(YIELD, BACK(1)) } };
    struct sim_options options = { .strategy = &pct_strategy_round_robin, .run.param = { 10 } };
    sim_run(&sleeper, &options, &probe_result);
    assert_null(probe_result.broken);
    assert_int_equal(probe_result.verdict, PCT_VERDICT_EXIT);
    assert_in_range(pct_steps(&sim.sched), PCT_LIVELOCK_SPINS, 2 * PCT_LIVELOCK_SPINS);
    /* ... also where each of them sleeps for a moment, so that the first deadline is another one's; ... */
    const struct sim_program naps = { .thread = { THREAD(CREATE(1), CREATE(1), SLEEP(minute), EXIT_NOW),
                                                  THREAD(SLEEP(10000), BACK(1)) } };
    sim_run(&naps, &options, &probe_result);
    assert_null(probe_result.broken);
    assert_int_equal(probe_result.verdict, PCT_VERDICT_EXIT);
    assert_in_range(pct_steps(&sim.sched), PCT_LIVELOCK_SPINS, 9 * PCT_LIVELOCK_SPINS);
    /* ... also beside a relative that sleeps: a parent that waits. */
    struct sim_program child = sleeper;
    child.relative = 1;
    sim_run(&child, &options, &probe_result);
    assert_null(probe_result.broken);
    assert_int_equal(probe_result.verdict, PCT_VERDICT_EXIT);
    assert_in_range(pct_steps(&sim.sched), PCT_LIVELOCK_SPINS, 2 * PCT_LIVELOCK_SPINS);
    /* ... or the world outside. */
    const struct sim_program waiter = { .thread = { THREAD(CREATE(1), CREATE(1), DOWN_SHARED(0)),
                                                    THREAD(YIELD, BACK(1)) } };
    options.max_steps = 2 * PCT_LIVELOCK_SPINS + 1000;
    sim_run(&waiter, &options, &probe_result);
    assert_string_equal(probe_result.message, "the step bound was reached");
}

/* A thread that looks at something under a lock, over and over, is spinning: after some blocks of nothing else. Not if
 * nobody else could run, and not if its rounds are long. */
static void test_polling(void **unused)
{
    (void)unused;
    enum { ROUNDS = (PCT_POLLING_BLOCKS + 3) * PCT_TRACE_BLOCK / 3 };
    const struct sim_program polls = { .thread = { THREAD(CREATE(1), READ(1), REPEAT(1000, 1), JOIN(1)),
                                                   THREAD(LOCK(0), READ(0), UNLOCK(0), REPEAT(ROUNDS, 3)) } };
    assert_int_equal(probe_run(&polls, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    /* The block that made it certain, and then the steps that are enough to know it again, and the ends of blocks. */
    const uint64_t known = PCT_POLLING_STEPS / 3;
    assert_in_range(probe.spins, PCT_TRACE_BLOCK / 3 + known,
                    PCT_TRACE_BLOCK / 3 + (PCT_TRACE_BLOCK / PCT_POLLING_STEPS + 1) * known);
    assert_int_equal((probe.spins - PCT_TRACE_BLOCK / 3) % known, 0);
    assert_int_equal(probe.spin[0].thread, 1);
    assert_int_equal(probe_run(&polls, PREFER_OLD, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(probe.spins, 0); /* main waits in join */
    const struct sim_program works = { .thread = { THREAD(CREATE(1), READ(1), JOIN(1)),
                                                   THREAD(LOCK(0), READ(0), UNLOCK(0), READ(1), READ(2), READ(1),
                                                          READ(2), READ(1), READ(2), READ(1), READ(2), READ(1), READ(2),
                                                          READ(1), READ(2), READ(1), READ(2), REPEAT(ROUNDS, 17)) } };
    assert_int_equal(probe_run(&works, PREFER_NEW, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_int_equal(probe.spins, 0);
}

/* Threads that go on until another one has run let it run, though nothing tells that they spin, not even to the test
 * for polling. Not before it has starved for long. */
static void test_starving(void **unused)
{
    (void)unused;
    const struct sim_program program = {
        .thread = { THREAD(CREATE(1), CREATE(2), READ(1), READ(1), CALL(note_step), WRITE(0, 1), JOIN(1), JOIN(2)),
                    THREAD(READ(1), READ(2), READ(1), READ(2), READ(1), READ(2), READ(1), READ(2), READ(1), READ(2),
                           READ(1), READ(2), READ(1), READ(2), READ(1), READ(2), READ(0), UNLESS(0, 1), BACK(18)),
                    THREAD(LOCK(0), READ(1), UNLOCK(0), READ(2), READ(1), READ(2), READ(1), READ(2), READ(1), READ(2),
                           READ(1), READ(2), READ(1), READ(2), READ(1), READ(2), READ(0), UNLESS(0, 1), BACK(18)) }
    };
    unsigned starved = 0;
    for (const struct pct_strategy *const *strategy = pct_strategies; *strategy; strategy++) {
        struct sim_options options = sim_defaults(*strategy);
        options.max_steps = 10 * PCT_STARVATION_STEPS;
        for (options.run.seed = 0; options.run.seed < 4; options.run.seed++) {
            assert_int_equal(probe_run_with(&program, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
            assert_in_range(probe_result.steps, 1, 10 * PCT_STARVATION_STEPS);
            starved += sim.note[0] > PCT_STARVATION_STEPS;
        }
    }
    assert_in_range(starved, 10, 40); /* of 60 */
}

/* Threads that do nothing but wake one another until another one has run let it run soon: with time-outs between, too.
 * Not where there are many kinds of what they do. */
static void test_polling_together(void **unused)
{
    (void)unused;
    const struct sim_program wakes = { .thread = { THREAD(CREATE(1), CREATE(2), READ(1), WRITE(0, 1), CALL(note_step),
                                                          JOIN(1), JOIN(2)),
                                                   THREAD(UP(0), DOWN_FOR(1, 1000), READ(0), UNLESS(0, 1), BACK(4)),
                                                   THREAD(UP(1), DOWN_FOR(0, 1000), READ(0), UNLESS(0, 1), BACK(4)) } };
    const struct sim_program works = {
        .thread = { THREAD(CREATE(1), CREATE(2), READ(1), WRITE(0, 1), CALL(note_step), JOIN(1), JOIN(2)),
                    THREAD(UP(0), DOWN(1), READ(0), READ(1), READ(2), READ(3), READ(4), READ(5), READ(6), READ(7),
                           READ(8), READ(9), READ(10), READ(11), READ(12), READ(13), READ(14), READ(15), READ(0),
                           UNLESS(0, 1), BACK(20), UP(0)),
                    THREAD(UP(1), DOWN(0), READ(0), READ(1), READ(2), READ(3), READ(4), READ(5), READ(6), READ(7),
                           READ(8), READ(9), READ(10), READ(11), READ(12), READ(13), READ(14), READ(15), READ(0),
                           UNLESS(0, 1), BACK(20), UP(1)) }
    };
    const uint64_t soon = (uint64_t)PCT_STARVATION_BLOCKS * PCT_TRACE_BLOCK;
    struct sim_options options = sim_defaults(&pct_strategy_pct);
    options.max_steps = 4 * PCT_STARVATION_STEPS;
    uint32_t starved = 0, worked = 0;
    for (options.run.seed = 0; options.run.seed < 20; options.run.seed++) {
        sim_run(&wakes, &options, &probe_result);
        assert_int_equal(probe_result.verdict, PCT_VERDICT_EXIT);
        assert_in_range(sim.note[0], 1, 4 * soon);
        starved += sim.note[0] > soon;
        sim_run(&works, &options, &probe_result);
        assert_int_equal(probe_result.verdict, PCT_VERDICT_EXIT);
        worked += sim.note[0] > PCT_STARVATION_STEPS;
    }
    assert_in_range(starved, 3, 17);
    assert_in_range(worked, 3, 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spins),
        cmocka_unit_test(test_spins_sleep),
        cmocka_unit_test(test_livelock),
        cmocka_unit_test(test_spins_until),
        cmocka_unit_test(test_polling),
        cmocka_unit_test(test_starving),
        cmocka_unit_test(test_polling_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
