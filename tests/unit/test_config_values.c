/* Unit tests of common/config.c: whole numbers as users write them, and the variables of the environment. Links with:
 * common/ *.c. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "../../common/config.h"
#include "../../common/text.h"
#include "../../strategies/strategies.h"
#include <errno.h>
#include <string.h>

static char error[512];

/* The message of a refusal: one line that has this in it. */
static void assert_says(const char *part)
{
    size_t length = strnlen(error, sizeof error);
    assert_true(length > 0 && length < sizeof error);
    assert_null(strchr(error, '\n'));
    if (!strstr(error, part))
        fail_msg("'%s' is not in '%s'", part, error);
}

static void test_numbers(void **unused)
{
    (void)unused;
    uint64_t value = 77;
    assert_int_equal(pct_config_parse_u64(&value, "0", 0, 9, "x", error, sizeof error), 0);
    assert_int_equal(value, 0);
    assert_int_equal(pct_config_parse_u64(&value, "0x1f", 0, 99, "x", error, sizeof error), 0);
    assert_int_equal(value, 31);
    assert_int_equal(pct_config_parse_u64(&value, "0XaB", 0, 999, "x", error, sizeof error), 0);
    assert_int_equal(value, 171);
    assert_int_equal(pct_config_parse_u64(&value, "010", 0, 99, "x", error, sizeof error), 0);
    assert_int_equal(value, 10); /* decimal: no octal numbers */
    assert_int_equal(pct_config_parse_u64(&value, "18446744073709551615", 0, UINT64_MAX, "x", error, sizeof error), 0);
    assert_int_equal(value, UINT64_MAX);
    assert_int_equal(pct_config_parse_u64(&value, "0xffffffffffffffff", 0, UINT64_MAX, "x", error, sizeof error), 0);
    assert_int_equal(value, UINT64_MAX);

    value = 77;
    static const char *const bad[] = {
        "", "0x", "x", "1 ", " 1", "+1", "-1", "1.0", "1e3", "0xg", "f", "1_000", "\xff"
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(pct_config_parse_u64(&value, bad[i], 0, UINT64_MAX, "PCT_SEED", error, sizeof error), -EINVAL);
        assert_says("PCT_SEED: '");
        assert_says("is not a whole number; it must be 0 to 18446744073709551615");
    }
    static const char *const big[] = { "18446744073709551616", "18446744073709551620", "99999999999999999999999999",
                                       "0x10000000000000000", "184467440737095516150" };
    for (size_t i = 0; i < sizeof big / sizeof big[0]; i++) {
        assert_int_equal(pct_config_parse_u64(&value, big[i], 0, UINT64_MAX, "x", error, sizeof error), -EINVAL);
        assert_says("is out of range");
    }
    assert_int_equal(pct_config_parse_u64(&value, "3", 4, 9, "x", error, sizeof error), -EINVAL);
    assert_int_equal(pct_config_parse_u64(&value, "10", 4, 9, "x", error, sizeof error), -EINVAL);
    assert_says("x: '10' is out of range; it must be 4 to 9");
    assert_int_equal(value, 77);

    /* Messages are cut to their buffer. */
    char small[8];
    for (size_t size = 0; size <= sizeof small; size++) {
        memset(small, '#', sizeof small);
        assert_int_equal(pct_config_parse_u64(&value, "y", 0, 9, "x", small, size), -EINVAL);
        if (size)
            assert_int_equal(small[size - 1], '\0');
        for (size_t i = size; i < sizeof small; i++)
            assert_int_equal(small[i], '#');
    }
}

/* What --focus says, as a token has it, and back. */
static void test_focus(void **unused)
{
    (void)unused;
    struct pct_config config = { .focus = "" }, again = { .focus = "" };
    char text[sizeof config.focus], large[200];
    assert_int_equal(pct_config_parse_focus(&config, "Queue::push,src/a.c,lib.so+0x10", "x", error, sizeof error), 0);
    assert_string_equal(config.focus, "Queue%3a%3apush/src%2fa.c/lib.so+0x10");
    pct_config_format_focus(&config, text, sizeof text);
    assert_string_equal(text, "Queue::push,src/a.c,lib.so+0x10");
    assert_int_equal(pct_config_take_focus(&again, config.focus, "x", error, sizeof error), 0);
    assert_string_equal(again.focus, config.focus);
    static const char *const foreign[] = { "", "a%", "a%2", "a%zz", "a%2F", "a%61", "a b", "a//b", "a/", "%2c" };
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        assert_int_equal(pct_config_take_focus(&again, foreign[i], "x", error, sizeof error), -EINVAL);
    assert_int_equal(pct_config_parse_focus(&config, ",a", "x", error, sizeof error), -EINVAL);
    assert_says("x: there is an empty pattern in ',a'");
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    assert_int_equal(pct_config_parse_focus(&config, large, "x", error, sizeof error), -EINVAL);
    assert_says("too long for a token");
}

