/* Threads that lose the baton without having passed a point: spins on plain memory, sleeps in calls that nobody knows.
 * A simulated thread that spins or sleeps is its own watchdog (simops.c). */
#include "probe.h"
#include <strategies/strategies.h>

enum { MOST = 4096, SEEDS = 100 };
static uint64_t records[MOST];

/* Each spins until the other is as far as itself. */
static const struct sim_program spins = { .name = "spins",
                                          .thread = { THREAD(CREATE(1), CREATE(2), WRITE(0, 1), SPIN_UNTIL(1, 1),
                                                             READ(4), WRITE(0, 2), SPIN_UNTIL(1, 2), JOIN(1), JOIN(2)),
                                                      THREAD(WRITE(1, 1), SPIN_UNTIL(0, 2), LOCK(0), READ(5), UNLOCK(0),
                                                             WRITE(1, 2)),
                                                      THREAD(LOCK(0), SLEEP(3000), UNLOCK(0), SPIN_UNTIL(0, 2)) } };

static struct sim_result run(const struct sim_program *program, const struct pct_strategy *strategy, uint64_t seed)
{
    struct sim_options options = sim_defaults(strategy);
    options.run.seed = seed;
    options.records = records;
    options.max = MOST;
    probe_run_with(program, PREFER_NEW, 1, options);
    if (probe_result.verdict != PCT_VERDICT_EXIT)
        fail_msg("%s, %s, seed %lu: verdict %d: %s", program->name, strategy->name, (unsigned long)seed,
                 (int)probe_result.verdict, probe_result.message);
    return probe_result;
}

/* The schedule that stands in `records`, followed by this program. */
static void assert_replays(const struct sim_program *program, const struct sim_result *recorded)
{
    struct sim_options replay = { .replay = records, .replay_count = recorded->recorded };
    probe_run_with(program, PREFER_NEW, 1, replay);
    if (probe_result.verdict != PCT_VERDICT_EXIT)
        fail_msg("%s: verdict %d: %s", program->name, (int)probe_result.verdict, probe_result.message);
    assert_int_equal(probe_result.steps, recorded->steps);
    assert_int_equal(probe_result.hash, recorded->hash);
}

/* Strategy none leaves the choice to the system: no thread of a controlled run sees it. */
static bool controls(const struct pct_strategy *strategy)
{
    return strcmp(strategy->name, "none");
}

static uint32_t stuck_steps(const struct sim_result *result)
{
    uint32_t count = 0;
    for (uint64_t i = 0; i < result->recorded; i++)
        count += PCT_RECORD_OP(records[i]) == PCT_OP_STUCK;
    return count;
}

/* Under every strategy whoever is waited for gets its turn; the same seed makes the same run, and so does the trace. */
static void test_spins(void **unused)
{
    (void)unused;
    uint32_t stuck = 0;
    for (const struct pct_strategy *const *strategy = pct_strategies; *strategy; strategy++)
        for (uint64_t seed = 0; controls(*strategy) && seed < SEEDS; seed++) {
            struct sim_result first = run(&spins, *strategy, seed), second = run(&spins, *strategy, seed);
            assert_int_equal(first.hash, second.hash);
            assert_int_equal(first.virtual_ns, second.virtual_ns);
            stuck += stuck_steps(&second);
            assert_replays(&spins, &second);
            assert_int_equal(probe_result.virtual_ns, second.virtual_ns);
        }
    assert_true(stuck > SEEDS);
}

