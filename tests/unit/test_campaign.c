/* Unit tests of what a campaign is made of: cli/base/wilson.c, signature.c (its hash), oracle.c (sanitizers' reports),
 * coverage.c, campaign_file.c (shares) and the store. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/campaign/campaign_file.h>
#include <cli/campaign/coverage.h>
#include <cli/campaign/oracle.h>
#include <cli/base/wilson.h>
#include <cli/campaign/signature.h>
#include "store_file.h"
#include <errno.h>
#include <math.h>

#define assert_near(a, b) assert_true(fabs((a) - (b)) < 5e-4)

/* --- Rates -------------------------------------------------------------------------------------------------------- */

static void test_wilson(void **unused)
{
    (void)unused;
    /* Values as R's prop.test(correct = FALSE) gives them. */
    struct pct_wilson rate = pct_wilson_wilson(15, 50);
    assert_near(rate.low, 0.1910);
    assert_near(rate.high, 0.4375);
    rate = pct_wilson_wilson(1, 1000);
    assert_near(rate.low, 0.000177);
    assert_near(rate.high, 0.00564);
    rate = pct_wilson_wilson(0, 20);
    assert_true(rate.low == 0);
    assert_near(rate.high, 0.1611);
    rate = pct_wilson_wilson(20, 20);
    assert_near(rate.low, 0.8389);
    assert_true(rate.high == 1);
    rate = pct_wilson_wilson(0, 0);
    assert_true(rate.low == 0 && rate.high == 1);
}

/* --- Signatures --------------------------------------------------------------------------------------------------- */

static struct pct_signature_stack stack_of(uint32_t thread, const char *const *functions)
{
    struct pct_signature_stack stack = { .thread = thread };
    for (; *functions; functions++) {
        struct pct_frame *frame = &stack.frames.frames[stack.frames.count++];
        frame->pc = 0x1000u + thread;
        snprintf(frame->function, sizeof frame->function, "%s", *functions);
        snprintf(frame->module, sizeof frame->module, "app");
    }
    return stack;
}

#define STACK(thread, ...) stack_of(thread, (const char *const[]){ __VA_ARGS__, NULL })

static uint64_t hash(enum pct_ending ending, const char *message, const struct pct_signature_stack *stacks,
                     size_t count)
{
    struct pct_signature s = { .verdict = pct_ending_name(ending), .code = 1, .count = count };
    s.stacks = (struct pct_signature_stack *)(uintptr_t)stacks;
    snprintf(s.message, sizeof s.message, "%s", message);
    return pct_signature_hash(&s, ending);
}

static void test_signature_stacks(void **unused)
{
    (void)unused;
    static struct pct_signature_stack ab[2], ba[2], aab[3], ac[2], deep[2];
    ab[0] = aab[0] = STACK(1, "lock", "take", "main");
    ab[1] = aab[2] = STACK(2, "lock", "put", "worker");
    aab[1] = STACK(7, "lock", "take", "main");
    ba[0] = STACK(3, "lock", "put", "worker");
    ba[1] = STACK(4, "lock", "take", "main");
    ac[0] = ab[0];
    ac[1] = STACK(2, "lock", "get", "worker");
    deep[0] = STACK(1, "lock", "take", "take", "take", "main");
    deep[1] = ab[1];
    uint64_t one = hash(PCT_ENDING_DEADLOCK, "", ab, 2);
    assert_true(one != 0);
    /* Which thread stands where, how many stand there, and how deep a recursion is, does not matter. */
    assert_true(hash(PCT_ENDING_DEADLOCK, "", ba, 2) == one);
    assert_true(hash(PCT_ENDING_DEADLOCK, "", aab, 3) == one);
    assert_true(hash(PCT_ENDING_DEADLOCK, "", deep, 2) == one);
    /* The functions do, and the verdict. */
    assert_true(hash(PCT_ENDING_DEADLOCK, "", ac, 2) != one);
    assert_true(hash(PCT_ENDING_DEADLOCK, "", ab, 1) != one);
    assert_true(hash(PCT_ENDING_CRASH, "", ab, 2) != one);
    /* Where a run is that does not end is chance; which threads it has, is not. */
    assert_true(hash(PCT_ENDING_LIVELOCK, "", ab, 2) == hash(PCT_ENDING_LIVELOCK, "", ac, 2));
    assert_true(hash(PCT_ENDING_LIVELOCK, "", ab, 2) != hash(PCT_ENDING_LIVELOCK, "", ab, 1));
    /* A function without a name is known by its offset. */
    ab[1].frames.frames[1].function[0] = 0;
    ab[1].frames.frames[1].offset = 64;
    one = hash(PCT_ENDING_DEADLOCK, "", ab, 2);
    ab[1].frames.frames[1].pc += 4096;
    assert_true(hash(PCT_ENDING_DEADLOCK, "", ab, 2) == one);
    ab[1].frames.frames[1].offset = 65;
    assert_true(hash(PCT_ENDING_DEADLOCK, "", ab, 2) != one);
}

