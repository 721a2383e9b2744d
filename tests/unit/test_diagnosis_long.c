/* Long runs: what the rules take for one grows as it does, and not with its square. Each of these is diagnosed within a
 * tenth of a second; it took minutes where a rule went through all of a run for each of its steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <cli/diagnose/evidence.h>
#include <pct/strategy.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 30000, MOST = 8 * ROUNDS + 16, OBJECT_AT = 0x10000 };

static struct long_run {
    uint64_t *records;
    unsigned char *snapshot;
    struct pct_site *sites;
    unsigned count;
} run;

static int begin(void **unused)
{
    (void)unused;
    const size_t size = sizeof(struct pct_snap_section) + MOST * sizeof *run.sites + 1024;
    run = (struct long_run){ .records = calloc(MOST, sizeof *run.records), .snapshot = calloc(size, 1) };
    run.sites = (struct pct_site *)(run.snapshot + sizeof(struct pct_snap_section));
    return !run.records || !run.snapshot;
}

static int end(void **unused)
{
    (void)unused;
    free(run.records);
    free(run.snapshot);
    return 0;
}

static void step(unsigned thread, unsigned op, unsigned argument, unsigned object, uint64_t place)
{
    assert_true(run.count < MOST);
    run.records[run.count] = PCT_RECORD(thread, op, argument, object);
    run.sites[run.count++] = (struct pct_site){ .call = place, .object = object ? OBJECT_AT + 64 * object : 0 };
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Whether all rules are done with it in time, as of a failing run with three others like it. Thread 1 waits at the end
 * for this object; 0: the run has ended otherwise. */
static void look(unsigned op, unsigned object)
{
    const struct pct_snap_section head = { .type = PCT_SNAP_SITES, .size = run.count * sizeof *run.sites };
    const struct pct_snap_thread waits = {
        .id = 1, .state = PCT_SNAP_BLOCKED, .op = op, .object = object, .holder = PCT_NO_THREAD
    };
    const struct pct_snap_section thread = { .type = PCT_SNAP_THREAD, .size = sizeof waits };
    unsigned char *behind = (unsigned char *)run.sites + head.size;
    memcpy(run.snapshot, &head, sizeof head);
    memcpy(behind, &thread, sizeof thread);
    memcpy(behind + sizeof thread, &waits, sizeof waits);
    static struct pct_trace trace; /* large */
    trace =
        (struct pct_trace){ .records = run.records, .count = run.count, .complete = true, .snapshot = run.snapshot };
    trace.snapshot_size = sizeof head + head.size + (object ? sizeof thread + sizeof waits : 0);
    trace.header.verdict = object ? PCT_VERDICT_DEADLOCK : PCT_VERDICT_ASSERTION;
    trace.header.culprit = PCT_NO_THREAD;
    const double begun = seconds();
    struct pct_history history;
    struct pct_diagnoses diagnoses;
    struct pct_evidence evidence = { 0 };
    assert_int_equal(pct_history_open(&history, &trace), 0);
    for (unsigned i = 0; i < 4; i++)
        pct_evidence_add(&evidence, &history, !i);
    pct_diagnoses_find(&diagnoses, &history, &evidence);
    assert_false(diagnoses.full || evidence.full);
    assert_true(seconds() - begun < 4);
    pct_diagnoses_free(&diagnoses);
    pct_evidence_free(&evidence);
    pct_history_close(&history);
}

/* One wait behind the other, each until its time is up, in one section. */
static void test_time_outs(void **unused)
{
    (void)unused;
    step(1, PCT_OP_MUTEX_LOCK, 0, 3, 1000);
    for (unsigned i = 0; i < ROUNDS; i++) {
        step(1, PCT_OP_COND_WAIT, 0, 4, 1001);
        step(1, PCT_OP_COND_WAKE, PCT_ARG_TIMEOUT, 4, 1001);
        step(2, PCT_OP_COND_SIGNAL, PCT_ARG_NOBODY, 4, 1002);
    }
    step(1, PCT_OP_MUTEX_UNLOCK, 0, 3, 1003);
    step(1, PCT_OP_COND_WAIT, 0, 5, 1004);
    look(PCT_OP_COND_WAIT, 5);
}

/* Semaphores: one as a lock, one that is handed over, one that is posted by who never takes it. */
static void test_semaphores(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < ROUNDS; i++) {
        step(2, PCT_OP_SEM_WAIT, 0, 3, 1000);
        step(2, PCT_OP_SEM_POST, 0, 4, 1001);
        step(2, PCT_OP_SEM_POST, 0, 3, 1002);
        step(1, PCT_OP_SEM_WAIT, 0, 4, 1003);
        step(3, PCT_OP_SEM_POST, 0, 5, 1004);
        step(3, PCT_OP_SEM_WAIT, 0, 3, 1005);
        step(3, PCT_OP_SEM_POST, 0, 3, 1006);
    }
    look(PCT_OP_SEM_WAIT, 4);
}

/* Who waits at the end has waited since the beginning, while others come through the section, and tell others. */
static void test_sections(void **unused)
{
    (void)unused;
    step(1, PCT_OP_MUTEX_LOCK, 0, 3, 1000);
    step(1, PCT_OP_COND_WAIT, 0, 4, 1001);
    for (unsigned i = 0; i < ROUNDS; i++) {
        step(2 + i % 2, PCT_OP_MUTEX_LOCK, 0, 3, 1002 + i % 3);
        step(2 + i % 2, PCT_OP_COND_BROADCAST, PCT_ARG_NOBODY, 5, 1005);
        step(2 + i % 2, PCT_OP_MUTEX_UNLOCK, 0, 3, 1006);
        step(4, PCT_OP_COND_SIGNAL, PCT_ARG_NOBODY, 6, 1007);
    }
    look(PCT_OP_COND_WAIT, 4);
}

/* Locks that are made and destroyed, others that are tried while a reader has them, words that are tried by who has not
 * got them, and what goes on while the program ends. */
static void test_others(void **unused)
{
    (void)unused;
    step(1, PCT_OP_RWLOCK_RDLOCK, 0, 3, 1000);
    step(2, PCT_OP_ATOMIC_TRY, 0, 9, 1001);
    for (unsigned i = 0; i < ROUNDS; i++) {
        step(1, PCT_OP_YIELD, 0, 0, 1002);
        step(2, PCT_OP_RWLOCK_TRYWRLOCK, PCT_ARG_BUSY, 3, 1003);
        step(3, PCT_OP_MUTEX_INIT, 0, 4, 1004);
        step(3, PCT_OP_MUTEX_DESTROY, 0, 4, 1005);
        step(3, PCT_OP_ATOMIC_TRY, 0, 9, 1006);
    }
    step(1, PCT_OP_RWLOCK_UNLOCK, 0, 3, 1007);
    step(0, PCT_OP_EXIT, 0, 0, 1008);
    for (unsigned i = 0; i < ROUNDS; i++) {
        step(0, PCT_OP_LOAD, 0, 10, 1009);
        step(3, PCT_OP_LOAD, 0, 10, 1010);
    }
    look(0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_time_outs, begin, end),
        cmocka_unit_test_setup_teardown(test_semaphores, begin, end),
        cmocka_unit_test_setup_teardown(test_sections, begin, end),
        cmocka_unit_test_setup_teardown(test_others, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
