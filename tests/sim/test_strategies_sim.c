/* The built-in strategies under the real scheduler, on the simulated host: runs end, repeat by their seed, differ
 * between seeds, and threads that make no progress do not starve those that could. That each strategy is what its paper
 * says is tested in tests/unit/ (step by step) and in test_guarantee.c (by its probabilities). */
#include "../sample.h"
#include "probe.h"
#include <math.h>
#include <strategies/strategies.h>

enum { PARAM_DEPTH, PARAM_K };

/* Operations of all kinds; 70 to 90 steps. Always ends. */
static const struct sim_op worker[] = { LOCK(0),   READ(0),      ADD(1),     STORE(0),
                                        UNLOCK(0), REPEAT(3, 5), LOCK(1),    WAIT_FOR(0, 1, 30000),
                                        UNLOCK(1), BARRIER(0),   TRYLOCK(2), UNLESS(1, 1),
                                        UNLOCK(2), YIELD,        DOWN(0),    { .kind = SIM_END } };
static const struct sim_program busy = { .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3), READ(1), SIGNAL(0),
                                                            SLEEP(5000), BROADCAST(0), UP(0), UP(0), UP(0), JOIN(1),
                                                            JOIN(2), JOIN(3), CHECK(0, 9)),
                                                     worker, worker, worker },
                                         .barrier = { 3 } };

static bool by_chance(const struct pct_strategy *strategy)
{
    return strategy != &pct_strategy_round_robin && strategy != &pct_strategy_none &&
           strategy != &pct_strategy_schedule;
}

/* The same seed makes the same run, another seed mostly another one; without chance there is one run. */
static void test_repeats(void **unused)
{
    (void)unused;
    enum { SEEDS = 300 };
    static uint64_t hash[SEEDS];
    for (const struct pct_strategy *const *strategy = pct_strategies; *strategy; strategy++) {
        struct sim_options options = sim_defaults(*strategy);
        sim_set(&options, "k", *strategy == &pct_strategy_tapct ? 50 : 90);
        sim_set(&options, "n", 25);
        uint32_t different = 0;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            options.run.seed = seed;
            assert_int_equal(probe_run_with(&busy, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
            assert_int_equal(probe_result.threads, 4);
            hash[seed] = probe_result.hash;
            /* What was run in between leaves no mark. */
            options.run.seed = seed / 2;
            assert_int_equal(probe_run_with(&busy, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
            assert_int_equal(probe_result.hash, hash[seed / 2]);
            bool seen = false;
            for (uint64_t other = 0; other < seed; other++)
                seen |= hash[other] == hash[seed];
            different += !seen;
        }
        print_message("# %-16s %u different runs with %d seeds\n", (*strategy)->name, different, SEEDS);
        if (by_chance(*strategy))
            assert_true(different > SEEDS * 8 / 10);
        else
            assert_int_equal(different, 1);
    }
}

/* Priorities that are not strict: threads of a lower one run in between, far oftener than change points let them. */
static void test_large(void **unused)
{
    (void)unused;
    const struct pct_strategy *const strategy[] = { &pct_strategy_pct, &pct_strategy_pct_large,
                                                    &pct_strategy_random_walk };
    uint64_t preemptions[3] = { 0 };
    for (unsigned i = 0; i < 3; i++) {
        struct sim_options options = sim_defaults(strategy[i]);
        sim_set(&options, "depth", 3);
        sim_set(&options, "k", 90);
        for (options.run.seed = 0; options.run.seed < 300; options.run.seed++) {
            assert_int_equal(probe_run_with(&busy, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
            preemptions[i] += probe_result.preemptions;
        }
    }
    print_message("# preemptions in 300 runs: pct %u, pct-large %u, random-walk %u\n", (unsigned)preemptions[0],
                  (unsigned)preemptions[1], (unsigned)preemptions[2]);
    assert_true(preemptions[1] > 2 * preemptions[0] && 2 * preemptions[1] < 3 * preemptions[2]);
}

/* Also the parameters at their ends: every run ends, and audits. */
static void test_parameters(void **unused)
{
    (void)unused;
    for (const struct pct_strategy *const *strategy = pct_strategies; *strategy; strategy++)
        for (uint32_t i = 0; (*strategy)->params && (*strategy)->params[i].name; i++)
            for (uint64_t seed = 0; seed < 40; seed++) {
                struct sim_options options = sim_defaults(*strategy);
                options.run.seed = seed;
                options.run.param[i] = seed % 2 ? (*strategy)->params[i].min : (*strategy)->params[i].max;
                assert_int_equal(probe_run_with(&busy, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
            }
}

/* --- Spinners ----------------------------------------------------------------------------------------------------- */

/* Three threads wait for a fourth in a loop, each in its own way of making no progress; the fourth has work to do
 * first. */
#define SPIN(way) THREAD(READ(0), UNLESS(0, 2), way, BACK(3))
static const struct sim_program spinners[] = {
    { .name = "yield",
      .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3), READ(0), UNLESS(0, 2), YIELD, BACK(3)), SPIN(YIELD),
                  SPIN(YIELD) } },
    { .name = "failed trylock",
      .thread = { THREAD(LOCK(0), CREATE(1), CREATE(2), CREATE(3), READ(0), UNLESS(0, 2), TRYLOCK(0), BACK(3)),
                  SPIN(TRYLOCK(0)), SPIN(TRYLOCK(0)) } },
    { .name = "failed trywait",
      .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3), READ(0), UNLESS(0, 2), TRYDOWN(0), BACK(3)), SPIN(TRYDOWN(0)),
                  SPIN(TRYDOWN(0)) } },
    { .name = "sleep of no length",
      .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3), READ(0), UNLESS(0, 2), SLEEP(0), BACK(3)), SPIN(SLEEP(0)),
                  SPIN(SLEEP(0)) } },
    { .name = "short sleep",
      .thread = { THREAD(CREATE(1), CREATE(2), CREATE(3), READ(0), UNLESS(0, 2), SLEEP(1500), BACK(3)),
                  SPIN(SLEEP(700)), SPIN(SLEEP(2500)) } },
};

