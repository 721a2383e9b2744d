/* Runs near a failing one (cli/campaign/nearby.h): lists that the strategy takes, that are the same for the same
 * number, and that differ by little. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cli/campaign/nearby.h>
#include <pct/strategy.h>
#include <stdlib.h>
#include <strategies/strategies.h>
#include <string.h>

enum { STEPS = 24, NUMBERS = 500 };

/* Threads 0 to 2 by turns, two steps each. */
static struct pct_trace make(uint64_t *records, unsigned steps)
{
    for (unsigned i = 0; i < steps; i++)
        records[i] = PCT_RECORD(i / 2 % 3, PCT_OP_MUTEX_LOCK, 0, 1 + i);
    return (struct pct_trace){ .records = records, .count = steps, .complete = true };
}

static void test_lists(void **unused)
{
    (void)unused;
    static uint64_t records[STEPS];
    struct pct_trace trace = make(records, STEPS);
    struct pct_config config = { .epoch = 1 };
    struct pct_nearby nearby;
    unsigned different = 0;
    assert_true(pct_nearby_open(&nearby, &config, &trace));
    assert_string_equal(nearby.config.strategy, "schedule");
    char *list = pct_switches_format(&nearby.switches, NULL);
    for (uint64_t number = 0; number < NUMBERS; number++) {
        struct pct_switches switches;
        const char *why = NULL;
        char *made = pct_nearby_get(&nearby, number), *again = pct_nearby_get(&nearby, number);
        assert_non_null(made);
        assert_string_equal(made, again);
        assert_int_equal(pct_switches_parse(&switches, made), 0);
        assert_in_range(switches.count, nearby.switches.count - 3, nearby.switches.count + 3);
        pct_switches_free(&switches);
        struct pct_run of_list = { .list = made };
        void *state = calloc(1, pct_strategy_schedule.state_size(&of_list));
        assert_non_null(state);
        assert_int_equal(pct_strategy_schedule.start(state, &of_list, &why), 0);
        free(state);
        different += strcmp(made, list) != 0;
        free(made);
        free(again);
    }
    assert_in_range(different, NUMBERS / 2, NUMBERS);
    free(list);
    pct_nearby_close(&nearby);
}

/* More switches than a token has room for. */
static void test_many(void **unused)
{
    (void)unused;
    static uint64_t records[1200];
    struct pct_config config = { .epoch = 1 };
    struct pct_nearby nearby;
    struct pct_trace large = make(records, 1200);
    assert_true(pct_nearby_open(&nearby, &config, &large));
    char *list = pct_nearby_get(&nearby, 1);
    assert_non_null(list);
    assert_true(strlen(list) >= PCT_LIST_MAX);
    free(list);
    pct_nearby_close(&nearby);
}

static void test_none(void **unused)
{
    (void)unused;
    static uint64_t records[2];
    struct pct_config config = { .epoch = 1 };
    struct pct_nearby nearby;
    struct pct_trace one = make(records, 2);
    assert_false(pct_nearby_open(&nearby, &config, &one)); /* nothing to change */
    pct_nearby_close(&nearby);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_lists), cmocka_unit_test(test_many),
                                        cmocka_unit_test(test_none) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