static void test_signature_message(void **unused)
{
    (void)unused;
    const enum pct_ending says = PCT_ENDING_SANITIZER, asserts = PCT_ENDING_ASSERTION;
    assert_true(hash(says, "x.c:3:1: runtime error: 2147483647 + 1 at 0x7ffe12ab", NULL, 0) ==
                hash(says, "x.c:3:1: runtime error: 2147483646 + 9 at 0x55a01", NULL, 0));
    assert_true(hash(says, "data race x.c in put", NULL, 0) != hash(says, "data race x.c in get", NULL, 0));
    assert_true(hash(PCT_ENDING_OUTPUT, "line 1 is a", NULL, 0) == hash(PCT_ENDING_OUTPUT, "line 2 is b", NULL, 0));
    assert_true(hash(PCT_ENDING_EXIT, "a.cc:1: Failure", NULL, 0) != hash(PCT_ENDING_EXIT, "a.cc:2: Failure", NULL, 0));
    /* An assertion's text is the program's own, to the digit. */
    assert_true(hash(asserts, "x.c:3: main: n == 1", NULL, 0) != hash(asserts, "x.c:3: main: n == 2", NULL, 0));
}

/* --- Sanitizers --------------------------------------------------------------------------------------------------- */

static const char *report_in(const char *output)
{
    static char buffer[512];
    return pct_oracle_find_report(output, strlen(output), buffer, sizeof buffer) ? buffer : NULL;
}

static void test_reports(void **unused)
{
    (void)unused;
    assert_string_equal(
        report_in("hello\n==12==ERROR: AddressSanitizer: heap-use-after-free on address 0x6\n"
                  "    #0 0x5 in main a.c:4\nSUMMARY: AddressSanitizer: heap-use-after-free a.c:4 in main\n"),
        "AddressSanitizer: heap-use-after-free a.c:4 in main");
    /* Killed before its last line. */
    assert_string_equal(report_in("==12==ERROR: AddressSanitizer: SEGV on unknown address 0x0\n    #0"),
                        "AddressSanitizer: SEGV on unknown address 0x0");
    assert_string_equal(
        report_in("WARNING: ThreadSanitizer: data race (pid=5)\nSUMMARY: ThreadSanitizer: data race a.c:9 in f"),
        "ThreadSanitizer: data race a.c:9 in f");
    assert_string_equal(report_in("a.c:4:9: runtime error: signed integer overflow: 1 + 2\nrest\n"),
                        "a.c:4:9: runtime error: signed integer overflow: 1 + 2");
    assert_string_equal(
        report_in("==7== Memcheck, a memory error detector\n==7== \n==7== Invalid read of size 4\n"
                  "==7==    at 0x109196: main (x.c:5)\n==7== ERROR SUMMARY: 2 errors from 1 contexts\n"),
        "valgrind: Invalid read of size 4, main (x.c:5)");
    assert_null(report_in("==7== Memcheck, a memory error detector\n==7== ERROR SUMMARY: 0 errors from 0 contexts\n"));
    assert_null(report_in("all is well; AddressSanitizer is off\n"));
    assert_null(report_in("my own: runtime error: none of its business\n"));
    assert_null(report_in(""));
}

static const char *assertion_in(const char *output)
{
    static char buffer[512];
    return pct_oracle_find_assertion(output, strlen(output), buffer, sizeof buffer) ? buffer : NULL;
}

