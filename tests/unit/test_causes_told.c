/* How many causes are told of a failure (cli/campaign/diagnosing.h): one, if it is certain, or up to three. */

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "made_run.h"
#include <cli/campaign/diagnosing.h>
#include <stdlib.h>

static struct pct_diagnosing told; /* large */

static void item(enum pct_rule rule, double base, double score, uint32_t first)
{
    static struct pct_diagnosis items[8];
    if (!told.diagnoses.count)
        told.diagnoses.item = items;
    items[told.diagnoses.count++] = (struct pct_diagnosis){
        .rule = rule, .base = base, .score = score, .count = 3, .step = { first, first + 1, first + 2 }
    };
}

/* What is said of these; how many lines begin with "or: ". */
static unsigned others(bool all)
{
    char *text = NULL;
    size_t size, title;
    unsigned count = 0;
    told.known = true;
    told.history = run.history;
    FILE *out = open_memstream(&text, &size);
    pct_diagnosing_print(out, &told, all);
    fclose(out);
    assert_non_null(strstr(text, "cause: "));
    for (const char *at = strstr(text, "\nor: "); at; at = strstr(at + 1, "\nor: "))
        count++;
    /* A stored report begins with all of it. */
    assert_int_equal(pct_diagnosis_in_report(text, &title), strlen(text));
    free(text);
    return count;
}

static void weakly(double second)
{
    told = (struct pct_diagnosing){ 0 };
    item(PCT_RULE_ATOMICITY, 6, 5, 3);
    item(PCT_RULE_NOT_THE_SAME_LOCK, 7, second, 6);
}

static void test_told(void **unused)
{
    (void)unused;
    begin(2);
    for (unsigned i = 0; i < 6; i++) {
        STEP(&run, 1, MUTEX_LOCK, 3);
        STEP(&run, 2, MUTEX_LOCK, 3);
        STEP(&run, 1, MUTEX_LOCK, 3);
    }
    look(&run, PCT_VERDICT_EXIT, NULL);
    weakly(4.9);
    assert_int_equal(others(false), 1);
    weakly(2); /* not nearly as good */
    assert_int_equal(others(false), 0);
    assert_int_equal(others(true), 1);
    /* Three at most; not what is said already. */
    weakly(4.9);
    told.diagnoses.item[1].step[0] = 3;
    told.diagnoses.item[1].step[1] = 4;
    told.diagnoses.item[1].step[2] = 5;
    assert_int_equal(others(false), 0);
    for (uint32_t i = 9; i <= 15; i += 3)
        item(PCT_RULE_TWICE, 4.6, 4.5, i);
    assert_int_equal(others(false), 2);
    /* Who else comes between is no other cause. */
    weakly(4.9);
    told.diagnoses.item[1] = told.diagnoses.item[0];
    told.diagnoses.item[1].step[1] = 7;
    assert_int_equal(others(false), 0);
    told.diagnoses.item[1].rule = PCT_RULE_NOT_THE_SAME_LOCK;
    assert_int_equal(others(false), 1);
    /* One run decides it, which says what was done wrongly, or what came of that. */
    weakly(4.9);
    told.diagnoses.item[0].rule = PCT_RULE_LOST_WAKEUP;
    told.diagnoses.item[0].base = 10;
    assert_int_equal(others(false), 0);
    told.diagnoses.item[0].rule = PCT_RULE_ALL_WAIT;
    told.diagnoses.item[0].base = 5;
    assert_int_equal(others(false), 1);
    done(&run);
}

/* Whether this is said of that evidence, which names no cause; or nothing. */
static bool says(const char *what, struct pct_evidence evidence)
{
    char *text = NULL;
    size_t size;
    told = (struct pct_diagnosing){ .evidence = evidence };
    FILE *out = open_memstream(&text, &size);
    pct_diagnosing_print(out, &told, false);
    fclose(out);
    bool said = strstr(text, what);
    assert_int_equal(said, size > 0);
    free(text);
    return said;
}

static bool says_all_fail(unsigned made, unsigned passing)
{
    return says("no cause: every run fails (", (struct pct_evidence){ .made = made, .enough = 40, .passing = passing });
}

static void test_all_fail(void **unused)
{
    (void)unused;
    assert_true(says_all_fail(40, 0));
    assert_false(says_all_fail(39, 0));
    assert_false(says_all_fail(100, 1));
    assert_true(says("no cause: the run has one thread, and so one schedule: ",
                     (struct pct_evidence){ .enough = 40, .one_schedule = true }));
    /* A run that is only recorded has no others. */
    told.evidence = (struct pct_evidence){ 0 };
    assert_false(pct_evidence_all_fail(&told.evidence));
}

static bool says_by_numbers(unsigned drawn, unsigned fail, unsigned passing)
{
    return says(
        "no cause: every run with the same random numbers fails (11 of 11)",
        (struct pct_evidence){ .made = 20, .enough = 40, .passing = passing, .drawn = drawn, .drawn_fail = fail });
}

static void test_by_numbers(void **unused)
{
    (void)unused;
    assert_true(says_by_numbers(10, 10, 10));
    assert_false(says_by_numbers(10, 9, 10));
    assert_false(says_by_numbers(9, 9, 10)); /* too few to say so, but no order is blamed */
    assert_true(pct_evidence_by_numbers(&told.evidence));
    assert_false(says_by_numbers(0, 0, 10));
    assert_false(pct_evidence_by_numbers(&told.evidence));
    /* What one run decides stays. */
    told = (struct pct_diagnosing){ 0 };
    item(PCT_RULE_ATOMICITY, 7, 7, 3);
    item(PCT_RULE_LOST_WAKEUP, 10, 10, 3);
    item(PCT_RULE_TWICE, 5, 5, 3);
    pct_evidence_drop(&told.diagnoses);
    assert_int_equal(told.diagnoses.count, 1);
    assert_int_equal(told.diagnoses.item[0].rule, PCT_RULE_LOST_WAKEUP);
}

static bool says_by_choices(unsigned passing, unsigned otherwise)
{
    return says("no cause: of 12 runs that pass, 2 got the same numbers from pct_choose(), too few to blame",
                (struct pct_evidence){ .made = 40, .enough = 40, .passing = passing, .otherwise = otherwise });
}

static void test_by_choices(void **unused)
{
    (void)unused;
    assert_true(says_by_choices(2, 10));
    assert_false(says_by_choices(3, 9)); /* enough to compare with */
    assert_false(says_by_choices(2, 0));
    /* Those that pass do pass. */
    assert_false(pct_evidence_all_fail(&(struct pct_evidence){ .made = 40, .enough = 40, .otherwise = 1 }));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_all_fail),
        cmocka_unit_test(test_by_numbers),
        cmocka_unit_test(test_by_choices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
