/* The strategies that follow a list: `schedule` makes the switches that it is told and none without need, `order` keeps
 * to its constraints wherever that is possible; and which plans of `explore` begin alike. */

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <pct/trace.h>
#include <stdlib.h>
#include <strategies/explore.h>
#include <strategies/schedule.h>
#include <strategies/strategies.h>
#include <string.h>

enum { THREADS = 3, STEPS = 6 };

/* Threads of STEPS operations each that never block, run by a strategy; writes who made each step. */
static void play(char *out, const struct pct_strategy *strategy, const char *list, uint64_t seed)
{
    struct pct_run run = { .seed = seed, .list = list };
    const char *why = NULL;
    size_t size = (strategy->state_size(&run) + 63u) & ~(size_t)63;
    void *state = aligned_alloc(64, size);
    memset(state, 0, size);
    assert_int_equal(strategy->start(state, &run, &why), 0);
    uint32_t made[THREADS] = { 0 }, enabled = THREADS, current = PCT_NO_THREAD;
    struct pct_operation next = { .op = PCT_OP_YIELD };
    for (uint32_t t = 0; t < THREADS; t++) {
        if (strategy->announce)
            strategy->announce(state, t, &next);
        strategy->enable(state, t);
    }
    uint64_t step = 0, ran = 0;
    while (enabled) {
        enum pct_why why_now = current == PCT_NO_THREAD ? PCT_WHY_START
                               : made[current] == STEPS ? PCT_WHY_FINISHED
                                                        : PCT_WHY_BUDGET;
        struct pct_point point = { .step = step, .ran = ran, .current = current, .enabled = enabled, .why = why_now };
        struct pct_choice choice = strategy->pick(state, &point);
        current = choice.thread;
        assert_true(current < THREADS && made[current] < STEPS);
        for (ran = 0; ran < (choice.budget ? choice.budget : 1) && made[current] < STEPS; ran++) {
            out[step++] = (char)('0' + current);
            made[current]++;
            next.op = made[current] % 2 ? PCT_OP_CLOCK : PCT_OP_YIELD;
            if (strategy->announce)
                strategy->announce(state, current, &next);
        }
        if (made[current] == STEPS) {
            enabled--;
            strategy->disable(state, current);
        }
    }
    out[step] = 0;
    free(state);
}

static void test_schedule(void **unused)
{
    (void)unused;
    static const struct {
        const char *list, *expected;
    } cases[] = {
        { NULL, "000000111111222222" },
        { "", "000000111111222222" },
        { "0.2.2", "002222220000111111" }, /* the lowest goes on when it has finished */
        { "0.2.1-1.3.0", "001110000111222222" },
        { "0.6.2", "000000222222111111" }, /* a thread that has finished is followed by whom the list says */
        { "0.9.1", "000000111111222222" }, /* it never comes so far */
        { "0.2.2-2.1.0-0.3.1-1.6.0", "002011111100022222" },
        { "1.6.0-0.2.2", "002222220000111111" }, /* 0 is no longer there */
        { "0.2.w1", "000000111111222222" },      /* and no wake is chosen */
    };
    char made[THREADS * STEPS + 1];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t seed = 0; seed < 3; seed++) {
            play(made, &pct_strategy_schedule, cases[i].list, seed);
            assert_string_equal(made, cases[i].expected);
        }
}

static void test_wakes(void **unused)
{
    (void)unused;
    struct pct_run run = { .list = "0.0.w2-0.3.w1" };
    const char *why = NULL;
    void *state = calloc(1, pct_strategy_schedule.state_size(&run));
    assert_int_equal(pct_strategy_schedule.start(state, &run, &why), 0);
    pct_strategy_schedule.enable(state, 0);
    struct pct_point point = { .current = PCT_NO_THREAD, .enabled = 1, .why = PCT_WHY_START };
    assert_int_equal(pct_strategy_schedule.pick(state, &point).thread, 0);
    assert_int_equal(pct_strategy_schedule.choose(state, 3, 0), 2);
    assert_int_equal(pct_strategy_schedule.choose(state, 3, 1), 0);
    assert_int_equal(pct_strategy_schedule.choose(state, 2, 3), 1);
    assert_int_equal(pct_strategy_schedule.choose(state, 2, 4), 0);
    free(state);
}