/* The same for --functions. */
static void test_functions(void **unused)
{
    (void)unused;
    struct pct_config config = { .focus = "" }, again = { .focus = "" };
    char text[sizeof config.functions], large[sizeof config.functions + 1];
    assert_int_equal(pct_config_parse_functions(&config, "Queue::push,libq.so.1:pop*", "x", error, sizeof error), 0);
    assert_string_equal(config.functions, "Queue%3a%3apush/libq.so.1%3apop*");
    pct_config_format_functions(&config, text, sizeof text);
    assert_string_equal(text, "Queue::push,libq.so.1:pop*");
    assert_int_equal(pct_config_take_functions(&again, config.functions, "x", error, sizeof error), 0);
    assert_string_equal(again.functions, config.functions);
    assert_int_equal(pct_config_take_functions(&again, "a:b", "x", error, sizeof error), -EINVAL);
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    assert_int_equal(pct_config_parse_functions(&config, large, "x", error, sizeof error), -EINVAL);
    assert_says("too long for a token");
}

/* The same for --watch, which has less room. */
static void test_watch(void **unused)
{
    (void)unused;
    struct pct_config config = { .focus = "" }, again = { .focus = "" };
    char text[sizeof config.watch], large[sizeof config.watch + 1];
    assert_int_equal(pct_config_parse_watch(&config, "Queue::head:4,+0x10:8,count", "x", error, sizeof error), 0);
    assert_string_equal(config.watch, "Queue%3a%3ahead%3a4/+0x10%3a8/count");
    assert_string_equal(config.focus, "");
    pct_config_format_watch(&config, text, sizeof text);
    assert_string_equal(text, "Queue::head:4,+0x10:8,count");
    assert_int_equal(pct_config_take_watch(&again, config.watch, "x", error, sizeof error), 0);
    assert_string_equal(again.watch, config.watch);
    assert_int_equal(pct_config_take_watch(&again, "a:4", "x", error, sizeof error), -EINVAL);
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    assert_int_equal(pct_config_parse_watch(&config, large, "x", error, sizeof error), -EINVAL);
    assert_says("too long for a token");
    assert_int_equal(pct_config_take_watch(&config, large, "x", error, sizeof error), -EINVAL);
}

