/* The rules of diagnosis of posts that are made for several, and what other runs say of what is found (cli/diagnose/):
 * for each a hand-made run that shows the pattern, and its neighbour, which must not be accused. */

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "made_run.h"

enum batch { BATCH, LATE, TAKEN_TWICE, HELD_UP };

/* Threads 1 and 2 ask by semaphore 4; thread 3 looks at what they want, and makes one post of semaphore 6, which thread
 * 1 takes. */
static void make_batch(enum batch kind)
{
    begin(3);
    STEP(&run, 1, SEM_POST, 4);
    if (kind != LATE)
        STEP(&run, 2, SEM_POST, 4);
    STEP(&run, 3, SEM_WAIT, 4);
    STEP(&run, 3, MUTEX_LOCK, 5);
    STEP(&run, 3, MUTEX_UNLOCK, 5);
    if (kind == LATE)
        STEP(&run, 2, SEM_POST, 4);
    STEP(&run, 3, SEM_POST, 6);
    if (kind == TAKEN_TWICE)
        STEP(&run, 3, SEM_POST, 6);
    STEP(&run, 1, SEM_WAIT, 6);
    if (kind == TAKEN_TWICE)
        STEP(&run, 1, SEM_WAIT, 6);
    if (kind == HELD_UP)
        pending(&run, 3, PCT_OP_MUTEX_LOCK, 5);
    else
        STEP(&run, 3, THREAD_FINISH, 3);
    pending(&run, 2, PCT_OP_SEM_WAIT, 6);
}

static void test_one_post(void **unused)
{
    (void)unused;
    make_batch(BATCH);
    look(&run, PCT_VERDICT_DEADLOCK, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_ONE_POST);
    assert_non_null(d);
    assert_int_equal(run.history.steps[d->step[0]].thread, 2);
    assert_int_equal(run.history.steps[d->step[1]].object, 6);
    assert_int_equal(run.history.steps[d->step[3]].op, PCT_OP_MUTEX_LOCK);
    done(&run);
    /* It came behind the look; somebody has taken two; who posted is held up, and may post again. */
    for (enum batch kind = LATE; kind <= HELD_UP; kind++) {
        make_batch(kind);
        expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_ONE_POST, false);
    }
    make_batch(BATCH);
    expect(&run, PCT_VERDICT_EXIT, PCT_RULE_ONE_POST, false);
}

/* Threads 1 and 2 take a permit each and wait for one more; or thread 1 alone does, and thread 2 for something else. */
static void make_permits(bool both)
{
    begin(2);
    STEP(&run, 1, SEM_WAIT, 4);
    STEP(&run, 2, SEM_WAIT, 4);
    pending(&run, 1, PCT_OP_SEM_WAIT, 4);
    pending(&run, 2, both ? PCT_OP_SEM_WAIT : PCT_OP_MUTEX_LOCK, both ? 4 : 5);
}

static void test_permits(void **unused)
{
    (void)unused;
    for (unsigned both = 0; both < 2; both++) {
        make_permits(both);
        look(&run, PCT_VERDICT_DEADLOCK, NULL);
        const struct pct_diagnosis *d = found(&run, PCT_RULE_WAIT_CYCLE);
        assert_int_equal(!found(&run, PCT_RULE_SELF_DEADLOCK), both);
        assert_int_equal(d ? d->count : 0, both ? 4 : 0);
        done(&run);
    }
}

/* A step on the word at which futex 4 waits. */
static void word(unsigned thread, unsigned op, uint64_t place)
{
    step_at(&run, thread, op, 0, 9, place);
    run.sites[run.count - 1].object = OBJECT_AT + 64 * 4;
}

/* Threads 1 and 2 have what several may have in that word; thread 2 wants it once more, as thread 3 has had it. */
static void make_word(bool twice)
{
    begin(3);
    for (unsigned thread = 1; thread < 4; thread++) {
        word(thread, PCT_OP_ATOMIC_TRY, 101);
        if (thread == 3 && twice)
            word(3, PCT_OP_ATOMIC_TRY, 101);
        if (thread != 2)
            word(thread, PCT_OP_ATOMIC_UPDATE, 201);
    }
    word(2, PCT_OP_ATOMIC_TRY, 101);
    STEP(&run, 2, FUTEX_WAIT, 4);
    pending(&run, 2, PCT_OP_FUTEX_WAIT, 4);
}

static void test_word_of_permits(void **unused)
{
    (void)unused;
    for (unsigned twice = 0; twice < 2; twice++) {
        make_word(twice);
        expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_SELF_DEADLOCK, !twice);
    }
}

/* Threads 1 and 2 wait for a flag, which thread 0 sets, and wakes one; waiters: thread 2 changes it, too. */
static void make_flag(bool waiters)
{
    begin(2);
    for (unsigned thread = 1; thread < 3; thread++)
        STEP(&run, thread, FUTEX_WAIT, 4);
    word(0, PCT_OP_ATOMIC_STORE, 301);
    STEP_ARG(&run, 0, FUTEX_WAKE, 1, 4);
    STEP(&run, 2, FUTEX_WOKEN, 4);
    if (waiters)
        word(2, PCT_OP_ATOMIC_STORE, 302);
    STEP(&run, 2, THREAD_FINISH, 2);
    pending(&run, 1, PCT_OP_FUTEX_WAIT, 4);
}