/* A thread that is back from outside stands before something else, though it has made nothing. */
static void test_back(void **unused)
{
    (void)unused;
    struct pct_run run = { .list = "0.1.a0-0.2.b1-1.1.b0" };
    const char *why = NULL;
    void *state = calloc(1, pct_strategy_schedule.state_size(&run));
    assert_int_equal(pct_strategy_schedule.start(state, &run, &why), 0);
    for (uint32_t t = 0; t < 3; t++)
        pct_strategy_schedule.enable(state, t);
    struct pct_point point = { .current = PCT_NO_THREAD, .enabled = 3, .why = PCT_WHY_START };
    assert_int_equal(pct_strategy_schedule.pick(state, &point).thread, 0);
    assert_false(pct_strategy_schedule_returned(state, 0, 1));
    assert_false(pct_strategy_schedule_returned(state, 1, 2));
    point = (struct pct_point){ .step = 2, .ran = 2, .enabled = 3, .why = PCT_WHY_BUDGET };
    assert_int_equal(pct_strategy_schedule.pick(state, &point).thread, 0); /* it is not back yet */
    assert_true(pct_strategy_schedule_returned(state, 0, 2));
    point.ran = 0;
    assert_int_equal(pct_strategy_schedule.pick(state, &point).thread, 1);
    assert_false(pct_strategy_schedule_returned(state, 1, 2));
    free(state);
    run.list = "0.2.b1-0.2.1";
    state = calloc(1, pct_strategy_schedule.state_size(&run));
    assert_int_not_equal(pct_strategy_schedule.start(state, &run, &why), 0);
    free(state);
}

/* The step at which a thread made its operation of this number, from 1. */
static int at(const char *made, char thread, int number)
{
    int i = 0;
    for (; made[i] && number; i++)
        number -= made[i] == thread;
    return i;
}

static void test_order(void **unused)
{
    (void)unused;
    char made[THREADS * STEPS + 1];
    bool other = false;
    for (uint64_t seed = 0; seed < 200; seed++) {
        play(made, &pct_strategy_order, "0.3.1.2-1.4.2.1", seed);
        assert_true(at(made, '0', 3) < at(made, '1', 2) && at(made, '1', 4) < at(made, '2', 1));
        _Static_assert(PCT_OP_YIELD == 50 && PCT_OP_CLOCK == 53, "the numbers in the list");
        /* By kinds: operations 2, 4 and 6 of a thread are reads of the clock, the others yields. */
        play(made, &pct_strategy_order, "2.53x3.0.50x2", seed);
        assert_true(at(made, '2', 6) < at(made, '0', 3));
        play(made, &pct_strategy_order, "", seed);
        other = other || at(made, '2', 6) > at(made, '0', 3);
        /* They contradict each other: the run goes on all the same. */
        play(made, &pct_strategy_order, "0.3.1.2-1.2.0.3", seed);
        assert_int_equal(strlen(made), THREADS * STEPS);
    }
    assert_true(other);
}

/* A signal wakes whom the list says, or anybody else: by number, and by kind and count. */
static void test_order_wakes(void **unused)
{
    (void)unused;
    _Static_assert(PCT_OP_COND_SIGNAL == 18, "the number in the list");
    struct pct_run run = { .list = "0.18x2.w2-0.4.n1-1.18x1.w2", .seed = 1 };
    const struct pct_strategy *order = &pct_strategy_order;
    const char *why = NULL;
    void *state = calloc(1, order->state_size(&run));
    assert_int_equal(order->start(state, &run, &why), 0);
    order->enable(state, 0);
    struct pct_operation signal = { .op = PCT_OP_COND_SIGNAL }, yield = { .op = PCT_OP_YIELD };
    /* Thread 0 signals, yields, signals, signals. */
    static const bool signals[] = { true, false, true, true };
    static const bool allowed[][2] = { { true, true }, { true, true }, { false, true }, { false, true } };
    for (uint64_t step = 0; step < 4; step++) {
        struct pct_point point = { .step = step, .enabled = 1, .why = step ? PCT_WHY_BUDGET : PCT_WHY_START };
        order->announce(state, 0, signals[step] ? &signal : &yield);
        assert_int_equal(order->pick(state, &point).thread, 0);
        for (uint32_t waiter = 1; waiter <= 2; waiter++)
            assert_int_equal(order->may_wake(state, waiter, step), allowed[step][waiter - 1]);
        assert_int_equal(order->may_wake(state, 3, step), step != 2);
    }
    free(state);
}

/* Whom the strategy lets go on when thread 0 has stored, by a step that was announced before and one behind it, as a
 * watchpoint tells of it; thread 1 is about to do something else. */