static void test_no_starvation(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof spinners / sizeof *spinners; i++)
        for (const struct pct_strategy *const *strategy = pct_strategies; *strategy; strategy++) {
            if (*strategy == &pct_strategy_none)
                continue;
            struct sim_program program = spinners[i];
            program.thread[3] = THREAD(READ(1), READ(1), YIELD, REPEAT(10, 3), WRITE(0, 1));
            uint64_t most = 0;
            for (uint64_t seed = 0; seed < sampled(300); seed++) {
                struct sim_options options = sim_defaults(*strategy);
                options.run.seed = seed;
                options.max_steps = 20000;
                if (probe_run_with(&program, PREFER_NEW, 1, options) != PCT_VERDICT_EXIT)
                    fail_msg("%s, %s, seed %lu: verdict %d after %lu steps", program.name, (*strategy)->name,
                             (unsigned long)seed, (int)probe_result.verdict, (unsigned long)probe_result.steps);
                most = probe_result.steps > most ? probe_result.steps : most;
            }
            print_message("# %-18s %-16s at most %lu steps\n", program.name, (*strategy)->name, (unsigned long)most);
        }
}

/* Section 4.1 of the PCT paper, "starvation free": a spin puts the thread below all others with a small probability,
 * 1/16 here. With two threads and depth 1, the one of higher priority spins until then: a geometric distribution. */
static void test_pct_spins(void **unused)
{
    (void)unused;
    enum { SEEDS = 8000, INVERSE = 16 };
    const struct sim_program program = { .thread = { THREAD(CREATE(1), READ(0), UNLESS(0, 2), YIELD, BACK(3)),
                                                     THREAD(WRITE(0, 1)) } };
    double sum = 0, runs = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct sim_options options = sim_defaults(&pct_strategy_pct);
        options.run.seed = seed;
        options.run.param[PARAM_DEPTH] = 1;
        assert_int_equal(probe_run_with(&program, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
        /* Create, then read and yield until thread 1 starts; the yield at which main is put below it is still to
         * come. */
        uint64_t at = 0;
        while (PCT_RECORD_THREAD(sim.sched.records[at]) == 0)
            at++;
        if (at == 1)
            continue; /* thread 1 had the higher priority */
        assert_int_equal(at % 2, 0);
        runs++;
        sum += (double)(at / 2);
    }
    /* Half of the seeds put main first. */
    assert_true(fabs(runs - SEEDS / 2.0) < 5 * sqrt(SEEDS / 4.0));
    /* Mean 16, standard deviation 15.5; within five of the mean's, which a correct program misses once in 1.7
     * million. */
    double sigma = sqrt(INVERSE * (INVERSE - 1.0)) / sqrt(runs);
    assert_true(fabs(sum / runs - INVERSE) < 5 * sigma);
}

/* `none` promises no fairness of its own: the running thread goes on until it blocks. */
static void test_none_stays(void **unused)
{
    (void)unused;
    struct sim_options options = sim_defaults(&pct_strategy_none);
    options.max_steps = 5000;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), READ(0), UNLESS(0, 2), YIELD, BACK(3)),
                                                     THREAD(WRITE(0, 1)) } };
    assert_int_equal(probe_run_with(&program, PREFER_NEW, 1, options), PCT_VERDICT_LIVELOCK);
    assert_int_equal(probe_result.switches, 0);
}

/* Round-robin: `quantum` steps each, in the order of ids, until one blocks or finishes. */
static void test_round_robin_turns(void **unused)
{
    (void)unused;
    const struct sim_op body[] = { READ(0), REPEAT(97, 1), { .kind = SIM_END } };
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), READ(0), REPEAT(97, 1)), body,
                                                     body } };
    for (uint64_t quantum = 2; quantum < 40; quantum++) { /* so that all are created in the first turn */
        struct sim_options options = sim_defaults(&pct_strategy_round_robin);
        options.run.param[0] = quantum;
        assert_int_equal(probe_run_with(&program, PREFER_NEW, 1, options), PCT_VERDICT_EXIT);
        uint64_t at = 0, left[3] = { 100, 99, 99 };
        for (uint32_t turn = 0; at < probe_result.steps; turn++)
            for (uint64_t i = 0; i < quantum && left[turn % 3]; i++, at++, left[turn % 3]--)
                assert_int_equal(PCT_RECORD_THREAD(sim.sched.records[at]), turn % 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_repeats),           cmocka_unit_test(test_large),     cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_no_starvation),     cmocka_unit_test(test_pct_spins), cmocka_unit_test(test_none_stays),
        cmocka_unit_test(test_round_robin_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
