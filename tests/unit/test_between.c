/* Whether it matters what comes between (cli/campaign/between.h): the two runs that try it, as lists of switches. */

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "made_run.h"
#include <cli/campaign/between.h>

/* A section of this thread with mutex 4. */
static void section(unsigned thread)
{
    STEP(&run, thread, MUTEX_LOCK, 4);
    STEP(&run, thread, MUTEX_UNLOCK, 4);
}

/* Thread 1 has two sections, and thread 2 one between them. */
static const struct pct_diagnosis *make(void)
{
    begin(2);
    section(1);
    section(2);
    section(1);
    look(&run, PCT_VERDICT_ASSERTION, NULL);
    return found(&run, PCT_RULE_ATOMICITY);
}

static void expect_list(const struct pct_diagnosis *d, bool behind, const char *list)
{
    static struct pct_config config;
    config = (struct pct_config){ .epoch = 1 };
    assert_true(pct_between_get(&run.history, d, behind, &config));
    assert_string_equal(config.strategy, "schedule");
    assert_string_equal(config.list, list);
}

static void test_both(void **unused)
{
    (void)unused;
    const struct pct_diagnosis *d = make();
    assert_non_null(d);
    assert_true(pct_between_is_said(d));
    /* The whole is 0.2.1-1.1.2-2.1.1-1.3.2-2.3.1. */
    expect_list(d, false, "0.2.1-1.1.2-2.1.1-1.5.2-2.3.1");
    expect_list(d, true, "0.2.1-1.1.2-2.1.1-1.3.2-2.3.1-1.5.2");
    done(&run);
}

/* What was not made when the run ended cannot be put before anything. */
static void test_pending(void **unused)
{
    (void)unused;
    static struct pct_config config;
    begin(2);
    section(1);
    pending(&run, 2, PCT_OP_MUTEX_LOCK, 4);
    look(&run, PCT_VERDICT_ASSERTION, NULL);
    struct pct_diagnosis d = { .rule = PCT_RULE_ATOMICITY, .count = 3, .step = { 4, 6, 6 } };
    assert_false(pct_between_get(&run.history, &d, false, &config));
    assert_false(pct_between_get(&run.history, &d, true, &config));
    done(&run);
}

static void test_others(void **unused)
{
    (void)unused;
    struct pct_diagnosis d = { .rule = PCT_RULE_LOST_WAKEUP, .count = 3 };
    assert_false(pct_between_is_said(&d));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_both), cmocka_unit_test(test_pending),
                                        cmocka_unit_test(test_others) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
