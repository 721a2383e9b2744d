/* Unit tests of cli/campaign/objects.c: which object and which strategy a run gets from what was counted. Links with:
 * the command. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/base/cli.h>
#include <cli/campaign/objects.h>
#include <stdlib.h>
#include <strategies/strategies.h>
#include <string.h>

static struct pct_config configure(const char *spec)
{
    struct pct_config config = { 0 };
    char error[256] = "";
    int failed = pct_config_parse_spec(&config, spec, pct_cli_find_strategy, error, sizeof error);
    assert_string_equal(error, "");
    assert_int_equal(failed, 0);
    return config;
}

static uint64_t value_of(const struct pct_config *config, const struct pct_strategy *strategy, const char *name)
{
    int i = pct_cli_strategy_parameter(strategy, name);
    assert_true(i >= 0);
    return config->run.param[i];
}

/* A run of threads 0, 1 and 2: object 1 is used by 1 (3 times) and 2 (once), object 2 by 1 alone, object 3 is a lock
 * of all. */
static struct pct_object_counts *counts_of_run(void)
{
    static uint64_t records[] = { PCT_RECORD(0, PCT_OP_THREAD_CREATE, 0, 1),  PCT_RECORD(1, PCT_OP_ATOMIC_STORE, 0, 1),
                                  PCT_RECORD(1, PCT_OP_ATOMIC_STORE, 0, 1),   PCT_RECORD(1, PCT_OP_ATOMIC_STORE, 0, 1),
                                  PCT_RECORD(1, PCT_OP_ATOMIC_LOAD, 0, 2),    PCT_RECORD(1, PCT_OP_ATOMIC_LOAD, 0, 2),
                                  PCT_RECORD(2, PCT_OP_ATOMIC_STORE, 0, 1),   PCT_RECORD(0, PCT_OP_MUTEX_LOCK, 0, 3),
                                  PCT_RECORD(0, PCT_OP_MUTEX_UNLOCK, 0, 3),   PCT_RECORD(2, PCT_OP_MUTEX_LOCK, 0, 3),
                                  PCT_RECORD(2, PCT_OP_MUTEX_UNLOCK, 0, 3),   PCT_RECORD(1, PCT_OP_READ, 0, 7),
                                  PCT_RECORD(2, PCT_OP_ATOMIC_STORE, 0, 2000) };
    struct pct_trace trace = { .records = records, .count = sizeof records / sizeof *records };
    struct pct_object_counts *counts = NULL;
    assert_int_equal(pct_objects_add(&counts, &trace), 0);
    return counts;
}

/* Objects 1 and 3 have the same number of uses; what only one thread uses, and what has no number, is never drawn. */
static void test_draw(void **unused)
{
    (void)unused;
    struct pct_object_counts *counts = counts_of_run();
    uint64_t drawn[4] = { 0 };
    for (uint64_t seed = 0; seed < 1000; seed++) {
        const struct pct_strategy *strategy = &pct_strategy_surw_one;
        struct pct_config config = configure("surw-one");
        config.run.seed = seed;
        pct_objects_settle(counts, &config, &strategy);
        uint64_t object = value_of(&config, strategy, "object");
        assert_in_range(object, 1, 3);
        drawn[object]++;
        assert_int_equal(value_of(&config, strategy, "n1"), object == 1 ? 3 : 1);
        assert_int_equal(value_of(&config, strategy, "n2"), object == 1 ? 1 : 2);
        assert_int_equal(value_of(&config, strategy, "n3"), 0);
    }
    assert_int_equal(drawn[2], 0);
    assert_true(drawn[1] > 430 && drawn[3] > 430);
    pct_objects_free(&counts);
}

