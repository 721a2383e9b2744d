/* Whether it matters what comes between (cli/campaign/between.h): the two runs that try it, as lists of switches; and
 * what they make of diagnoses (cli/campaign/trials.h). */

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "made_run.h"
#include <cli/campaign/between.h>
#include <cli/campaign/trials.h>
#include <stdlib.h>

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
    char *made = pct_between_get(&run.history, d, behind);
    assert_non_null(made);
    assert_string_equal(made, list);
    free(made);
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
    begin(2);
    section(1);
    pending(&run, 2, PCT_OP_MUTEX_LOCK, 4);
    look(&run, PCT_VERDICT_ASSERTION, NULL);
    struct pct_diagnosis d = { .rule = PCT_RULE_ATOMICITY, .count = 3, .step = { 4, 6, 6 } };
    assert_null(pct_between_get(&run.history, &d, false));
    assert_null(pct_between_get(&run.history, &d, true));
    done(&run);
}

static void test_others(void **unused)
{
    (void)unused;
    struct pct_diagnosis d = { .rule = PCT_RULE_LOST_WAKEUP, .count = 3 };
    assert_false(pct_between_is_said(&d));
}

/* Both trials of the second diagnosis speak for it, with this base; the first one fails with and without. */
static void weigh(struct pct_diagnosing *d, double base)
{
    static struct pct_diagnosis items[3];
    static struct pct_trial trials[2];
    static struct pct_trace trace;
    items[0] =
        (struct pct_diagnosis){ .rule = PCT_RULE_ATOMICITY, .base = 5.5, .score = 5, .failing = 9, .share = 0.9 };
    items[1] = items[0];
    items[1].base = base;
    items[1].score = 3.5;
    items[2] = (struct pct_diagnosis){ .rule = PCT_RULE_TWICE, .base = 4.6, .score = 4.6, .failing = 9 };
    trials[0] = (struct pct_trial){ .item = 0, .ended = { true, true }, .fails = { true, true } };
    trials[1] = (struct pct_trial){ .item = 1, .ended = { true, true }, .fails = { false, true } };
    *d = (struct pct_diagnosing){ .history.trace = &trace, .evidence = { .failing = 10, .passing = 10 } };
    d->diagnoses.item = items;
    d->diagnoses.count = 3;
    assert_true(pct_trials_weigh(d, trials, 2));
}

static void test_weigh(void **unused)
{
    (void)unused;
    static struct pct_diagnosing d;
    const struct pct_diagnosis *item;
    weigh(&d, 5.5);
    item = d.diagnoses.item;
    assert_true(item[1].tried && !item[0].tried);
    assert_true(item[1].score > item[0].score && item[1].score > item[2].score);
    /* Updates, which are whole by themselves, are mostly what the assertion looks at. */
    weigh(&d, 3);
    item = d.diagnoses.item;
    assert_true(item[1].tried && item[1].score < item[0].score && item[1].score < item[2].score);
}

/* What both trials speak for, of this base; and another pair of this score, which this many of ten runs have. */
static bool updates_are_first(double base, double score, unsigned failing)
{
    static struct pct_diagnosis items[2];
    static struct pct_trace trace;
    static struct pct_diagnosing d;
    struct pct_trial trial = { .item = 0, .ended = { true, true }, .fails = { false, true } };
    items[0] = (struct pct_diagnosis){ .rule = PCT_RULE_ATOMICITY, .base = base, .score = 3, .failing = 10 };
    items[0].share = 1;
    items[1] = items[0];
    items[1].base = 6;
    items[1].share = 0.6;
    items[1].score = score;
    items[1].failing = failing;
    d = (struct pct_diagnosing){ .history.trace = &trace, .evidence = { .failing = 10, .passing = 10 } };
    d.diagnoses.item = items;
    d.diagnoses.count = 2;
    assert_true(pct_trials_weigh(&d, &trial, 1));
    return items[0].score > items[1].score;
}