static void test_assertions(void **unused)
{
    (void)unused;
    assert_string_equal(assertion_in("[ RUN      ] A.b\na_test.cc:12: Failure\nExpected: 1\nb_test.cc:13: Failure\n"),
                        "a_test.cc:12: Failure");
    assert_string_equal(assertion_in("\nthread 'main' panicked at src/main.rs:5:9:\nassertion failed\n"),
                        "thread 'main' panicked at src/main.rs:5:9:");
    /* From 1.95 on, with an id that each run has another one of. */
    assert_string_equal(assertion_in("\nthread 'main' (1234) panicked at src/main.rs:5:9:\nassertion failed\n"),
                        "thread 'main' panicked at src/main.rs:5:9:");
    assert_string_equal(assertion_in("thread 'a (7)' panicked at src/main.rs:5:9:\n"),
                        "thread 'a (7)' panicked at src/main.rs:5:9:");
    assert_string_equal(assertion_in("(7) panicked at x\n"), "(7) panicked at x");
    assert_string_equal(assertion_in("' () panicked at x\n"), "' () panicked at x");
    assert_string_equal(assertion_in(") panicked at x\n"), ") panicked at x");
    assert_string_equal(assertion_in("x\n  what():  broken\n"), "what():  broken");
    assert_string_equal(assertion_in("E   AssertionError: 1 != 2"), "E   AssertionError: 1 != 2");
    assert_string_equal(assertion_in("test.cpp:10: FAILED:\n  REQUIRE( x )\n"), "test.cpp:10: FAILED:");
    assert_null(assertion_in("all tests passed, 0 FAILED\n"));
    assert_null(assertion_in(""));
}

/* --- Coverage ----------------------------------------------------------------------------------------------------- */

static int count_pair(void *data, uint64_t pair)
{
    assert_true(pair != 0);
    ++*(unsigned *)data;
    return 0;
}

static unsigned new_pairs(struct pct_coverage *coverage, const uint64_t *records, uint64_t count)
{
    const struct pct_trace trace = { .records = records, .count = count };
    unsigned pairs = 0;
    assert_int_equal(pct_coverage_scan(coverage, &trace, count_pair, &pairs), 0);
    return pairs;
}

static void test_coverage(void **unused)
{
    (void)unused;
    struct pct_coverage *coverage = pct_coverage_new();
    assert_non_null(coverage);
    const uint64_t lock1 = PCT_RECORD(1, PCT_OP_MUTEX_LOCK, 0, 5), unlock1 = PCT_RECORD(1, PCT_OP_MUTEX_UNLOCK, 0, 5);
    const uint64_t lock2 = PCT_RECORD(2, PCT_OP_MUTEX_LOCK, 0, 5), other = PCT_RECORD(2, PCT_OP_MUTEX_LOCK, 0, 6);
    const uint64_t yield = PCT_RECORD(2, PCT_OP_YIELD, 0, 0);
    /* One thread alone makes no pair, nor do different objects; what has no object does not stand between. */
    assert_int_equal(new_pairs(coverage, (const uint64_t[]){ lock1, unlock1, other }, 3), 0);
    assert_int_equal(new_pairs(coverage, (const uint64_t[]){ lock1, unlock1, yield, lock2 }, 4), 1);
    assert_int_equal(new_pairs(coverage, (const uint64_t[]){ unlock1, lock2 }, 2), 0);
    assert_int_equal(new_pairs(coverage, (const uint64_t[]){ lock2, lock1 }, 2), 1);
    /* It grows. Pairs are hashes: their lowest bits differ. */
    const uint64_t golden = 0x9e3779b97f4a7c15u;
    for (uint64_t i = 1; i <= 100000; i++)
        assert_true(pct_coverage_add(coverage, i * golden));
    for (uint64_t i = 1; i <= 100000; i++)
        assert_false(pct_coverage_add(coverage, i * golden));
    pct_coverage_free(coverage);
}

/* --- Shards ------------------------------------------------------------------------------------------------------- */

