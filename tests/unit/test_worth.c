/* Unit tests of cli/campaign/guarantee.c, of how guarantee_report.c rounds, and of what cli/campaign/state.c learns and
 * reads. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/base/cli.h>
#include <cli/campaign/guarantee_report.h>
#include <cli/campaign/guarantee.h>
#include <cli/campaign/sampling.h>
#include <cli/campaign/state.h>
#include <math.h>
#include <pct/random.h>
#include <stdlib.h>
#include <strategies/strategies.h>
#include <string.h>

#define assert_close(a, b) assert_true(fabs((a) - (b)) <= 1e-9 * fabs(b))

static struct pct_guarantee_run run_of(uint32_t n, uint64_t k, uint32_t depth, uint64_t spins)
{
    return (struct pct_guarantee_run){ .threads = n, .k = k, .depth = depth, .spins = spins, .spin_inverse = 16 };
}

static double hit(uint32_t n, uint64_t k, uint32_t depth, uint32_t bug)
{
    struct pct_guarantee_run run = run_of(n, k, depth, 0);
    return pct_guarantee_hit(&run, bug);
}

static void test_hit(void **unused)
{
    (void)unused;
    assert_close(hit(5, 1207, 1, 1), 1.0 / 5);
    assert_close(hit(5, 1207, 2, 2), 1.0 / (5 * 1207.0));
    assert_close(hit(5, 1207, 3, 3), 1.0 / (5 * 1207.0 * 1207.0));
    /* Two of three change points: 3 choose 2 ways, or 3 choose 1 where the second belongs on the last step; one: 3
     * choose 1, or 3 choose 0; none. */
    assert_close(hit(3, 17, 4, 3), 3.0 / (3 * 17.0 * 17 * 17));
    assert_close(hit(3, 17, 4, 2), 1.0 / (3 * 17.0 * 17 * 17));
    assert_close(hit(3, 17, 4, 1), 1.0 / (3 * 17.0 * 17 * 17));
    /* Too few change points; nonsense. */
    assert_true(hit(5, 100, 2, 3) == 0);
    assert_true(hit(5, 100, 2, 0) == 0);
    assert_true(hit(0, 100, 2, 1) == 0);
    assert_true(hit(5, 0, 2, 1) == 0);
    /* One thread has one schedule. */
    assert_true(hit(1, 100, 3, 3) == 1);
    /* Far beyond what a double has digits for. */
    assert_close(hit(32767, UINT64_C(1000000000000), 5, 5), 1 / 32767.0 * 1e-48);
    struct pct_guarantee_run spins = run_of(5, 100, 2, 3);
    assert_close(pct_guarantee_hit(&spins, 2), 1.0 / 500 * pow(15.0 / 16, 3));
    spins.spin_inverse = 1; /* each spin costs the priority */
    assert_true(pct_guarantee_hit(&spins, 2) == 0);
    spins.spin_inverse = 0;
    assert_close(pct_guarantee_hit(&spins, 2), 1.0 / 500);
}

/* depth=auto: 1 and 5 in an eighth of the runs each, 2, 3 and 4 in a quarter. */
/* One run in this many has no final wait, and one in this many the slack that the bug needs: the others find nothing
 * for certain. */
static void test_end(void **unused)
{
    (void)unused;
    struct pct_guarantee_run waits = run_of(2, 10, 2, 0);
    double always = pct_guarantee_hit(&waits, 2);
    waits.end_inverse = 4;
    assert_float_equal(pct_guarantee_hit(&waits, 2), always / 4, 1e-12);
    waits.slack_inverse = 2;
    assert_float_equal(pct_guarantee_hit(&waits, 2), always / 8, 1e-12);
    waits.slack_inverse = 0;
    waits.depth = 0;
    double drawn = pct_guarantee_hit(&waits, 1);
    waits.end_inverse = 0;
    assert_float_equal(drawn, pct_guarantee_hit(&waits, 1) / 4, 1e-12);

    /* A campaign goes by the worst of its runs. */
    struct pct_guarantee g = { 0 };
    struct pct_guarantee_run joined = run_of(2, 10, 1, 0);
    pct_guarantee_add(&g, &joined, 10);
    assert_float_equal(pct_guarantee_log_miss(&g, 1), log(0.5), 1e-12);
    joined.end_inverse = 4;
    pct_guarantee_see(&g, &joined, 10);
    assert_float_equal(pct_guarantee_log_miss(&g, 1), log(1 - 0.5 / 4), 1e-12);
    joined.slack_inverse = 2;
    pct_guarantee_see(&g, &joined, 10);
    assert_float_equal(pct_guarantee_log_miss(&g, 1), log(1 - 0.5 / 8), 1e-12);
}

