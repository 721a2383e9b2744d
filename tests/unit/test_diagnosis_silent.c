/* The rules for sections that tell nobody while somebody waits, a descriptor that is closed twice, a word of a thread's
 * own, a wait that stands in a loop, two rounds of one, and who takes a mutex back: hand-made runs. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "made_run.h"
#include <stdlib.h>

enum { LOOKS = 2000, WAITS, GIVES, FREES, FREED };

/* This thread comes to look as others do that wait on condition variable 5, and waits, too, or finds it. */
static void come(unsigned thread, bool waits)
{
    step_at(&run, thread, PCT_OP_MUTEX_LOCK, 0, 3, LOOKS);
    if (waits)
        step_at(&run, thread, PCT_OP_COND_WAIT, 0, 5, WAITS);
    else
        step_at(&run, thread, PCT_OP_MUTEX_UNLOCK, 0, 3, GIVES);
}

/* Thread 2 frees something, and tells nobody. */
static void free_silently(void)
{
    step_at(&run, 2, PCT_OP_MUTEX_LOCK, 0, 3, FREES);
    step_at(&run, 2, PCT_OP_MUTEX_UNLOCK, 0, 3, FREED);
}

/* Thread 1 waits, thread 2 may free something, and thread 3 comes; then thread 4 tells all. */
static void make_freed(bool frees, bool finds)
{
    begin(4);
    come(1, true);
    if (frees)
        free_silently();
    come(3, !finds);
    step_at(&run, 4, PCT_OP_COND_BROADCAST, 0, 5, 2010);
    step_at(&run, 1, PCT_OP_COND_WAKE, 0, 5, WAITS);
    step_at(&run, 1, PCT_OP_MUTEX_UNLOCK, 0, 3, GIVES);
}

/* What the rule is worth in the run in which thread 1 waits and thread 2 frees something, beside one of the above in
 * which thread 3 finds it, or does not, or finds something that nobody has freed. */
static double base_beside(bool finds, bool not_found, bool other)
{
    struct pct_evidence evidence = { 0 };
    const bool beside[] = { finds, not_found, other };
    for (unsigned i = 0; i < 3; i++) {
        if (!beside[i])
            continue;
        make_freed(i < 2, i != 1);
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(&evidence, &run.history, false);
        done(&run);
    }
    begin(2);
    come(1, true);
    free_silently();
    pending(&run, 1, PCT_OP_COND_WAIT, 5);
    look(&run, PCT_VERDICT_DEADLOCK, &evidence);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_UNTOLD);
    assert_non_null(d);
    double base = d->base;
    done(&run);
    pct_evidence_free(&evidence);
    return base;
}

static void test_who_comes_finds_it(void **unused)
{
    (void)unused;
    assert_true(base_beside(false, false, false) < 4.5);
    assert_true(base_beside(true, false, false) > 7); /* what thread 1 waits for had come true */
    assert_true(base_beside(true, true, false) < 4.5);
    assert_true(base_beside(false, true, false) < 4.5);
    assert_true(base_beside(true, false, true) < 4.5); /* it looks for something else */
}

/* What it is worth where runs that fail have such a section behind a wait, and runs that pass before it, or behind it
 * as well, and are told later. */
static double base_of_order(bool passing_too)
{
    struct pct_evidence evidence = { 0 };
    for (unsigned i = 0; i < 4; i++) {
        begin(4);
        if (!passing_too)
            free_silently();
        come(1, true);
        if (passing_too)
            free_silently();
        step_at(&run, 4, PCT_OP_COND_BROADCAST, 0, 5, 2010);
        step_at(&run, 1, PCT_OP_COND_WAKE, 0, 5, WAITS);
        step_at(&run, 1, PCT_OP_MUTEX_UNLOCK, 0, 3, GIVES);
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(&evidence, &run.history, false);
        done(&run);
    }
    double base = 0;
    for (unsigned i = 0; i < 5; i++) {
        begin(2);
        come(1, true);
        free_silently();
        pending(&run, 1, PCT_OP_COND_WAIT, 5);
        look(&run, PCT_VERDICT_DEADLOCK, &evidence);
        assert_non_null(found(&run, PCT_RULE_UNTOLD));
        base = found(&run, PCT_RULE_UNTOLD)->base;
        pct_evidence_add(&evidence, &run.history, true);
        done(&run);
    }
    pct_evidence_free(&evidence);
    return base;
}

static void test_never_while_one_waits(void **unused)
{
    (void)unused;
    assert_true(base_of_order(false) > 7);
    assert_true(base_of_order(true) < 4.5);
}

/* Threads 1 and 2 close descriptor 4; thread 3 uses it between, or before; thread 2 may have used it, too. */
static void make_closed(bool between, bool knows)
{
    begin(3);
    STEP(&run, 1, READ, 4);
    if (!between)
        STEP(&run, 3, READ, 4);
    STEP(&run, 1, CLOSE, 4);
    if (between)
        STEP(&run, 3, READ, 4);
    if (knows)
        STEP(&run, 2, READ, 4);
    STEP(&run, 2, CLOSE, 4);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_CLOSED_TWICE, between && !knows);
}

static void test_closed_twice(void **unused)
{
    (void)unused;
    make_closed(true, false);
    make_closed(false, false);
    make_closed(true, true);
    /* Best where it is found to be gone. */
    double base[2];
    for (unsigned gone = 0; gone < 2; gone++) {
        begin(3);
        STEP(&run, 1, CLOSE, 4);
        STEP(&run, 3, READ, 4);
        STEP(&run, 2, CLOSE, 4);
        STEP_ARG(&run, 3, READ, gone ? PCT_ARG_ERROR : 0, 4);
        look(&run, PCT_VERDICT_EXIT, NULL);
        assert_non_null(found(&run, PCT_RULE_CLOSED_TWICE));
        base[gone] = found(&run, PCT_RULE_CLOSED_TWICE)->base;
        done(&run);
    }
    assert_true(base[1] > base[0]);
}