static uint32_t after_watched(const char *list, uint64_t seed)
{
    _Static_assert(PCT_OP_LOAD == 74 && PCT_OP_STORE == 75, "the numbers in the list");
    const struct pct_strategy *order = &pct_strategy_order;
    struct pct_run run = { .list = list, .seed = seed };
    struct pct_operation store = { .op = PCT_OP_STORE }, yield = { .op = PCT_OP_YIELD };
    const char *why = NULL;
    void *state = calloc(1, order->state_size(&run));
    assert_int_equal(order->start(state, &run, &why), 0);
    order->announce(state, 0, &store);
    order->enable(state, 0);
    struct pct_point point = { .current = PCT_NO_THREAD, .enabled = 1, .why = PCT_WHY_START };
    assert_int_equal(order->pick(state, &point).thread, 0);
    order->announce(state, 1, &yield);
    order->enable(state, 1);
    order->announce(state, 0, &store);
    point = (struct pct_point){ .step = 2, .ran = 2, .enabled = 2, .why = PCT_WHY_BUDGET };
    uint32_t next = order->pick(state, &point).thread;
    free(state);
    return next;
}

/* Both steps count. Of what comes next nothing is known: it may be what has to wait, as far as it goes by the
 * number. */
static void test_order_watched(void **unused)
{
    (void)unused;
    bool on = false, other = false;
    for (uint64_t seed = 0; seed < 64; seed++) {
        assert_int_equal(after_watched("1.74x1.0.75x3", seed), 1);
        assert_int_equal(after_watched("1.74x1.0.50x1", seed), 1);
        on = on || after_watched("1.74x1.0.75x4", seed) == 0;
        other = other || after_watched("1.74x1.0.75x2", seed) == 0;
    }
    assert_true(on && other);
}

static void test_bad_lists(void **unused)
{
    (void)unused;
    static const char *const switches[] = { "1",         "1.2",         "1.2.",       "1.2.3-", "-1.2.3",
                                            "1.2.3.4",   "a.2.3",       "1.2.x3",     "01.2.3", "32767.1.0",
                                            "1.2.32767", "1.3.0-1.3.2", "1.3.0-1.2.0" };
    static const char *const orders[] = { "1",         "1.2.3",       "1.2.1.3",   "1.0.2.1",     "1.2.2.1-",
                                          "1.2.2.1.3", "1.x2.2.1",    "1.0x2.2.1", "1.127x2.2.1", "1.2x.2.1",
                                          "1.2x0.2.1", "32767.1.0.1", "1.2.w",     "1.2.w1",      "1.2.w32767",
                                          "1.2.w2.1",  "1.2.v2",      "1.2.n" };
    for (size_t i = 0; i < sizeof switches / sizeof *switches + sizeof orders / sizeof *orders; i++) {
        bool first = i < sizeof switches / sizeof *switches;
        const struct pct_strategy *strategy = first ? &pct_strategy_schedule : &pct_strategy_order;
        struct pct_run run = { .list = first ? switches[i] : orders[i - sizeof switches / sizeof *switches] };
        const char *why = NULL;
        void *state = calloc(1, strategy->state_size(&run));
        assert_true(strategy->start(state, &run, &why) < 0);
        assert_non_null(why);
        free(state);
    }
}

/* Whether a run with this plan makes the first two steps of one that has followed 0, 1. */
static bool begins(const uint32_t *plan, uint32_t count)
{
    const uint32_t followed[] = { 0, 1 };
    return pct_explore_begins(plan, count, followed, 2);
}

static void test_explore_begins(void **unused)
{
    (void)unused;
    const uint32_t same[] = { 0, 1, 2 }, other[] = { 0, 2, 1 }, wakes[] = { 0, 1 | 1 << 16, 2 };
    const uint32_t then[] = { 0, 1, PCT_PLAN_THEN(3, 1) }, shorter[] = { 0, PCT_PLAN_THEN(3, 1) };
    const uint32_t walk[] = { 0, 1, PCT_PLAN_WALK(3) };
    assert_true(begins(same, 3));
    assert_true(begins(same, 2));
    assert_false(begins(same, 1));
    assert_false(begins(other, 3));
    assert_false(begins(wakes, 3)); /* another waiter */
    assert_true(begins(then, 3));
    assert_false(begins(shorter, 2));
    assert_false(begins(walk, 3)); /* waiters are drawn by chance */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_schedule),    cmocka_unit_test(test_wakes),
                                        cmocka_unit_test(test_back),        cmocka_unit_test(test_order),
                                        cmocka_unit_test(test_order_wakes), cmocka_unit_test(test_order_watched),
                                        cmocka_unit_test(test_bad_lists),   cmocka_unit_test(test_explore_begins) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
