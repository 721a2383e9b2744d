/* Slack: waits whose deadline is near may time out while other threads could run (sched/slack.c). */
#include "probe.h"
#include <math.h>
#include <strategies/strategies.h>

enum { RECORDS = 4096 };
static uint64_t records[RECORDS];

/* How many steps of this operation the last run made, and which was the first, from 1. */
static uint32_t count(enum pct_op op, uint64_t *first)
{
    uint32_t found = 0;
    for (uint64_t i = probe_result.recorded; i-- > 0;)
        if (PCT_RECORD_OP(records[i]) == op) {
            found++;
            *first = i + 1;
        }
    return found;
}

static struct sim_options with_slack(uint64_t slack)
{
    return (struct sim_options){ .slack = slack, .records = records, .max = RECORDS };
}

/* Main makes many steps; the other thread, which is preferred, sleeps for a millisecond. */
static const struct sim_program sleeper = { .thread = { THREAD(CREATE(1), READ(0), REPEAT(2000, 1)),
                                                        THREAD(SLEEP(1000000), WRITE(0, 1)) } };

/* As soon as the deadline is near enough, and not before. Main's `create`, then `start` and `sleep`. */
static void test_near(void **unused)
{
    (void)unused;
    static const uint64_t slacks[] = { 1000000, 20000000, 990000, 500000, 1 };
    for (unsigned i = 0; i < sizeof slacks / sizeof *slacks; i++) {
        uint64_t at = 0, slack = slacks[i], waits = slack < 1000000 ? (1000000 - slack + 999) / 1000 : 0;
        assert_int_equal(probe_run_with(&sleeper, PREFER_NEW, PCT_UNLIMITED, with_slack(slack)), PCT_VERDICT_EXIT);
        uint32_t early = count(PCT_OP_DEADLINE, &at);
        if (slack == 1) { /* time passes by whole steps */
            assert_int_equal(early, 0);
            continue;
        }
        assert_int_equal(early, 1);
        /* The sleep began with step 3, whose time is the start of the wait or just behind it. */
        assert_in_range(at, 4 + waits - 1, 4 + waits + 1);
        uint64_t ahead = PCT_RECORD_TIME(records[at - 1]);
        assert_in_range(ahead, (slack < 1000000 ? slack : 1000000) / 1000 - 2, 1000);
        assert_int_equal(PCT_RECORD_OP(records[at]), PCT_OP_AWAKE);
        assert_int_equal(probe_result.deadlines, 1);
    }
    uint64_t at = 0;
    assert_int_equal(probe_run_with(&sleeper, PREFER_NEW, PCT_UNLIMITED, with_slack(0)), PCT_VERDICT_EXIT);
    assert_int_equal(count(PCT_OP_DEADLINE, &at), 0);
    assert_int_equal(probe_result.deadlines, 1);
}

/* Whoever waits early is found by what it waits for, until it is chosen. */
static void test_still_woken(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(READ(0), UP(0), JOIN(1)),
                                                     THREAD(DOWN_FOR(0, 1000), STORE(1)) } };
    struct sim_program preferred = program;
    const struct sim_op creates[] = { CREATE(1), READ(0), UP(0), JOIN(1), { .kind = SIM_END } };
    preferred.thread[0] = creates;
    uint64_t at = 0;
    assert_int_equal(probe_run_with(&preferred, PREFER_OLD, PCT_UNLIMITED, with_slack(20000000)), PCT_VERDICT_EXIT);
    assert_int_equal(count(PCT_OP_DEADLINE, &at), 0);
    assert_int_equal(probe_result.var[1], 1);
    assert_int_equal(probe_run_with(&preferred, PREFER_NEW, PCT_UNLIMITED, with_slack(20000000)), PCT_VERDICT_EXIT);
    assert_int_equal(count(PCT_OP_DEADLINE, &at), 1);
    assert_int_equal(probe_result.var[1], 0);
}

/* The deadline passes while another thread holds the mutex that the wait comes back with: the thread then waits for
 * that, as it would natively, and a replay, which has no slack, does the same. */
static void test_mutex_is_held(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), LOCK(0), READ(0), REPEAT(3, 1), SIGNAL(0),
                                                            UNLOCK(0), JOIN(1)),
                                                     THREAD(LOCK(0), WAIT_FOR(0, 0, 50000), STORE(1), UNLOCK(0)) },
                                         .var = { 0, 9 } };
    uint64_t at = 0;
    assert_int_equal(probe_run_with(&program, PREFER_NEW, PCT_UNLIMITED, with_slack(48000)), PCT_VERDICT_EXIT);
    struct sim_result first = probe_result;
    assert_int_equal(count(PCT_OP_DEADLINE, &at), 1);
    assert_int_equal(PCT_RECORD_THREAD(records[at - 1]), 1);
    assert_int_equal(PCT_RECORD_THREAD(records[at]), 0);
    assert_int_equal(probe_result.var[1], 0); /* it timed out, though a signal came before it had the mutex */
    struct sim_options replay = { .replay = records, .replay_count = first.recorded };
    assert_int_equal(probe_run_with(&program, PREFER_OLD, 1, replay), PCT_VERDICT_EXIT);
    assert_int_equal(probe_result.hash, first.hash);
    assert_int_equal(probe_result.virtual_ns, first.virtual_ns);
}