static void test_drawn_depth(void **unused)
{
    (void)unused;
    double two = 1 / (3 * 17.0), three = two / 17, four = three / 17, five = four / 17;
    assert_close(hit(3, 17, 0, 1), 1 / 24.0 + two / 4 + three / 4 + four / 4 + five / 8);
    assert_close(hit(3, 17, 0, 2), two / 4 + three / 4 + four / 4 + five / 8);
    assert_close(hit(3, 17, 0, 3), three / 4 + 3 * four / 4 + 4 * five / 8);
    assert_close(hit(3, 17, 0, 4), four / 4 + 4 * five / 8);
    assert_close(hit(3, 17, 0, 5), five / 8);
    assert_true(hit(3, 17, 0, 6) == 0);
    assert_true(hit(3, 17, 0, 0) == 0);
    assert_true(hit(1, 17, 0, 2) == 1);
    struct pct_guarantee_run spins = run_of(3, 17, 0, 3);
    assert_close(pct_guarantee_hit(&spins, 2), hit(3, 17, 0, 2) * pow(15.0 / 16, 3));
    /* Runs whose k was too small count for nothing, though some of them had no change point. */
    struct pct_guarantee g = { 0 };
    struct pct_guarantee_run run = run_of(3, 17, 0, 0);
    pct_guarantee_add(&g, &run, 17);
    pct_guarantee_add(&g, &run, 17);
    assert_int_equal(pct_guarantee_counted(&g), 2);
    assert_close(pct_guarantee_log_miss(&g, 2), 2 * log1p(-hit(3, 17, 0, 2)));
    pct_guarantee_add(&g, &run, 18);
    assert_int_equal(pct_guarantee_counted(&g), 0);
    assert_true(pct_guarantee_log_miss(&g, 1) == 0);
}

/* A spinning thread of strategies/pct.c keeps its priority as often as guarantee.h says. Ten thousand seeds, fixed; a
 * correct constant would have been off by five standard deviations with probability 6e-7 when they were chosen. */
static void test_spin_constant(void **unused)
{
    (void)unused;
    enum { SEEDS = 10000 };
    const struct pct_strategy *s = &pct_strategy_pct;
    struct pct_run run = { .threads = 2 };
    for (uint32_t i = 0; s->params[i].name; i++)
        run.param[i] = s->params[i].default_value;
    void *state = aligned_alloc(64, (s->state_size(&run) + 63u) & ~63u);
    assert_non_null(state);
    uint32_t kept = 0;
    for (run.seed = 0; run.seed < SEEDS; run.seed++) {
        memset(state, 0, s->state_size(&run));
        const char *why;
        assert_int_equal(s->start(state, &run, &why), 0);
        for (uint32_t t = 0; t < 2; t++) {
            s->created(state, t);
            s->enable(state, t);
        }
        struct pct_point point = { .current = PCT_NO_THREAD, .enabled = 2, .why = PCT_WHY_START };
        uint32_t first = s->pick(state, &point).thread;
        s->spinning(state, first, 1);
        point = (struct pct_point){ .step = 1, .ran = 1, .current = first, .enabled = 2, .why = PCT_WHY_BUDGET };
        kept += s->pick(state, &point).thread == first;
    }
    free(state);
    double p = 1 - 1.0 / PCT_GUARANTEE_SPIN_INVERSE;
    assert_true(fabs(kept - SEEDS * p) < 5 * sqrt(SEEDS * p * (1 - p)));
}

static void add(struct pct_guarantee *g, struct pct_guarantee_run run, uint64_t steps, int times)
{
    while (times--)
        pct_guarantee_add(g, &run, steps);
}