static void test_flag_wakes_one(void **unused)
{
    (void)unused;
    for (unsigned waiters = 0; waiters < 2; waiters++) {
        make_flag(waiters);
        expect(&run, PCT_VERDICT_DEADLOCK, PCT_RULE_ONE_OF_SEVERAL, !waiters);
    }
}

/* Two who post come in any order: neither comes between what the other one does. */
static void test_posts_commute(void **unused)
{
    (void)unused;
    for (unsigned takes = 0; takes < 2; takes++) {
        begin(2);
        STEP(&run, 1, SEM_POST, 4);
        if (takes)
            STEP(&run, 2, SEM_WAIT, 4);
        else
            STEP(&run, 2, SEM_POST, 4);
        STEP(&run, 1, MUTEX_LOCK, 6);
        expect(&run, PCT_VERDICT_ASSERTION, PCT_RULE_ATOMICITY, takes);
    }
}

/* Thread 1 goes through a section with lock 3 and one with lock 5, thread 2 through both between, or not; thread 1 has
 * to wait in the first one, or not. */
static void make_sections(bool between, bool waits)
{
    begin(2);
    step_at(&run, 1, PCT_OP_MUTEX_LOCK, 0, 3, 10);
    if (waits) {
        step_at(&run, 1, PCT_OP_COND_WAIT, 0, 4, 11);
        step_at(&run, 0, PCT_OP_COND_SIGNAL, 1, 4, 12);
        step_at(&run, 1, PCT_OP_COND_WAKE, 0, 4, 11);
    }
    step_at(&run, 1, PCT_OP_MUTEX_UNLOCK, 0, 3, 13);
    for (unsigned first = !between; first < 2; first++) {
        unsigned thread = first ? 1 : 2;
        if (thread == 2) {
            step_at(&run, 2, PCT_OP_MUTEX_LOCK, 0, 3, 20);
            step_at(&run, 2, PCT_OP_MUTEX_UNLOCK, 0, 3, 21);
        }
        step_at(&run, thread, PCT_OP_MUTEX_LOCK, 0, 5, 22);
        step_at(&run, thread, PCT_OP_MUTEX_UNLOCK, 0, 5, 23);
    }
}

static uint64_t key_of_sections(bool waits)
{
    make_sections(true, waits);
    look(&run, PCT_VERDICT_ASSERTION, NULL);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_ATOMICITY);
    assert_non_null(d);
    assert_int_equal(run.history.steps[d->step[0]].op, waits ? PCT_OP_COND_WAKE : PCT_OP_MUTEX_LOCK);
    uint64_t key = d->key;
    done(&run);
    return key;
}

/* Whether somebody had to wait in a section makes it no other one. */
static void test_section_with_wait(void **unused)
{
    (void)unused;
    assert_true(key_of_sections(true) == key_of_sections(false));
}

static void add_runs(struct pct_evidence *e, unsigned count, bool between, bool fails)
{
    for (unsigned i = 0; i < count; i++) {
        make_sections(between, false);
        look(&run, fails ? PCT_VERDICT_ASSERTION : PCT_VERDICT_EXIT, NULL);
        pct_evidence_add(e, &run.history, fails);
        done(&run);
    }
}

/* What is found where this many of ten runs that fail have it, the smallest not among them, and this many of eight that
 * pass. */
static struct pct_diagnosis weighed(unsigned failing, unsigned passing)
{
    struct pct_evidence e = { 0 };
    add_runs(&e, failing, true, true);
    add_runs(&e, 10 - failing, false, true);
    add_runs(&e, passing, true, false);
    add_runs(&e, 8 - passing, false, false);
    make_sections(false, false);
    look(&run, PCT_VERDICT_ASSERTION, NULL);
    pct_evidence_least(&e, &run.history);
    done(&run);
    e.least = true;
    make_sections(true, false);
    look(&run, PCT_VERDICT_ASSERTION, &e);
    pct_evidence_weigh(&e, &run.diagnoses);
    const struct pct_diagnosis *d = found(&run, PCT_RULE_ATOMICITY);
    assert_non_null(d);
    struct pct_diagnosis result = *d;
    done(&run);
    pct_evidence_free(&e);
    return result;
}

static void test_smallest_fails_otherwise(void **unused)
{
    (void)unused;
    assert_false(weighed(8, 0).unneeded);
    assert_true(weighed(7, 0).unneeded);
    assert_true(weighed(8, 1).unneeded);
}

static void test_common_is_likely(void **unused)
{
    (void)unused;
    struct pct_diagnosis d = weighed(8, 3);
    d.score = 2 * PCT_DIAGNOSIS_LIKELY;
    assert_true(pct_diagnosis_is_likely(&d));
    d.tried = true;
    assert_false(pct_diagnosis_is_likely(&d));
    d = weighed(8, 2);
    d.score = 2 * PCT_DIAGNOSIS_LIKELY;
    assert_false(pct_diagnosis_is_likely(&d));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_post),          cmocka_unit_test(test_posts_commute),
        cmocka_unit_test(test_section_with_wait), cmocka_unit_test(test_smallest_fails_otherwise),
        cmocka_unit_test(test_common_is_likely),  cmocka_unit_test(test_permits),
        cmocka_unit_test(test_flag_wakes_one),    cmocka_unit_test(test_word_of_permits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