/* An early thread is none that can run: with no other left, time jumps to the first deadline, without a step. */
static void test_nobody_else(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), SLEEP(1000), WRITE(0, 1), JOIN(1)),
                                                     THREAD(SLEEP(500000), READ(0), STORE(1)) } };
    uint64_t at = 0;
    assert_int_equal(probe_run_with(&program, PREFER_OLD, PCT_UNLIMITED, with_slack(20000000)), PCT_VERDICT_EXIT);
    assert_int_equal(probe_result.var[1], 1);
    assert_true(count(PCT_OP_DEADLINE, &at) <= 1);
}

/* Half of the waits may end early, by the seed. */
static void test_coins(void **unused)
{
    (void)unused;
    enum { RUNS = 2000 };
    uint32_t early = 0;
    for (uint64_t seed = 0; seed < RUNS; seed++) {
        struct sim_options options = with_slack(20000000);
        uint64_t at = 0;
        options.slack_coins = true;
        options.run.seed = seed;
        assert_int_equal(probe_run_with(&sleeper, PREFER_NEW, PCT_UNLIMITED, options), PCT_VERDICT_EXIT);
        early += count(PCT_OP_DEADLINE, &at);
    }
    assert_in_range(early, RUNS / 2 - 5 * sqrt(RUNS) / 2, RUNS / 2 + 5 * sqrt(RUNS) / 2);
}

/* What docs/GUARANTEE.md says of runs with slack: a bug of depth 1 that needs one wait to end early is found by one of
 * 2 n of them, and by none without. */
static void test_bound(void **unused)
{
    (void)unused;
    enum { RUNS = 4000 };
    const struct sim_program program = { .thread = { THREAD(CREATE(1), SLEEP(1000000), CHECK(0, 1), JOIN(1)),
                                                     THREAD(LOCK(0), UNLOCK(0), REPEAT(5, 2), WRITE(0, 1)) } };
    for (int slack = 0; slack < 2; slack++) {
        uint32_t found = 0;
        for (uint64_t seed = 0; seed < RUNS; seed++) {
            struct sim_options options = sim_defaults(&pct_strategy_pct);
            options.run.seed = seed;
            options.slack = slack ? 20000000 : 0;
            options.slack_coins = true;
            sim_set(&options, "depth", 1);
            found += probe_run_with(&program, PREFER_NEW, PCT_UNLIMITED, options) == PCT_VERDICT_ASSERTION;
        }
        if (!slack)
            assert_int_equal(found, 0);
        else /* the bound less five standard deviations */
            assert_true(found >= RUNS / 4.0 - 5 * sqrt(RUNS * 0.25 * 0.75));
    }
}

/* Strategies that follow a list let a wait end early where that says so. */
static void test_lists(void **unused)
{
    (void)unused;
    static const struct {
        const struct pct_strategy *strategy;
        const char *list;
        uint32_t early;
    } lists[] = {
        { &pct_strategy_schedule, "", 0 },
        { &pct_strategy_schedule, "0.1.1-1.1.1-1.2.1", 1 },
        { &pct_strategy_order, "", 0 },
        { &pct_strategy_order, "1.4.0.9", 1 }, /* the fourth operation of thread 1 comes before the ninth of main */
    };
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct sim_options options = with_slack(20000000);
        uint64_t at = 0;
        options.strategy = lists[i].strategy;
        options.run.list = lists[i].list;
        assert_int_equal(probe_run_with(&sleeper, PREFER_NEW, PCT_UNLIMITED, options), PCT_VERDICT_EXIT);
        if (count(PCT_OP_DEADLINE, &at) != lists[i].early)
            fail_msg("%s: %s", lists[i].strategy->name, lists[i].list);
    }
}

/* Waits that the outside can end have no slack: their time is the world's. */
static void test_not_outside(void **unused)
{
    (void)unused;
    const struct sim_program program = { .thread = { THREAD(CREATE(1), READ(0), REPEAT(20, 1), JOIN(1)),
                                                     THREAD(DOWN_SHARED_FOR(0, 500000), STORE(1)) } };
    uint64_t at = 0;
    assert_int_equal(probe_run_with(&program, PREFER_NEW, PCT_UNLIMITED, with_slack(20000000)), PCT_VERDICT_EXIT);
    assert_int_equal(count(PCT_OP_DEADLINE, &at), 0);
    assert_int_equal(probe_result.deadlines, 0);
    assert_int_equal(probe_result.fixed_deadlines, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_near),        cmocka_unit_test(test_still_woken), cmocka_unit_test(test_mutex_is_held),
        cmocka_unit_test(test_nobody_else), cmocka_unit_test(test_coins),       cmocka_unit_test(test_bound),
        cmocka_unit_test(test_lists),       cmocka_unit_test(test_not_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