/* Of a thread whose uses differ from run to run, the most are expected. */
static void test_most(void **unused)
{
    (void)unused;
    static uint64_t records[] = { PCT_RECORD(1, PCT_OP_ATOMIC_STORE, 0, 1), PCT_RECORD(2, PCT_OP_ATOMIC_STORE, 0, 1),
                                  PCT_RECORD(2, PCT_OP_ATOMIC_STORE, 0, 1) };
    struct pct_trace trace = { .records = records, .count = sizeof records / sizeof *records };
    struct pct_object_counts *counts = counts_of_run();
    const struct pct_strategy *strategy = &pct_strategy_surw_one;
    struct pct_config config = configure("surw-one");
    assert_int_equal(pct_objects_add(&counts, &trace), 0);
    for (uint64_t seed = 1; value_of(&config, strategy, "object") != 1; seed++) {
        config = configure("surw-one");
        config.run.seed = seed;
        pct_objects_settle(counts, &config, &strategy);
    }
    assert_int_equal(value_of(&config, strategy, "n1"), 3);
    assert_int_equal(value_of(&config, strategy, "n2"), 2);
    pct_objects_free(&counts);
}

/* The stores of object 1 are all that there is to hold; what the user has said stays. */
static void test_kinds(void **unused)
{
    (void)unused;
    struct pct_object_counts *counts = counts_of_run();
    for (uint64_t seed = 0; seed < 100; seed++) {
        const struct pct_strategy *strategy = &pct_strategy_hold;
        struct pct_config config = configure("hold"), given = configure("hold,object=2,kind=1");
        config.run.seed = given.run.seed = seed;
        pct_objects_settle(counts, &config, &strategy);
        assert_int_equal(value_of(&config, strategy, "kind"), value_of(&config, strategy, "object") == 1 ? 2 : 0);
        pct_objects_settle(counts, &given, &strategy);
        assert_int_equal(value_of(&given, strategy, "object"), 2);
        assert_int_equal(value_of(&given, strategy, "kind"), 1);
    }
    pct_objects_free(&counts);
}

/* The mixture's run is that of its member; parameters go along. */
static void test_mixture(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 100; seed++) {
        const struct pct_strategy *strategy = &pct_strategy_mixture;
        struct pct_config config = configure("mixture,depth=3,k=77,n=5,n1=9");
        config.run.seed = seed;
        pct_objects_settle(NULL, &config, &strategy);
        assert_ptr_equal(strategy, pct_strategy_member(&pct_strategy_mixture, seed));
        assert_string_equal(config.strategy, strategy->name);
        if (strategy == &pct_strategy_pct) {
            assert_int_equal(value_of(&config, strategy, "depth"), 3);
            assert_int_equal(value_of(&config, strategy, "k"), 77);
        }
        if (strategy == &pct_strategy_surw)
            assert_int_equal(value_of(&config, strategy, "n1"), 9);
        if (strategy == &pct_strategy_surw || strategy == &pct_strategy_surw_one)
            assert_int_equal(value_of(&config, strategy, "n"), 5);
        /* Others than the portfolio's own stay as they are. */
        const struct pct_strategy *same = &pct_strategy_portfolio;
        config = configure("portfolio");
        pct_objects_settle(NULL, &config, &same);
        assert_string_equal(config.strategy, "portfolio");
    }
}

static char *print(const struct pct_object_counts *counts)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    pct_objects_print(out, counts);
    fclose(out);
    return text;
}

static void test_text(void **unused)
{
    (void)unused;
    struct pct_object_counts *counts = counts_of_run();
    char *text = print(counts);
    struct pct_object_counts *back = pct_objects_parse(text);
    assert_non_null(back);
    char *again = print(back);
    assert_string_equal(text, again);
    text[strlen(text) - 2] = 'x';
    assert_null(pct_objects_parse(text));
    assert_null(pct_objects_parse(""));
    assert_null(pct_objects_parse("0 3"));
    assert_null(pct_objects_parse("1 3 1025 1 1 1"));
    free(again);
    free(text);
    pct_objects_free(&back);
    pct_objects_free(&counts);
    assert_null(counts);
    text = print(NULL);
    assert_string_equal(text, "");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draw),    cmocka_unit_test(test_most), cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_mixture), cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests_name("objects", tests, NULL, NULL);
}