static void test_miss(void **unused)
{
    (void)unused;
    struct pct_guarantee g = { 0 };
    assert_true(pct_guarantee_log_miss(&g, 1) == 0);
    assert_int_equal(pct_guarantee_least_k(&g), 0);
    add(&g, run_of(3, 9, 1, 0), 20, 1); /* the first run: k is not yet known, and not needed */
    assert_int_equal(pct_guarantee_least_k(&g), 0);
    add(&g, run_of(3, 20, 2, 0), 18, 500);
    assert_int_equal(pct_guarantee_counted(&g), 501);
    assert_close(pct_guarantee_log_miss(&g, 2), 500 * log1p(-1.0 / 60));
    assert_close(pct_guarantee_log_miss(&g, 1), 500 * log1p(-1.0 / 60) + log1p(-1.0 / 3));
    assert_true(pct_guarantee_log_miss(&g, 3) == 0);
    /* A longer run: those with the smaller k no longer count. */
    add(&g, run_of(3, 20, 2, 0), 21, 1);
    assert_int_equal(pct_guarantee_counted(&g), 1);
    assert_true(pct_guarantee_log_miss(&g, 2) == 0);
    assert_int_equal(pct_guarantee_least_k(&g), 0);
    add(&g, run_of(3, 22, 2, 0), 21, 100);
    assert_int_equal(pct_guarantee_counted(&g), 101);
    assert_int_equal(pct_guarantee_least_k(&g), 22);
    assert_close(pct_guarantee_log_miss(&g, 2), 100 * log1p(-1.0 / 66));
    /* A run with more threads: n is the most of all. */
    add(&g, run_of(4, 22, 2, 0), 21, 1);
    assert_close(pct_guarantee_log_miss(&g, 2), 101 * log1p(-1.0 / 88));
    assert_int_equal(g.added, 603);
    /* One that was seen only: it counts for nothing, but n is the most of all. */
    struct pct_guarantee_run other = run_of(5, 22, 2, 0);
    pct_guarantee_see(&g, &other, 20);
    assert_int_equal(g.added, 603);
    assert_int_equal(pct_guarantee_counted(&g), 102);
    assert_close(pct_guarantee_log_miss(&g, 2), 101 * log1p(-1.0 / 110));
    /* Groups that find no place count for nothing. */
    for (uint32_t i = 0; i < 2 * PCT_GUARANTEE_GROUPS; i++)
        add(&g, run_of(4, 30 + i, 2, 0), 21, 1);
    assert_true(pct_guarantee_counted(&g) < 102 + PCT_GUARANTEE_GROUPS);
    assert_int_equal(pct_guarantee_least_k(&g), 22);
}

static void test_missing(void **unused)
{
    (void)unused;
    struct pct_guarantee g = { 0 };
    struct pct_guarantee_run run = run_of(2, 8, 2, 0);
    /* (15/16)^72 = 0.0096 and (15/16)^71 = 0.0102 */
    assert_int_equal(pct_guarantee_missing(&g, &run, 2, 0.99), 72);
    add(&g, run, 8, 30);
    assert_int_equal(pct_guarantee_missing(&g, &run, 2, 0.99), 42);
    add(&g, run, 8, 42);
    assert_int_equal(pct_guarantee_missing(&g, &run, 2, 0.99), 0);
    assert_int_equal(pct_guarantee_missing(&g, &run, 3, 0.5), UINT64_MAX);
    add(&g, run, 9, 1); /* k=8 is too small for all further runs */
    assert_int_equal(pct_guarantee_missing(&g, &run, 2, 0.99), UINT64_MAX);
    /* What it says is enough, and one run fewer is not. */
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct pct_guarantee none = { 0 };
        run = run_of(2 + (uint32_t)pct_random_below(seed, 300, 0, 20), 1 + pct_random_below(seed, 300, 1, 500),
                     1 + (uint32_t)pct_random_below(seed, 300, 2, 3), pct_random_below(seed, 300, 3, 4));
        double confidence = (double)(1 + pct_random_below(seed, 300, 4, 998)) / 1000, h = pct_guarantee_hit(&run, 1);
        uint64_t runs = pct_guarantee_missing(&none, &run, 1, confidence);
        assert_true((double)runs * log1p(-h) <= log1p(-confidence) * (1 - 1e-12));
        assert_true((double)(runs - 1) * log1p(-h) > log1p(-confidence) * (1 + 1e-12));
    }
}

static const char *miss(double probability)
{
    static char text[32];
    return pct_guarantee_report_format_miss(text, sizeof text, log(probability));
}