static void test_share(void **unused)
{
    (void)unused;
    for (uint64_t total = 1; total < 40; total++)
        for (uint64_t of = 1; of < 12; of++) {
            uint64_t all = 0;
            for (uint64_t shard = 1; shard <= of; shard++)
                all += pct_campaign_file_share(total, shard, of);
            assert_int_equal(all, total);
        }
    assert_int_equal(pct_campaign_file_share(10, 1, 3), 4);
    assert_int_equal(pct_campaign_file_share(10, 3, 3), 3);
    assert_int_equal(pct_campaign_file_share(2, 3, 3), 0);
}

/* --- The store ---------------------------------------------------------------------------------------------------- */

static int count_run(void *data, const struct pct_store_run *run)
{
    assert_int_equal(run->seed, 7 + (*(uint64_t *)data)++);
    return 0;
}

static uint64_t count_runs(struct pct_store *store)
{
    uint64_t count = 0;
    assert_int_equal(pct_store_each_run(store, count_run, &count), 0);
    return count;
}

static void test_store_commits(void **unused)
{
    (void)unused;
    char error[512];
    assert_int_equal(pct_store_look(path, error, sizeof error), PCT_STORE_ABSENT);
    assert_int_equal(pct_store_create(path, facts, error, sizeof error), 0);
    assert_int_equal(pct_store_create(path, facts, error, sizeof error), -EEXIST);
    assert_non_null(strstr(error, "another campaign has just made it; "));
    struct pct_store *store = pct_store_open(path, true, error, sizeof error);
    assert_non_null(store);
    assert_int_equal(pct_store_number(store, "seed"), 7);
    assert_string_equal(pct_store_fact(store, "command"), "./app");
    assert_string_equal(pct_store_fact(store, "nothing"), "");
    assert_int_equal(pct_store_set_fact(store, "runs", "20"), 0);
    assert_int_equal(pct_store_number(store, "runs"), 20);
    assert_int_equal(pct_store_begin_session(store, 1000, 2), 0);
    struct pct_store_run run = { .seed = 7, .hash = UINT64_MAX, .steps = 5, .threads = 3, .complete = true };
    assert_int_equal(pct_store_add_run(store, &run), 0);
    assert_int_equal(pct_store_add_run(store, &run), -EEXIST);
    run.seed = 8;
    assert_int_equal(pct_store_add_run(store, &run), 0);
    assert_int_equal(pct_store_commit(store, 1.5), 0);
    run.seed = 9;
    assert_int_equal(pct_store_add_run(store, &run), 0);
    /* A second writer has to wait; a reader sees what is committed. */
    assert_null(pct_store_open(path, true, error, sizeof error));
    assert_string_equal(error, "another campaign is writing to it; wait until that has ended, or name another file");
    struct pct_store *reader = pct_store_open(path, false, error, sizeof error);
    assert_non_null(reader);
    assert_int_equal(count_runs(reader), 2);
    pct_store_close(reader);
    assert_int_equal(count_runs(store), 3);
    /* What was not committed is as if it had not been. */
    pct_store_close(store);
    store = pct_store_open(path, false, error, sizeof error);
    assert_non_null(store);
    assert_int_equal(count_runs(store), 2);
    struct pct_store_totals totals;
    assert_int_equal(pct_store_totals(store, &totals), 0);
    assert_int_equal(totals.runs, 2);
    assert_int_equal(totals.schedules, 1);
    assert_int_equal(totals.max_threads, 3);
    assert_int_equal(totals.sessions, 1);
    assert_true(totals.seconds == 1.5);
    pct_store_close(store);
}

static int check_finding(void *data, const struct pct_store_finding *finding)
{
    assert_int_equal(finding->id, 1);
    assert_true(finding->signature == 0xfedcba9876543210u);
    assert_string_equal(finding->title, "crash");
    assert_string_equal(finding->file, "");
    assert_int_equal(finding->output_size, 3);
    assert_memory_equal(finding->output, "a\0b", 3);
    assert_int_equal(finding->count, 2);
    assert_int_equal(finding->replays, 10);
    assert_int_equal(finding->same, 9);
    ++*(int *)data;
    return 0;
}

