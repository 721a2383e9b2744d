/* What hold is for: a bug that each of n threads could hide is found as often with many as with few. Under the real
 * scheduler, on the simulated host; the strategy itself is tested in tests/unit/test_strategies_hold.c. */
#include "probe.h"
#include <strategies/strategies.h>

enum { FEW = 2, MANY = 24, SEEDS = 2000, CHECKER = 1, SETTER = 2, FIRST = 0, SECOND = 1 };

static const struct sim_op check[] = { TRYDOWN(FIRST), UNLESS(1, 3), TRYDOWN(SECOND),
                                       UNLESS(0, 1),   CHECK(0, 1),  { .kind = SIM_END } };
static const struct sim_op set[] = { UP(FIRST), UP(SECOND), { .kind = SIM_END } };

/* How often the checker finds the first semaphore posted, and the second one not by any setter. */
static uint32_t count_failures(const struct pct_strategy *strategy, uint32_t setters, uint64_t object)
{
    struct sim_op begin[MANY + 2] = { CREATE(CHECKER) };
    for (uint32_t i = 0; i < setters; i++)
        begin[1 + i] = (struct sim_op)CREATE(SETTER);
    begin[1 + setters] = (struct sim_op){ .kind = SIM_END };
    const struct sim_program program = { .thread = { begin, check, set } };
    struct sim_options options = sim_defaults(strategy);
    if (object) {
        sim_set(&options, "object", object);
        sim_set(&options, "kind", 2);
    }
    uint32_t failures = 0;
    for (options.run.seed = 0; options.run.seed < SEEDS; options.run.seed++) {
        struct sim_result result;
        sim_run(&program, &options, &result);
        assert_true(result.verdict == PCT_VERDICT_EXIT || result.verdict == PCT_VERDICT_ASSERTION);
        failures += result.verdict == PCT_VERDICT_ASSERTION;
    }
    return failures;
}

static void test_rate(void **unused)
{
    (void)unused;
    /* The numbers are those of first use: the second semaphore is the second object in most runs. */
    uint32_t few = count_failures(&pct_strategy_hold, FEW, 2), many = count_failures(&pct_strategy_hold, MANY, 2);
    uint32_t others = count_failures(&pct_strategy_pos, MANY, 0);
    print_message("# hold: %u of %d runs with %d setters, %u with %d; pos: %u\n", few, SEEDS, FEW, many, MANY, others);
    assert_true(few > SEEDS / 5 && many > SEEDS / 5);
    assert_true(others < SEEDS / 10);
}

/* A thread that is held with a lock that the others need is let go first: nobody waits for ever. */
static void test_owner(void **unused)
{
    (void)unused;
    const struct sim_op owner[] = { LOCK(0), UP(FIRST), UNLOCK(0), { .kind = SIM_END } };
    const struct sim_program program = { .thread = { THREAD(CREATE(1), CREATE(1), CREATE(1), JOIN(1)), owner } };
    struct sim_options options = sim_defaults(&pct_strategy_hold);
    for (uint64_t object = 1; object <= 2; object++)
        for (uint64_t kind = 1; kind <= 2; kind++)
            for (options.run.seed = 0; options.run.seed < 200; options.run.seed++) {
                struct sim_result result;
                sim_set(&options, "object", object);
                sim_set(&options, "kind", kind);
                sim_run(&program, &options, &result);
                assert_int_equal(result.verdict, PCT_VERDICT_EXIT);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate),
        cmocka_unit_test(test_owner),
    };
    return cmocka_run_group_tests_name("hold", tests, NULL, NULL);
}