/* Only a sleeper can end the spin: time jumps to its deadline. While somebody is outside, it does not. */
static void test_spin_and_sleeper(void **unused)
{
    (void)unused;
    const uint64_t hour = UINT64_C(3600000000000);
    const struct sim_program sleeper = { .name = "sleeper",
                                         .thread = { THREAD(CREATE(1), SPIN_UNTIL(0, 1), JOIN(1)),
                                                     THREAD(SLEEP(3600000000000), WRITE(0, 1)) } };
    struct sim_result result = run(&sleeper, &pct_strategy_pct, 1);
    assert_in_range(result.virtual_ns, hour, hour + hour / 100);
    assert_true(stuck_steps(&result) < 100);
    const struct sim_program outside = { .name = "outside",
                                         .thread = { THREAD(CREATE(1), CREATE(2), SPIN_UNTIL(0, 1), JOIN(1), JOIN(2)),
                                                     THREAD(AWAY(20000), WRITE(0, 1)),
                                                     THREAD(SLEEP(3600000000000), READ(1)) } };
    struct sim_options options = { .records = records, .max = MOST };
    probe_run_with(&outside, PREFER_NEW, PCT_UNLIMITED, options);
    assert_int_equal(probe_result.verdict, PCT_VERDICT_EXIT);
    bool back = false, awake = false;
    for (uint64_t i = 0; i < probe_result.recorded; i++) {
        back |= PCT_RECORD_OP(records[i]) == PCT_OP_OUTSIDE;
        awake |= PCT_RECORD_OP(records[i]) == PCT_OP_AWAKE;
        assert_true(back || !awake);
    }
    assert_true(awake);
}

/* The virtual time that this run takes, whose trace must repeat it. */
static uint64_t time_of(const struct sim_program *program, const struct pct_strategy *strategy, uint64_t seed)
{
    struct sim_result first = run(program, strategy, seed), second = run(program, strategy, seed);
    assert_int_equal(first.hash, second.hash);
    assert_int_equal(first.virtual_ns, second.virtual_ns);
    assert_replays(program, &second);
    assert_int_equal(probe_result.virtual_ns, second.virtual_ns);
    return second.virtual_ns;
}

/* How often this argument stands in `records`, at steps of op STUCK of this thread. */
static uint32_t arguments(uint64_t count, uint32_t thread, uint32_t arg)
{
    uint32_t found = 0;
    for (uint64_t i = 0; i < count; i++)
        found += PCT_RECORD_OP(records[i]) == PCT_OP_STUCK && PCT_RECORD_THREAD(records[i]) == thread &&
                 PCT_RECORD_ARG(records[i]) == arg;
    return found;
}

/* A thread that computes keeps the baton the first time for as long as any does, then for less: each for itself, and
 * spins are not that. */
static void test_computes_again(void **unused)
{
    (void)unused;
    const struct sim_program program = {
        .name = "computes",
        .thread = { THREAD(CREATE(1), CREATE(2), COMPUTE_UNTIL(0, 1), COMPUTE_UNTIL(1, 1), COMPUTE_UNTIL(2, 1),
                           COMPUTE_UNTIL(3, 1), JOIN(1), JOIN(2)),
                    THREAD(SLEEP(1000000), WRITE(0, 1), SLEEP(1000000), WRITE(1, 1), SLEEP(1000000), WRITE(2, 1),
                           SLEEP(1000000), WRITE(3, 1), WRITE(4, 1)),
                    THREAD(SPIN_UNTIL(0, 1), SPIN_UNTIL(1, 1), COMPUTE_UNTIL(4, 1)) }
    };
    uint32_t several = 0;
    for (const struct pct_strategy *const *strategy = pct_strategies; *strategy; strategy++)
        for (uint64_t seed = 0; controls(*strategy) && seed < SEEDS; seed++) {
            uint64_t ns = time_of(&program, *strategy, seed);
            const uint64_t steps = probe_result.steps;
            uint64_t computed = 0;
            for (uint32_t thread = 0; thread < 3; thread++) {
                uint32_t runs = arguments(steps, thread, PCT_ARG_RUNS), again = arguments(steps, thread, PCT_ARG_AGAIN);
                assert_true(runs <= 1 && (runs || !again));
                computed += runs * SIM_RUN_NS + (again ? SIM_RUN_NS / 10 + (again - 1) * PCT_AGAIN_NS : 0);
                computed += arguments(steps, thread, PCT_ARG_SPINS) * PCT_STUCK_NS;
                several += again > 1;
            }
            assert_in_range(ns, computed, computed + 10000000);
        }
    assert_true(several > SEEDS);
}