/* Never rounded down: the text is at least the probability, and little more. */
static void test_rounding(void **unused)
{
    (void)unused;
    assert_string_equal(miss(1), "1");
    assert_string_equal(miss(0.99995), "1");
    assert_string_equal(miss(0.99731), "0.9974");
    assert_string_equal(miss(0.5), "0.50");
    assert_string_equal(miss(0.361), "0.37");
    assert_string_equal(miss(0.0361), "0.037");
    assert_string_equal(miss(0.0099), "0.0099");
    assert_string_equal(miss(6.201e-61), "6.3e-61");
    assert_string_equal(miss(1e-200), "1e-99");
    char text[32];
    assert_string_equal(pct_guarantee_report_format_miss(text, sizeof text, -INFINITY), "1e-99");
    for (uint64_t i = 0; i < 20000; i++) {
        double log_miss = -(double)pct_random_below(1, 301, i, 200000000) / 1e6, p = exp(log_miss);
        double said = strtod(pct_guarantee_report_format_miss(text, sizeof text, log_miss), NULL);
        assert_true(said >= p * (1 - 1e-9));
        assert_true(said <= p * 1.11);
    }
}

/* What the report says of this many runs in a second, each with 5 threads, k points and a bug of depth 1. */
static const char *report(uint64_t runs, uint64_t spins)
{
    static char text[4096];
    static struct pct_campaign c;
    c = (struct pct_campaign){ .strategy = &pct_strategy_pct, .done = runs, .seconds = 1, .randoms = 2 };
    for (int i = 0; pct_strategy_pct.params[i].name; i++) {
        c.k = !strcmp(pct_strategy_pct.params[i].name, "k") ? i : c.k;
        c.depth = !strcmp(pct_strategy_pct.params[i].name, "depth") ? i : c.depth;
    }
    c.config.run.param[c.k] = 100;
    c.config.run.param[c.depth] = 1;
    add(&c.guarantee, run_of(5, 100, 1, spins), 100, (int)runs);
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    pct_guarantee_report_print(out, &c, false);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Runs that exclude nothing have nothing to except, either; nor is anybody told to make runs for a thousand years. */
static void test_report(void **unused)
{
    (void)unused;
    assert_string_equal(report(10, 0),
                        "pct: n = 5 threads, k = 100 points, 10 runs: a bug of depth 1 would have been missed with "
                        "probability at most 0.11 (PCT, theorem 9)\n"
                        "pct: the seed drew random numbers for the program, up to 2 in a run: a bug that needs certain "
                        "ones is not among these\n"
                        "pct: to be 99 % sure of depth 1: --depth 1 --confidence 0.99, 21 runs, about 2.1 s\n");
    assert_string_equal(report(10, 400),
                        "pct: n = 5 threads, k = 100 points, 10 runs: too few to make any bug improbable (PCT, "
                        "theorem 9)\n"
                        "pct: the bound is lower for threads that yield, sleep, poll or fail a try, up to 400 times in "
                        "a run\n"
                        "pct: to be 99 % sure of depth 1 takes 3,747,184,947,229 runs, about 11882 years: fewer with a "
                        "smaller input, or fewer threads\n");
    char text[32];
    static const struct {
        double seconds;
        const char *text;
    } of[] = { { 0.25, "250 ms" },       { 7.51, "7.5 s" },         { 119, "119 s" },
               { 7199, "119 min 59 s" }, { 172799, "47 h 59 min" }, { 172800, "2 days" },
               { 63071999, "729 days" }, { 63072000, "2 years" },   { 1e30, "more than a million years" } };
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        assert_string_equal(pct_cli_format_duration(text, sizeof text, of[i].seconds), of[i].text);
}

static void assert_learned(const struct pct_learned *a, const struct pct_learned *b)
{
    assert_int_equal(a->runs, b->runs);
    assert_int_equal(a->most, b->most);
    assert_int_equal(a->least, b->least);
    assert_int_equal(a->threads, b->threads);
}

static void test_learned(void **unused)
{
    (void)unused;
    struct pct_learned none = { 0 }, now = { 0 };
    pct_learned_add(&now, 20, 3);
    pct_learned_add(&now, 12, 2);
    pct_learned_add(&now, 17, 4);
    assert_int_equal(now.runs, 3);
    assert_int_equal(now.most, 20);
    assert_int_equal(now.least, 12);
    assert_int_equal(now.threads, 4);
    assert_int_equal(pct_learned_k(&now), 21); /* and an eighth of 8 */
    struct pct_learned merged = pct_learned_merge(&none, &now);
    assert_learned(&merged, &now);
    merged = pct_learned_merge(&now, &none);
    assert_learned(&merged, &now);
    /* What was seen now holds at once upward; downward it takes 64 runs for half of the way. */
    struct pct_learned before = { .runs = 1000, .most = 1020, .least = 4, .threads = 12 };
    now.runs = 64;
    merged = pct_learned_merge(&before, &now);
    assert_int_equal(merged.most, 520);
    assert_int_equal(merged.least, 8);
    assert_int_equal(merged.threads, 8);
    assert_int_equal(merged.runs, 1064);
    now.runs = 1;
    assert_true(pct_learned_merge(&before, &now).most > 1005);
    now.runs = 100000;
    assert_int_equal(pct_learned_merge(&before, &now).most, 20);
    before.most = 5;
    now.runs = 1;
    assert_int_equal(pct_learned_merge(&before, &now).most, 20);
}

/* A sample for runs with too many points; what is left is about as much as is wanted, as far as a percentage can say
 * it. */
static void test_sampling(void **unused)
{
    (void)unused;
    assert_int_equal(pct_sampling_percent(0), 0);
    assert_int_equal(pct_sampling_percent(PCT_SAMPLING_TOO_MANY), 0);
    assert_int_equal(pct_sampling_percent(PCT_SAMPLING_TOO_MANY + 1), 9);
    assert_int_equal(pct_sampling_percent(200000), 5);
    assert_int_equal(pct_sampling_percent(UINT64_C(1) << 40), 1);
}

static void test_state_text(void **unused)
{
    (void)unused;
    struct pct_state_file state = { .command = 0x123456789abcdef0,
                                    .binary = 42,
                                    .title = "./app check 0",
                                    .learned = { .runs = 7, .most = 20, .least = 17, .threads = 3, .plain = 9 } };
    char text[2048], broken[2048];
    const char *other;
    size_t length = pct_state_format(&state, text, sizeof text);
    assert_int_equal(length, strlen(text));
    struct pct_state_file back = { .command = state.command, .binary = state.binary };
    assert_true(pct_state_parse(&back, text, length, &other));
    assert_null(other);
    assert_learned(&back.learned, &state.learned);
    assert_int_equal(back.learned.plain, 9);
    /* A rebuilt program: our file, nothing to learn from it. Another command: not ours. */
    back = (struct pct_state_file){ .command = state.command, .binary = 43 };
    assert_true(pct_state_parse(&back, text, length, &other));
    assert_null(other);
    assert_int_equal(back.learned.runs, 0);
    back = (struct pct_state_file){ .command = 1, .binary = 42 };
    assert_true(pct_state_parse(&back, text, length, &other));
    assert_string_equal(other, "it is of another command");
    strcpy(back.title, state.title);
    assert_true(pct_state_parse(&back, text, length, &other));
    assert_string_equal(other, "it is of other options, another directory or an earlier version of pct");
    /* Every single byte matters, and so does the end. In the first word a change makes it no state file. */
    for (size_t at = sizeof "pct-state" - 1; at < length; at++) {
        memcpy(broken, text, length + 1);
        broken[at] ^= 1;
        bool whole = pct_state_parse(&back, broken, length, &other);
        assert_true(!whole || (other && strcmp(other, "it is of another command")));
    }
    for (size_t cut = sizeof "pct-state"; cut < length; cut++) {
        memcpy(broken, text, cut);
        broken[cut] = 0;
        assert_false(pct_state_parse(&back, broken, cut, &other));
    }
    memcpy(broken, text, length);
    strcpy(broken + length, "more\n");
    assert_false(pct_state_parse(&back, broken, length + 5, &other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hit),           cmocka_unit_test(test_end),     cmocka_unit_test(test_drawn_depth),
        cmocka_unit_test(test_spin_constant), cmocka_unit_test(test_miss),    cmocka_unit_test(test_missing),
        cmocka_unit_test(test_rounding),      cmocka_unit_test(test_learned), cmocka_unit_test(test_sampling),
        cmocka_unit_test(test_state_text),    cmocka_unit_test(test_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