static int check_frame(void *data, const struct pct_store_frame *frame)
{
    assert_int_equal(frame->level, (*(unsigned *)data)++);
    assert_string_equal(frame->function, "put");
    assert_true(frame->offset == 1u << 31);
    return 0;
}

static void test_store_findings(void **unused)
{
    (void)unused;
    char error[512];
    assert_int_equal(pct_store_create(path, facts, error, sizeof error), 0);
    struct pct_store *store = pct_store_open(path, true, error, sizeof error);
    assert_non_null(store);
    struct pct_store_finding finding = { .signature = 0xfedcba9876543210u,
                                         .verdict = "crash",
                                         .title = "crash",
                                         .output = "a\0b",
                                         .output_size = 3,
                                         .seed = 7 };
    assert_int_equal(pct_store_add_finding(store, &finding), 0);
    assert_int_equal(finding.id, 1);
    for (unsigned i = 0; i < 3; i++) {
        const struct pct_store_frame frame = { .finding = 1, .level = i, .function = "put", .offset = 1u << 31 };
        assert_int_equal(pct_store_add_frame(store, &frame), 0);
    }
    for (uint64_t seed = 7; seed < 10; seed++) {
        const struct pct_store_run run = { .seed = seed, .finding = seed < 9 };
        assert_int_equal(pct_store_add_run(store, &run), 0);
    }
    finding.replays = 10;
    finding.same = 9;
    assert_int_equal(pct_store_confirm(store, &finding), 0);
    assert_int_equal(pct_store_commit(store, 1), 0);
    pct_store_close(store);
    store = pct_store_open(path, false, error, sizeof error);
    assert_non_null(store);
    int found = 0;
    unsigned frames = 0;
    assert_int_equal(pct_store_each_finding(store, check_finding, &found), 0);
    assert_int_equal(pct_store_each_frame(store, 1, check_frame, &frames), 0);
    assert_int_equal(found, 1);
    assert_int_equal(frames, 3);
    pct_store_close(store);
}

/* Every page of the file, one after the other, made into noise: either nobody notices because nothing is there, or the
 * file is refused; and it is never changed. */
static void test_store_damage(void **unused)
{
    (void)unused;
    enum { PAGE = 4096, MOST = 1 << 18 };
    static char whole[MOST], broken[MOST], after[MOST];
    char error[512];
    assert_int_equal(pct_store_create(path, facts, error, sizeof error), 0);
    struct pct_store *store = pct_store_open(path, true, error, sizeof error);
    assert_non_null(store);
    for (uint64_t i = 0; i < 300; i++) {
        const struct pct_store_run run = { .seed = 7 + i, .hash = i * 0x9e3779b97f4a7c15u };
        assert_int_equal(pct_store_add_run(store, &run), 0);
    }
    assert_int_equal(pct_store_commit(store, 1), 0);
    pct_store_close(store);
    FILE *file = fopen(path, "rb");
    size_t size = fread(whole, 1, sizeof whole, file);
    fclose(file);
    assert_true(size % PAGE == 0 && size < MOST);
    unsigned refused = 0;
    for (size_t page = 1; page < size / PAGE; page++) {
        memcpy(broken, whole, size);
        memset(broken + page * PAGE, 0x5a, PAGE);
        file = fopen(path, "wb");
        assert_int_equal(fwrite(broken, 1, size, file), size);
        fclose(file);
        store = pct_store_open(path, true, error, sizeof error);
        if (store)
            pct_store_close(store);
        refused += !store;
        file = fopen(path, "rb");
        assert_int_equal(fread(after, 1, sizeof after, file), size);
        fclose(file);
        assert_true(store || !memcmp(after, broken, size));
    }
    /* All pages are in use. */
    assert_int_equal(refused, size / PAGE - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wilson),
        cmocka_unit_test(test_signature_stacks),
        cmocka_unit_test(test_signature_message),
        cmocka_unit_test(test_reports),
        cmocka_unit_test(test_assertions),
        cmocka_unit_test(test_coverage),
        cmocka_unit_test(test_share),
        cmocka_unit_test_setup_teardown(test_store_commits, make, unmake),
        cmocka_unit_test_setup_teardown(test_store_findings, make, unmake),
        cmocka_unit_test_setup_teardown(test_store_damage, make, unmake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