static void test_updates(void **unused)
{
    (void)unused;
    assert_false(updates_are_first(3, 3, 10));
    assert_true(updates_are_first(3, 1, 10));   /* far worse */
    assert_true(updates_are_first(3, 3, 5));    /* half of the runs fail without it */
    assert_true(updates_are_first(5.5, 3, 10)); /* these are no updates */
}

/* Behind the trial of the second: the first stands before it by this rule, and this many of ten failing runs have it;
 * `needed` of them have the second one, and `passing` of ten that pass. */
static bool needed_is_first(enum pct_rule rule, double base, unsigned first, unsigned needed, unsigned passing)
{
    static struct pct_diagnosis items[2];
    static struct pct_trace trace;
    static struct pct_diagnosing d;
    struct pct_trial trial = { .item = 1, .ended = { true, true }, .fails = { false, true } };
    items[0] = (struct pct_diagnosis){ .rule = rule, .base = base, .score = 9, .failing = first, .share = 1 };
    items[0].tried = rule == PCT_RULE_ATOMICITY;
    items[1] = (struct pct_diagnosis){ .rule = PCT_RULE_ATOMICITY, .base = 5.5, .score = 2, .failing = needed };
    items[1].passing = passing;
    d = (struct pct_diagnosing){ .history.trace = &trace, .evidence = { .failing = 10, .passing = 10 } };
    d.diagnoses.item = items;
    d.diagnoses.count = 2;
    assert_true(pct_trials_weigh(&d, &trial, 1));
    return items[1].score > items[0].score;
}

/* What some runs fail without is no more than one way to the failure, or what came of its cause. */
static void test_needed(void **unused)
{
    (void)unused;
    assert_true(needed_is_first(PCT_RULE_ATOMICITY, 5.5, 6, 10, 0));
    assert_true(needed_is_first(PCT_RULE_NOBODY_SIGNALS, 4, 6, 10, 0));      /* how it ended */
    assert_false(needed_is_first(PCT_RULE_ATOMICITY, 5.5, 10, 10, 0));       /* all have the first one, too */
    assert_false(needed_is_first(PCT_RULE_ATOMICITY, 5.5, 6, 9, 0));         /* one fails without */
    assert_false(needed_is_first(PCT_RULE_ATOMICITY, 5.5, 6, 10, 9));        /* most that pass have it */
    assert_false(needed_is_first(PCT_RULE_USE_AFTER_DESTROY, 10, 6, 10, 0)); /* which is no effect */
}

/* The first speaks for itself by both trials. The second does not fail behind what comes between; this many of ten runs
 * that pass have it. In the run of the trial of each, the other one is there, or not. */
static bool source_is_first(bool first_has, bool second_has, unsigned passing)
{
    static struct pct_diagnosis items[2];
    static struct pct_trace trace;
    static struct pct_diagnosing d;
    struct pct_trial trials[2] = { { .item = 0, .ended = { true, true }, .fails = { false, true }, .seen = true },
                                   { .item = 1, .ended = { true, true }, .seen = true } };
    trials[0].has[1] = first_has;
    trials[1].has[0] = second_has;
    items[0] = (struct pct_diagnosis){ .rule = PCT_RULE_ATOMICITY, .base = 5.5, .score = 3.7, .failing = 9 };
    items[0].share = 1;
    items[1] = items[0];
    items[1].passing = passing;
    d = (struct pct_diagnosing){ .history.trace = &trace, .evidence = { .failing = 10, .passing = 10 } };
    d.diagnoses.item = items;
    d.diagnoses.count = 2;
    assert_true(pct_trials_weigh(&d, trials, 2));
    return items[1].score > items[0].score;
}

/* Whether a pair of which there is no trial, with this score, stands before one that both trials speak for, which this
 * many of ten failing runs have. */
