/* The clock of a budget of runs counts what they have used, not what they have waited for a CPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cli/campaign/busy_clock.h>

#define NEAR 1e-9

static double counts(double passed, double ran, double waited, double used, double patience, unsigned jobs)
{
    const struct pct_busy_span since = { passed, ran, waited, used };
    return pct_busy_clock_counts(&since, patience, jobs);
}

static void real_time_counts_where_nothing_waits(void **state)
{
    (void)state;
    assert_float_equal(counts(2, 0.1, 0, 0.5, 15, 1), 2, NEAR);
    assert_float_equal(counts(2, 0, 0, 0, 15, 1), 2, NEAR);
}

static void waits_for_a_cpu_do_not_count(void **state)
{
    (void)state;
    assert_float_equal(counts(8, 0.1, 0.3, 1, 15, 1), 2, NEAR);
    /* As if it had been made on an idle machine. */
    assert_float_equal(counts(20, 0.1, 0.9, 2, 15, 1), counts(2, 0.1, 0, 2, 15, 1), NEAR);
}

static void patience_has_an_end(void **state)
{
    (void)state;
    assert_float_equal(counts(30, 0.1, 10, 0.1, 15, 1), 2, NEAR);
    assert_float_equal(counts(30, 0.1, 10, 0.1, 2, 1), 15, NEAR);
    assert_float_equal(counts(30, 0.1, 10, 0.1, 0, 1), 30, NEAR);
}

static void what_runs_use_counts_in_any_case(void **state)
{
    (void)state;
    assert_float_equal(counts(20, 0.1, 1.9, 4, 15, 1), 4, NEAR);
    /* Two at a time use twice as much of it. */
    assert_float_equal(counts(20, 0.1, 1.9, 4, 15, 2), 2, NEAR);
    assert_float_equal(counts(20, 0.1, 1.9, 4, 15, 0), 4, NEAR);
    /* But no more than there has been. */
    assert_float_equal(counts(1, 0.1, 0, 3, 15, 1), 1, NEAR);
}

static void it_begins_at_zero_and_does_not_go_back(void **state)
{
    (void)state;
    struct pct_busy_clock clock;
    pct_busy_clock_start(&clock, 0, 1);
    double first = pct_busy_clock_now(&clock), second = pct_busy_clock_now(&clock);
    assert_true(first >= 0 && second >= first);
    double slower = pct_busy_clock_slower(15);
    assert_true(slower >= 1 && slower <= 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_time_counts_where_nothing_waits),
        cmocka_unit_test(waits_for_a_cpu_do_not_count),
        cmocka_unit_test(patience_has_an_end),
        cmocka_unit_test(what_runs_use_counts_in_any_case),
        cmocka_unit_test(it_begins_at_zero_and_does_not_go_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
