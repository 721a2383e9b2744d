/* Unit tests of what strategies are told of many threads at once. Links with: strategies/ *.c. */
#include "abstract_run.h"
#include "../../strategies/strategies.h"

enum { CROWD = 200 };

/* A run of CROWD threads of which now some, now many are enabled or disabled; at least thread 0 is enabled. at_once:
 * many are told of by one call. A hash of who was picked. */
static uint64_t crowded(const struct pct_strategy *strategy, uint64_t seed, bool at_once)
{
    struct pct_run run = { .seed = seed };
    for (int i = 0; strategy->params && strategy->params[i].name; i++)
        run.param[i] = strategy->params[i].default_value;
    void *state = new_state(strategy, &run);
    const char *why = NULL;
    assert_int_equal(strategy->start(state, &run, &why), 0);
    bool enabled[CROWD] = { false };
    uint64_t random = seed, hash = 0, step = 0;
    uint32_t current = PCT_NO_THREAD, count = 0;
    for (uint32_t t = 0; t < CROWD; t++) {
        const struct pct_operation next = { .op = PCT_OP_MUTEX_LOCK, .object = 1 + t % 3 };
        if (strategy->created)
            strategy->created(state, t);
        if (strategy->announce)
            strategy->announce(state, t, &next);
    }
    for (int round = 0; round < 300; round++) {
        uint16_t changed[CROWD];
        uint32_t many = 0, most = 1 + (uint32_t)test_below(&random, CROWD);
        bool on = !round || test_below(&random, 2);
        for (uint32_t t = 0; t < most; t++)
            if (enabled[t] != on && (on || t)) {
                enabled[t] = on;
                changed[many++] = (uint16_t)t;
            }
        count = on ? count + many : count - many;
        if (at_once && many)
            (on ? strategy->enable_all : strategy->disable_all)(state, changed, many);
        for (uint32_t i = 0; !at_once && i < many; i++)
            (on ? strategy->enable : strategy->disable)(state, changed[i]);
        bool here = current != PCT_NO_THREAD && enabled[current];
        struct pct_point point = { .step = step,
                                   .ran = !!round,
                                   .current = current,
                                   .enabled = count,
                                   .why = !round ? PCT_WHY_START
                                          : here ? PCT_WHY_BUDGET
                                                 : PCT_WHY_BLOCKED };
        current = strategy->pick(state, &point).thread;
        assert_true(current < CROWD && enabled[current]);
        hash = (hash ^ current) * UINT64_C(0x100000001b3);
        step++;
    }
    free_state(strategy, &run, state);
    return hash;
}

/* To be told of many threads at once is to be told of each of them, in that order. */
static void test_at_once(void **unused)
{
    (void)unused;
    for (const struct pct_strategy *const *at = pct_strategies; *at; at++)
        for (uint64_t seed = 0; seed < 40; seed++)
            assert_int_equal(crowded(*at, seed, true), crowded(*at, seed, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_at_once) };
    return cmocka_run_group_tests_name("strategies that are told of many threads", tests, NULL, NULL);
}