/* Thread 1 or 2, of one kind, changes the word of futex 4, for which thread 2 then waits; thread 1 ends. */
static void make_own(bool own, const struct pct_evidence *evidence)
{
    for (unsigned i = 1; i <= 3; i++)
        step_at(&run, 0, PCT_OP_THREAD_CREATE, 0, i, 500);
    for (unsigned i = 1; i <= 3; i++)
        step_at(&run, i, PCT_OP_THREAD_START, 0, i, 510);
    step_at(&run, own ? 2 : 3, PCT_OP_ATOMIC_UPDATE, 0, 9, 520);
    run.sites[run.count - 1].object = OBJECT_AT + 64 * 4;
    STEP(&run, 2, FUTEX_WAIT, 4);
    STEP(&run, 1, THREAD_FINISH, 0);
    pending(&run, 2, PCT_OP_FUTEX_WAIT, 4);
    look(&run, PCT_VERDICT_DEADLOCK, evidence);
}

static void test_word_of_its_own(void **unused)
{
    (void)unused;
    struct pct_evidence evidence = { 0 };
    make_own(false, NULL);
    assert_non_null(found(&run, PCT_RULE_NOT_COUNTED));
    done(&run);
    make_own(true, NULL); /* who parks has such a word */
    assert_null(found(&run, PCT_RULE_NOT_COUNTED));
    done(&run);
    /* In another run two come to it: it is a latch, which the waiter counts down itself. */
    make_own(true, NULL);
    step_at(&run, 3, PCT_OP_ATOMIC_UPDATE, 0, 9, 520);
    run.sites[run.count - 1].object = OBJECT_AT + 64 * 4;
    pct_diagnoses_free(&run.diagnoses);
    pct_history_close(&run.history);
    look(&run, PCT_VERDICT_EXIT, NULL);
    pct_evidence_add(&evidence, &run.history, false);
    done(&run);
    make_own(true, &evidence);
    assert_non_null(found(&run, PCT_RULE_NOT_COUNTED));
    done(&run);
    pct_evidence_free(&evidence);
}

/* Thread 2 is woken by thread 1, thread 3 comes in between, and thread 2 closes something; it may then wait at the same
 * place again, without having given the mutex back. */
static void make_serving(bool again)
{
    begin(3);
    step_at(&run, 2, PCT_OP_MUTEX_LOCK, 0, 3, LOOKS);
    step_at(&run, 2, PCT_OP_COND_WAIT, 0, 5, WAITS);
    STEP(&run, 1, COND_SIGNAL, 5);
    STEP(&run, 3, MUTEX_LOCK, 3);
    STEP(&run, 3, MUTEX_UNLOCK, 3);
    step_at(&run, 2, PCT_OP_COND_WAKE, 0, 5, WAITS);
    STEP(&run, 2, CLOSE, 4);
    if (again)
        step_at(&run, 2, PCT_OP_COND_WAIT, 0, 5, WAITS);
}

static void test_serves_in_a_loop(void **unused)
{
    (void)unused;
    for (unsigned again = 0; again < 2; again++) {
        struct pct_evidence evidence = { 0 };
        make_serving(again);
        look(&run, PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(&evidence, &run.history, true);
        done(&run);
        make_serving(again);
        look(&run, PCT_VERDICT_EXIT, &evidence);
        assert_int_equal(!found(&run, PCT_RULE_NOT_LOOKED_AGAIN), again);
        done(&run);
        pct_evidence_free(&evidence);
    }
}

/* Who is woken holds the mutex, which is said beside the condition variable. */
static void test_takes_it_back(void **unused)
{
    (void)unused;
    char *text = NULL;
    size_t size;
    make_serving(false);
    look(&run, PCT_VERDICT_EXIT, NULL);
    uint32_t step = 0;
    while (run.history.steps[step].op != PCT_OP_COND_WAKE)
        step++;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    pct_diagnosis_print_step(out, &run.history, step, NULL);
    fclose(out);
    assert_non_null(strstr(text, "cond wake 5 (takes mutex 3 back)"));
    free(text);
    done(&run);
}

/* What it is worth that thread 2 comes between two sections of thread 1, at one place or at two. */
static double base_between(bool one_place)
{
    begin(2);
    for (unsigned i = 0; i < 3; i++) {
        unsigned thread = i == 1 ? 2 : 1;
        step_at(&run, thread, PCT_OP_MUTEX_LOCK, 0, 3, one_place ? 2000 + thread : 2000 + i);
        STEP(&run, thread, MUTEX_UNLOCK, 3);
    }
    look(&run, PCT_VERDICT_EXIT, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_ATOMICITY);
    assert_non_null(d);
    double base = d->base;
    done(&run);
    return base;
}

static void test_rounds_of_a_loop(void **unused)
{
    (void)unused;
    assert_true(base_between(true) < base_between(false)); /* two rounds seldom belong together */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_comes_finds_it), cmocka_unit_test(test_never_while_one_waits),
        cmocka_unit_test(test_closed_twice),       cmocka_unit_test(test_word_of_its_own),
        cmocka_unit_test(test_serves_in_a_loop),   cmocka_unit_test(test_rounds_of_a_loop),
        cmocka_unit_test(test_takes_it_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
