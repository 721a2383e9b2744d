/* Options that only set variables: what a row names gets the value, rows without this key are left to the parser. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/process/settings.h>
#include <stdlib.h>

enum { KEY_QUIET = 1000, KEY_KEEP };

static const struct argp_option options[] = {
    { "runs", 'n', "N", 0, "", 0 },         { "jobs", 'j', "N", 0, "", 0 },
    { "budget", 'b', "SECONDS", 0, "", 0 }, { "test", 't', "KIND", OPTION_ARG_OPTIONAL, "", 0 },
    { "quiet", KEY_QUIET, NULL, 0, "", 0 }, { "no-keep", KEY_KEEP, NULL, 0, "", 0 },
    { "other", 'o', NULL, 0, "", 0 },       { 0 },
};

struct arguments {
    uint64_t runs;
    unsigned jobs;
    double budget;
    const char *test, *file;
    bool tested, counted, quiet, keep, other, ended;
    int child;
};

/* The parser below ours, whose input ours names. */
static error_t parse_child(int key, char *argument, struct argp_state *state)
{
    (void)argument;
    if (key == ARGP_KEY_END)
        (*(int *)state->input)++;
    return ARGP_ERR_UNKNOWN;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *w = state->input;
    const struct pct_setting settings[] = {
        { ARGP_KEY_INIT, .inputs = (void *[]){ &w->child, NULL } },
        { 'n', .number = &w->runs, .least = 1, .most = UINT64_MAX, .on = &w->counted },
        { 'j', .count = &w->jobs, .least = 1, .most = 256 },
        { 'b', .seconds = &w->budget },
        { 't', .text = &w->test, .on = &w->tested },
        { KEY_QUIET, .on = &w->quiet },
        { KEY_KEEP, .off = &w->keep },
        { ARGP_KEY_ARG, .text = &w->file, .once = "one file at a time" },
        { ARGP_KEY_END, .text = &w->file, .on = &w->ended, .missing = "no file is given" },
        { 0 },
    };
    if (pct_settings_take(settings, options, key, argument, state))
        return 0;
    w->other |= key == 'o';
    return key == 'o' ? 0 : ARGP_ERR_UNKNOWN;
}

static struct arguments taken(int count, const char *const *words)
{
    static const struct argp child = { .parser = parse_child };
    static const struct argp_child children[] = { { &child, 0, NULL, 0 }, { 0 } };
    const struct argp argp = { .options = options, .parser = parse, .children = children };
    struct arguments w = { .keep = true, .test = "before", .file = "none" };
    assert_int_equal(argp_parse(&argp, count, (char **)(uintptr_t)words, ARGP_NO_EXIT, NULL, &w), 0);
    return w;
}

static void test_each_kind(void **context)
{
    (void)context;
    const char *const words[] = { "pct",         "-n",   "18446744073709551615",
                                  "--jobs=256",  "-b",   "0.5",
                                  "--test=kind", "file", "--quiet",
                                  "--no-keep",   NULL };
    struct arguments w = taken(10, words);
    assert_true(w.runs == UINT64_MAX && w.counted && w.jobs == 256 && w.budget > 0.4 && w.budget < 0.6);
    assert_string_equal(w.test, "kind");
    assert_string_equal(w.file, "file");
    assert_true(w.tested && w.quiet && !w.keep && !w.other && w.ended);
    assert_int_equal(w.child, 1);
}

static void test_nothing_given(void **context)
{
    (void)context;
    struct arguments w = taken(1, (const char *const[]){ "pct", NULL });
    assert_true(!w.runs && !w.counted && !w.jobs && !w.tested && !w.quiet && w.keep && w.ended);
    assert_string_equal(w.test, "before");
    assert_string_equal(w.file, "none");
}

/* A text without its value is none, also behind one with a value. */
static void test_value_left_out(void **context)
{
    (void)context;
    struct arguments w = taken(4, (const char *const[]){ "pct", "--test=kind", "--test", "-o", NULL });
    assert_true(w.tested && !w.test && w.other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind),
        cmocka_unit_test(test_nothing_given),
        cmocka_unit_test(test_value_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