/* The others go on while one sleeps; it comes back as soon as it can. */
static void test_slept(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), SLEPT(500000), CHECK(0, 1), JOIN(1)),
                                                     THREAD(READ(1), WRITE(0, 1), READ(1), REPEAT(1000, 1)) } };
    assert_int_equal(probe_run(&program, PREFER_STAY, PCT_UNLIMITED), PCT_VERDICT_EXIT);
    assert_in_range(probe_result.real_ns, 500000, 1100000);
}

/* All sleep: nobody holds the baton, and that is no deadlock. */
static void test_all_slept(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(2), SLEPT(500000), JOIN(1), JOIN(2)),
                                                     THREAD(READ(1), SLEPT(900000), READ(1)),
                                                     THREAD(SLEPT(100000), SLEPT(100000), READ(1)) } };
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++)
        assert_int_equal(probe_run(&program, (enum prefer)prefer, 1), PCT_VERDICT_EXIT);
}

static void meet_finished(struct sim *s)
{
    pct_sched_meet_foreign(&s->sched, PCT_FOREIGN_FINISHED);
}

/* Somebody must keep the baton for what a finished thread tells: but not one that is still being made. */
static void test_created_slowly(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CALL(meet_finished), CREATE(1), SLEPT(900000), JOIN(1)),
                                                     THREAD(CREATE_SLOWLY(2, 500000), JOIN(2)), THREAD(WRITE(0, 1)) } };
    for (int prefer = PREFER_NEW; prefer <= PREFER_STAY; prefer++)
        assert_int_equal(probe_run(&program, (enum prefer)prefer, 1), PCT_VERDICT_EXIT);
}

/* A replay by trace does not depend on how long the calls take this time, nor on whether anybody gets stuck at all
 * (if the objects have their numbers: a thread that comes on to its next operation has named that one's). */
static void test_replay_at_other_speeds(void **unused)
{
    (void)unused;
#define SLEEPERS(label, a, b, c)                                                                                       \
    {                                                                                                                  \
        .name = label, .thread = {                                                                                     \
            THREAD(READ(1), READ(2), READ(3), LOCK(0), UNLOCK(0), CREATE(1), CREATE(2), READ(1), a, READ(1), LOCK(0),  \
                   READ(1), UNLOCK(0), JOIN(1), JOIN(2)),                                                              \
            THREAD(READ(2), b, LOCK(0), READ(2), b, UNLOCK(0), SLEEP(2000), READ(2)),                                  \
            THREAD(READ(3), LOCK(0), c, UNLOCK(0), READ(3), YIELD, READ(3))                                            \
        }                                                                                                              \
    }
    const struct sim_program programs[] = { SLEEPERS("recorded", SLEPT(5000), SLEPT(2000), SLEPT(20000)),
                                            SLEEPERS("slower", SLEPT(50000), SLEPT(100000), SLEPT(30000)),
                                            SLEEPERS("faster", SLEPT(1), SLEPT(1), SLEPT(100)),
                                            SLEEPERS("never stuck", SET(0), SET(0), SET(0)) };
    uint32_t stuck = 0;
    for (const struct pct_strategy *const *strategy = pct_strategies; *strategy; strategy++)
        for (uint64_t seed = 0; controls(*strategy) && seed < SEEDS; seed++) {
            struct sim_result recorded = run(&programs[0], *strategy, seed);
            stuck += stuck_steps(&recorded);
            for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++)
                assert_replays(&programs[i], &recorded);
        }
    assert_true(stuck > SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spins),
        cmocka_unit_test(test_spin_and_sleeper),
        cmocka_unit_test(test_computes_again),
        cmocka_unit_test(test_slept),
        cmocka_unit_test(test_all_slept),
        cmocka_unit_test(test_created_slowly),
        cmocka_unit_test(test_replay_at_other_speeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