static bool untried_is_first(enum pct_rule rule, unsigned failing)
{
    static struct pct_diagnosis items[2];
    static struct pct_trace trace;
    static struct pct_diagnosing d;
    struct pct_trial trial = { .item = 1, .ended = { true, true }, .fails = { false, true } };
    items[0] = (struct pct_diagnosis){ .rule = rule, .base = 6, .score = 5, .failing = 8, .share = 0.8 };
    items[1] = (struct pct_diagnosis){ .rule = PCT_RULE_ATOMICITY, .base = 5.5, .score = 3, .failing = failing };
    items[1].share = 0.8;
    d = (struct pct_diagnosing){ .history.trace = &trace, .evidence = { .failing = 10, .passing = 10 } };
    d.diagnoses.item = items;
    d.diagnoses.count = 2;
    assert_true(pct_trials_weigh(&d, &trial, 1));
    return items[0].score > items[1].score;
}

static void test_untried(void **unused)
{
    (void)unused;
    assert_false(untried_is_first(PCT_RULE_ATOMICITY, 8));
    assert_false(untried_is_first(PCT_RULE_NOT_THE_SAME_LOCK, 8));
    assert_true(untried_is_first(PCT_RULE_USE_AFTER_DESTROY, 8)); /* no trial of it could be made */
    assert_true(untried_is_first(PCT_RULE_ATOMICITY, 3));         /* most runs fail without the one that was tried */
}

/* What is not there without another one, which is there without it, came of that. */
static void test_source(void **unused)
{
    (void)unused;
    assert_true(source_is_first(true, false, 0));
    assert_false(source_is_first(true, true, 0));
    assert_false(source_is_first(false, false, 0));
    assert_false(source_is_first(true, false, 3)); /* runs that pass have it */
}

/* The key of the pair of thread 1's sections between which thread 2 comes, whose section ends with a wait or not. */
static uint64_t key_between(bool waits)
{
    begin(2);
    for (unsigned section = 0; section < 2; section++) {
        step_at(&run, 1, PCT_OP_MUTEX_LOCK, 0, 3, 2000 + section);
        step_at(&run, 1, PCT_OP_MUTEX_UNLOCK, 0, 3, 2002);
        if (section)
            break;
        step_at(&run, 2, PCT_OP_MUTEX_LOCK, 0, 3, 2003);
        step_at(&run, 2, waits ? PCT_OP_COND_WAIT : PCT_OP_MUTEX_UNLOCK, 0, waits ? 5 : 3, 2004);
    }
    look(&run, PCT_VERDICT_ASSERTION, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_ATOMICITY);
    assert_non_null(d);
    uint64_t key = d->key;
    done(&run);
    return key;
}

static void test_waits_apart(void **unused)
{
    (void)unused;
    assert_true(key_between(true) == key_between(true));
    assert_true(key_between(true) != key_between(false));
}

/* Whether explain is content with a best diagnosis of this base and score. */
static bool is_trusted(bool known, double base, double score)
{
    static struct pct_diagnosing d;
    struct pct_diagnosis best = { .rule = PCT_RULE_ATOMICITY, .base = base, .score = score };
    d = (struct pct_diagnosing){ .known = known };
    d.diagnoses.item = &best;
    d.diagnoses.count = 1;
    return pct_trials_trust(&d);
}

static void test_trust(void **unused)
{
    (void)unused;
    assert_true(is_trusted(true, 5.5, PCT_DIAGNOSIS_LIKELY));
    assert_false(is_trusted(true, 5.5, PCT_DIAGNOSIS_LIKELY - 0.1));
    assert_false(is_trusted(true, 3, 5)); /* updates alone */
    assert_false(is_trusted(false, 5.5, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_both),    cmocka_unit_test(test_pending),
                                        cmocka_unit_test(test_others),  cmocka_unit_test(test_weigh),
                                        cmocka_unit_test(test_updates), cmocka_unit_test(test_needed),
                                        cmocka_unit_test(test_trust),   cmocka_unit_test(test_source),
                                        cmocka_unit_test(test_untried), cmocka_unit_test(test_waits_apart) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