static void test_sample(void **unused)
{
    (void)unused;
    struct pct_config config = { .sample = 7 };
    assert_int_equal(pct_config_parse_sample(&config, "25", "x", error, sizeof error), 0);
    assert_int_equal(config.sample, 25);
    assert_false(config.sample_fixed);
    assert_int_equal(pct_config_parse_sample(&config, "5-4711", "x", error, sizeof error), 0);
    assert_int_equal(config.sample, 5);
    assert_true(config.sample_fixed);
    assert_int_equal(config.sample_seed, 4711);
    static const char *const bad[] = { "0", "100", "", "-", "5-", "-5", "5-x", "1000000000-1" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(pct_config_parse_sample(&config, bad[i], "x", error, sizeof error), -EINVAL);
}

static void test_ordered(void **unused)
{
    (void)unused;
    struct pct_config config = { .ordered = 7 };
    assert_int_equal(pct_config_parse_ordered(&config, "00ff1234567890ab", "x", error, sizeof error), 0);
    assert_true(config.ordered == UINT64_C(0x00ff1234567890ab));
    static const char *const bad[] = {
        "", "12", "0000000000000000", "00ff1234567890abc", "00FF1234567890ab", "g0ff1234567890ab"
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(pct_config_parse_ordered(&config, bad[i], "x", error, sizeof error), -EINVAL);
    assert_says("x: not 16 hexadecimal digits");
}

/* Half of the runs have the final wait before the handlers of exit, a quarter behind them, a quarter has none. What is
 * not drawn stays. */
static void test_end(void **unused)
{
    (void)unused;
    enum { SEEDS = 4000 };
    uint32_t count[PCT_END_COUNT] = { 0 };
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        count[pct_end_of_run(PCT_END_DRAWN, seed)]++;
        assert_int_equal(pct_end_of_run(PCT_END_PLAIN, seed), PCT_END_PLAIN);
        assert_int_equal(pct_end_of_run(PCT_END_BEHIND, seed), PCT_END_BEHIND);
    }
    assert_int_equal(count[PCT_END_BEFORE] + count[PCT_END_BEHIND] + count[PCT_END_FREE], SEEDS);
    assert_in_range(count[PCT_END_BEFORE], SEEDS / 2 - 150, SEEDS / 2 + 150);
    assert_in_range(count[PCT_END_FREE], SEEDS * PCT_DRAWN_FREE / PCT_DRAWN_ENDS - 130,
                    SEEDS * PCT_DRAWN_FREE / PCT_DRAWN_ENDS + 130);
}

/* k is drawn over all scales, from the seed alone, where it was neither given nor is the strategy's own. */
static void test_drawn_k(void **unused)
{
    (void)unused;
    enum { SEEDS = 2000, SCALES = 8 };
    static const struct pct_param params[] = { { .name = "depth" }, { .name = "k", .default_value = 1000 }, { 0 } };
    const struct pct_strategy strategy = { .name = "x", .params = params };
    uint32_t count[14] = { 0 };
    struct pct_config config = { .strategy = "x", .run.param = { 0, 1000 } }, again = config;
    for (config.run.seed = 1; config.run.seed <= SEEDS; config.run.seed++) {
        pct_config_draw_k(&config, &strategy);
        again.run.seed = config.run.seed;
        pct_config_draw_k(&again, &strategy);
        assert_int_equal(config.run.param[1], again.run.param[1]);
        assert_in_range(config.run.param[1], 32, 8191);
        count[63 - __builtin_clzll(config.run.param[1])]++;
    }
    for (unsigned i = 5; i < 5 + SCALES; i++)
        assert_in_range(count[i], SEEDS / SCALES - 60, SEEDS / SCALES + 60);
    config.run.param[0] = 10000;
    pct_config_draw_k(&config, &strategy);
    assert_int_equal(config.run.param[1], 10000);
    config.run.param[1] = 7;
    config.given = 2;
    pct_config_draw_k(&config, &strategy);
    assert_int_equal(config.run.param[1], 7);
    config.given = 0;
    strcpy(config.strategy, "./x.so");
    pct_config_draw_k(&config, &strategy);
    assert_int_equal(config.run.param[1], 7);
}

static void test_variables(void **unused)
{
    (void)unused;
#define KNOWN(name, value, help) assert_null(pct_config_unknown_variable(#name));
    PCT_VARIABLES(KNOWN)
#undef KNOWN
    assert_string_equal(pct_config_unknown_variable("PCT_SEDE"), "PCT_SEED");
    assert_string_equal(pct_config_unknown_variable("PCT_STRATGEY"), "PCT_STRATEGY");
    assert_string_equal(pct_config_unknown_variable("PCT_MAXSTEPS"), "PCT_MAX_STEPS");
    assert_string_equal(pct_config_unknown_variable("PCT_TOKENS"), "PCT_TOKEN");
    assert_string_equal(pct_config_unknown_variable("PCT_SOMETHING_ELSE"), "");
    assert_string_equal(pct_config_unknown_variable(""), "");
    assert_string_equal(pct_config_unknown_variable("LD_PRELOAD"), "");
}

/* Slack: one text for each time, what is settled where nobody says it, and that half of the seeds have it. */
static void test_slack(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *again;
        uint64_t ns;
    } fine[] = { { "0", "0", 0 },
                 { "0s", "0", 0 },
                 { "20ms", "20ms", 20000000 },
                 { "1000us", "1ms", 1000000 },
                 { "1500000ns", "1500us", 1500000 },
                 { "1000s", "1000s", PCT_SLACK_MOST } };
    static const char *const wrong[] = {
        "", "ms", "20", "1001s", "-1ms", "20 ms", "1.5ms", "99999999999999999999999ns"
    };
    struct pct_config config = { .strategy = "pct" };
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        char again[32];
        struct pct_text text;
        assert_int_equal(pct_config_parse_slack(&config, fine[i].text, "slack", error, sizeof error), 0);
        assert_int_equal(config.slack, fine[i].ns);
        pct_text_init(&text, again, sizeof again);
        pct_config_add_slack(&text, config.slack);
        assert_string_equal(again, fine[i].again);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(pct_config_parse_slack(&config, wrong[i], "slack", error, sizeof error), -EINVAL);
    assert_int_equal(config.slack, PCT_SLACK_MOST);

    config.slack = PCT_SLACK_UNSAID;
    pct_config_settle_slack(&config, &pct_strategy_pct);
    assert_int_equal(config.slack, PCT_SLACK_DEFAULT);
    config.slack = PCT_SLACK_UNSAID;
    pct_config_settle_slack(&config, &pct_strategy_schedule);
    assert_int_equal(config.slack, 0);
    config.slack = 5;
    pct_config_settle_slack(&config, &pct_strategy_schedule);
    assert_int_equal(pct_config_draw_slack(&config, &pct_strategy_schedule), 5);
    config.real_time = true;
    pct_config_settle_slack(&config, &pct_strategy_pct);
    assert_int_equal(config.slack, 0);

    unsigned with = 0;
    config.slack = 7;
    for (config.run.seed = 0; config.run.seed < 10000; config.run.seed++)
        with += pct_config_draw_slack(&config, &pct_strategy_pct) == 7;
    assert_in_range(with, 4800, 5200);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_numbers),   cmocka_unit_test(test_focus),
                                        cmocka_unit_test(test_slack),     cmocka_unit_test(test_watch),
                                        cmocka_unit_test(test_functions), cmocka_unit_test(test_sample),
                                        cmocka_unit_test(test_ordered),   cmocka_unit_test(test_variables),
                                        cmocka_unit_test(test_end),       cmocka_unit_test(test_drawn_k) };
    return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
