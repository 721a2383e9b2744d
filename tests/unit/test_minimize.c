/* The parts of `pct minimize` that need no program: delta debugging, lists of switches, and the orderings of a
 * trace. */

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/trace/orders.h>
#include <cli/campaign/delta_debugging.h>
#include <cli/trace/schedule.h>
#include <cli/trace/switches.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Holds as long as all parts of `needed` are there. */
struct need {
    const size_t *parts;
    size_t count;
    unsigned tests;
    unsigned most; /* then it gives up */
};

static bool holds(const struct need *need, const bool *keep, size_t count)
{
    for (size_t i = 0; i < need->count; i++) {
        assert_true(need->parts[i] < count);
        if (!keep[need->parts[i]])
            return false;
    }
    return true;
}

static int first(void *context, struct pct_reduction ahead, size_t *which)
{
    struct need *need = context;
    bool out[ahead.count + 1];
    size_t left = pct_reduction_left(&ahead);
    for (*which = 0; pct_reduction_next(&ahead, out); ++*which) {
        assert_true(*which < left);
        if (need->tests++ == need->most)
            return -EINTR;
        if (holds(need, out, ahead.count))
            return 1;
    }
    return 0;
}

static void test_reduce(void **unused)
{
    (void)unused;
    enum { PARTS = 200 };
    static const size_t sets[][3] = { { 0, 1, 2 }, { 0, 100, 199 }, { 7, 8, 150 } };
    for (size_t size = 0; size <= 3; size++)
        for (size_t set = 0; set < 3; set++) {
            bool keep[PARTS];
            memset(keep, true, sizeof keep);
            struct need need = { .parts = sets[set], .count = size, .most = 500 };
            assert_int_equal(pct_delta_debug(keep, PARTS, first, &need), 0);
            size_t kept = 0;
            for (size_t i = 0; i < PARTS; i++)
                kept += keep[i];
            assert_int_equal(kept, size);
            assert_true(holds(&need, keep, PARTS));
            /* Far fewer tests than parts. */
            assert_true(need.tests < (size ? 80 : 3));
        }
    /* Given up: what is left holds all the same. */
    bool keep[PARTS];
    memset(keep, true, sizeof keep);
    struct need need = { .parts = sets[1], .count = 3, .most = 9 };
    assert_int_equal(pct_delta_debug(keep, PARTS, first, &need), -EINTR);
    need.most = 100;
    assert_true(holds(&need, keep, PARTS));
    assert_int_equal(pct_delta_debug(keep, 0, first, &need), 0);
}

/* The deadlock of two locks, both threads waiting: `switches` and `orders` of it are known. */
#define STEP(thread, op, object) PCT_RECORD(thread, PCT_OP_##op, 0, object)
static const uint64_t deadlock[] = { STEP(0, THREAD_CREATE, 1), STEP(0, THREAD_CREATE, 2), STEP(1, THREAD_START, 1),
                                     STEP(1, MUTEX_LOCK, 1),    STEP(2, THREAD_START, 2),  STEP(2, MUTEX_LOCK, 2) };

static void test_switches(void **unused)
{
    (void)unused;
    struct pct_trace trace = { .records = deadlock, .count = sizeof deadlock / sizeof *deadlock, .complete = true };
    struct pct_switches switches, again;
    assert_int_equal(pct_switches_from_trace(&switches, &trace), 0);
    char *text = pct_switches_format(&switches, NULL);
    assert_string_equal(text, "0.2.1-1.2.2");
    assert_int_equal(pct_switches_parse(&again, text), 0);
    assert_int_equal(again.count, 2);
    assert_int_equal(again.item[1].thread, 1);
    assert_int_equal(again.item[1].made, 2);
    assert_int_equal(again.item[1].value, 2);
    free(text);
    bool keep[] = { false, true };
    text = pct_switches_format(&switches, keep);
    assert_string_equal(text, "1.2.2");
    free(text);
    pct_switches_free(&switches);
    pct_switches_free(&again);
    static const char *const bad[] = { "1", "1.2", "1.2.", "1.2.3-", "1.2.x", "40000.1.1" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(pct_switches_parse(&again, bad[i]), -EINVAL);
    /* A wake that did not choose the first waiter; an arrival from outside, which belongs to who ran. */
    static const uint64_t wakes[] = { STEP(0, THREAD_CREATE, 1),
                                      PCT_RECORD(0, PCT_OP_COND_SIGNAL, 2, 4),
                                      PCT_RECORD(0, PCT_OP_COND_SIGNAL, PCT_ARG_NOBODY, 4),
                                      PCT_RECORD(1, PCT_OP_OUTSIDE, 0, 77),
                                      STEP(0, YIELD, 0),
                                      STEP(1, THREAD_START, 1) };
    trace = (struct pct_trace){ .records = wakes, .count = sizeof wakes / sizeof *wakes, .complete = true };
    assert_int_equal(pct_switches_from_trace(&switches, &trace), 0);
    text = pct_switches_format(&switches, NULL);
    assert_string_equal(text, "0.1.w2-0.5.1");
    free(text);
    pct_switches_free(&switches);
    /* Who yields, goes to sleep, or has asked in vain, and goes on all the same. */
    static const uint64_t stays[] = {
        STEP(0, THREAD_CREATE, 1), STEP(0, YIELD, 0),       PCT_RECORD(0, PCT_OP_MUTEX_TRYLOCK, PCT_ARG_BUSY, 2),
        STEP(0, MUTEX_LOCK, 3),    STEP(0, SLEEP, 0),       PCT_RECORD(0, PCT_OP_POLL, PCT_ARG_TIMEOUT, 0),
        STEP(0, MUTEX_LOCK, 3),    STEP(1, THREAD_START, 1)
    };
    trace = (struct pct_trace){ .records = stays, .count = sizeof stays / sizeof *stays, .complete = true };
    assert_int_equal(pct_switches_from_trace(&switches, &trace), 0);
    text = pct_switches_format(&switches, NULL);
    assert_string_equal(text, "0.1.0-0.3.0-0.4.0-0.6.0-0.7.1");
    free(text);
    pct_switches_free(&switches);
}

static void test_orders(void **unused)
{
    (void)unused;
    struct pct_trace trace = { .records = deadlock, .count = sizeof deadlock / sizeof *deadlock, .complete = true };
    trace.header.threads = 3;
    struct pct_snap_thread threads[] = {
        { .id = 1, .state = PCT_SNAP_BLOCKED, .op = PCT_OP_MUTEX_LOCK, .object = 2 },
        { .id = 2, .state = PCT_SNAP_BLOCKED, .op = PCT_OP_MUTEX_LOCK, .object = 1 },
    };
    struct pct_snapshot snapshot = { .threads = threads, .thread_count = 2 };
    struct pct_run_view run = { &trace, &snapshot };
    struct pct_orders orders;
    assert_int_equal(pct_orders_from_trace(&orders, &run, NULL), 0);
    assert_int_equal(orders.count, 2);
    bool keep[] = { true, true };
    /* Operation 10 is lock: thread 2's first before thread 1's second, and thread 1's first before thread 2's
     * second. */
    _Static_assert(PCT_OP_MUTEX_LOCK == 10 && PCT_OP_MUTEX_UNLOCK == 12, "the numbers in the lists");
    char *text = pct_orders_format(&orders, keep, SIZE_MAX);
    assert_string_equal(text, "2.10x1.1.10x2-1.10x1.2.10x2");
    free(text);
    assert_false(pct_orders_broken(&orders, keep, SIZE_MAX, &trace));
    assert_true(orders.item[0].then.step == PCT_STEP_PENDING);
    pct_orders_free(&orders);
}

/* Sections stand for their locks; what follows from others, or from a join, is no order of its own. */
static void test_sections(void **unused)
{
    (void)unused;
    static const uint64_t steps[] = {
        STEP(0, MUTEX_LOCK, 1),   STEP(0, MUTEX_UNLOCK, 1), STEP(0, THREAD_CREATE, 1), STEP(0, MUTEX_LOCK, 1),
        STEP(0, MUTEX_UNLOCK, 1), STEP(1, THREAD_START, 1), STEP(1, MUTEX_LOCK, 1),    STEP(1, MUTEX_UNLOCK, 1),
        STEP(1, MUTEX_LOCK, 1),   STEP(1, MUTEX_UNLOCK, 1), STEP(1, THREAD_FINISH, 1), STEP(0, THREAD_JOIN, 1),
        STEP(0, MUTEX_LOCK, 1),   STEP(0, MUTEX_UNLOCK, 1),
    };
    struct pct_trace trace = { .records = steps, .count = sizeof steps / sizeof *steps, .complete = true };
    trace.header.threads = 2;
    struct pct_snapshot snapshot = { 0 };
    struct pct_run_view run = { &trace, &snapshot };
    struct pct_orders orders;
    assert_int_equal(pct_orders_from_trace(&orders, &run, NULL), 0);
    assert_int_equal(orders.count, 1);
    bool keep[] = { true };
    char *text = pct_orders_format(&orders, keep, SIZE_MAX);
    assert_string_equal(text, "0.12x2.1.10x1"); /* main's second section, to its unlock, before the thread's first */
    free(text);
    text = pct_orders_format(&orders, keep, 0);
    assert_string_equal(text, "1.12x1.0.10x2");
    free(text);
    assert_false(pct_orders_broken(&orders, keep, SIZE_MAX, &trace));
    assert_true(pct_orders_broken(&orders, keep, 0, &trace));
    pct_orders_free(&orders);
}

/* A thread's operations are more than 16 bits can count; and the object that one thread has used so often is one step
 * back. */
static void test_long_run(void **unused)
{
    (void)unused;
    enum { OFTEN = 70000 };
    uint64_t *steps = malloc((2 * OFTEN + 2) * sizeof *steps);
    assert_non_null(steps);
    steps[0] = STEP(0, MUTEX_LOCK, 1);
    steps[1] = STEP(0, MUTEX_UNLOCK, 1);
    for (size_t i = 1; i <= OFTEN; i++) {
        steps[2 * i] = STEP(1, MUTEX_LOCK, 1);
        steps[2 * i + 1] = STEP(1, MUTEX_UNLOCK, 1);
    }
    struct pct_trace trace = { .records = steps, .count = 2 * OFTEN + 2, .complete = true };
    trace.header.threads = 3;
    struct pct_snap_thread thread = { .id = 2, .state = PCT_SNAP_BLOCKED, .op = PCT_OP_MUTEX_LOCK, .object = 1 };
    struct pct_snapshot snapshot = { .threads = &thread, .thread_count = 1 };
    struct pct_run_view run = { &trace, &snapshot };
    struct pct_orders orders;
    assert_int_equal(pct_orders_from_trace(&orders, &run, NULL), 0);
    assert_int_equal(orders.count, 2);
    bool keep[] = { true, true };
    char *text = pct_orders_format(&orders, keep, SIZE_MAX);
    assert_string_equal(text, "0.12x1.1.10x1-1.12x70000.2.10x1");
    free(text);
    pct_orders_free(&orders);
    free(steps);
}

/* Two wait for a condition variable, and the signal wakes the second: the one that did. A wait that ran out of time
 * leaves that open, and where only one waits there is no choice. */
static void test_wakes(void **unused)
{
    (void)unused;
    uint64_t steps[] = {
        STEP(0, THREAD_CREATE, 1), STEP(0, THREAD_CREATE, 2),
        STEP(1, THREAD_START, 1),  STEP(1, MUTEX_LOCK, 1),
        STEP(1, COND_WAIT, 2),     STEP(2, THREAD_START, 2),
        STEP(2, MUTEX_LOCK, 1),    STEP(2, COND_WAIT, 2),
        STEP(0, MUTEX_LOCK, 1),    PCT_RECORD(0, PCT_OP_COND_SIGNAL, 1, 2),
        STEP(0, MUTEX_UNLOCK, 1),  STEP(2, COND_WAKE, 2),
        STEP(0, COND_SIGNAL, 2),   STEP(2, MUTEX_UNLOCK, 1),
        STEP(1, COND_WAKE, 2),
    };
    struct pct_trace trace = { .records = steps, .count = sizeof steps / sizeof *steps, .complete = true };
    trace.header.threads = 3;
    struct pct_snapshot snapshot = { 0 };
    struct pct_run_view run = { &trace, &snapshot };
    struct pct_orders orders;
    assert_int_equal(pct_orders_from_trace(&orders, &run, NULL), 0);
    assert_int_equal(orders.wakes, 1);
    orders.item += orders.count;
    struct pct_order *item = orders.item - orders.count;
    orders.count = 1;
    const struct pct_order *wake = &orders.item[0];
    assert_true(wake->wake && wake->then.thread == 2 && wake->then.step == 11 && wake->then.number == 4);
    bool keep[] = { true };
    char *text = pct_orders_format(&orders, keep, SIZE_MAX), *turned = pct_orders_format(&orders, keep, 0);
    assert_string_equal(text, "0.18x1.w2");
    assert_string_equal(turned, "0.18x1.n2");
    free(text);
    free(turned);
    assert_false(pct_orders_broken(&orders, keep, SIZE_MAX, &trace));
    assert_true(pct_orders_broken(&orders, keep, 0, &trace));
    /* The other one is woken. */
    steps[9] = STEP(0, COND_SIGNAL, 2);
    assert_true(pct_orders_broken(&orders, keep, SIZE_MAX, &trace));
    assert_false(pct_orders_broken(&orders, keep, 0, &trace));
    /* The first had run out of time by then, or would: the trace does not say. */
    steps[9] = PCT_RECORD(0, PCT_OP_COND_SIGNAL, 1, 2);
    steps[14] = PCT_RECORD(1, PCT_OP_COND_WAKE, PCT_ARG_TIMEOUT, 2);
    assert_false(pct_orders_broken(&orders, keep, SIZE_MAX, &trace));
    assert_false(pct_orders_broken(&orders, keep, 0, &trace));
    orders.item = item;
    pct_orders_free(&orders);
}

/* The operations of a thread by their number, and by their kind and count. */
static void test_events(void **unused)
{
    (void)unused;
    static const uint64_t steps[] = {
        STEP(0, THREAD_CREATE, 1), STEP(1, THREAD_START, 1), PCT_RECORD(1, PCT_OP_OUTSIDE, 0, 77),
        STEP(1, MUTEX_LOCK, 3),    STEP(0, MUTEX_LOCK, 4),   STEP(1, MUTEX_UNLOCK, 3),
        STEP(1, MUTEX_LOCK, 5),
    };
    struct pct_trace trace = { .records = steps, .count = sizeof steps / sizeof *steps, .complete = true };
    struct pct_event event;
    assert_true(pct_orders_event(&event, &trace, 1, 2));
    assert_int_equal(event.op, PCT_OP_MUTEX_LOCK);
    assert_int_equal(event.count, 1);
    assert_int_equal(event.object, 3);
    assert_int_equal(event.step, 3); /* what comes from outside is nobody's own */
    assert_int_equal(event.end, PCT_OP_MUTEX_UNLOCK);
    assert_true(pct_orders_event(&event, &trace, 1, 4));
    assert_int_equal(event.count, 2);
    assert_int_equal(event.end, PCT_OP_NONE);
    assert_false(pct_orders_event(&event, &trace, 1, 0));
    assert_false(pct_orders_event(&event, &trace, 1, 5));
    event = (struct pct_event){ .thread = 1, .op = PCT_OP_MUTEX_LOCK, .count = 2, .number = 99, .object = 9 };
    assert_true(pct_orders_find(&event, &trace));
    assert_int_equal(event.number, 4);
    assert_int_equal(event.object, 5);
    assert_int_equal(event.step, 6);
    event.count = 3;
    assert_false(pct_orders_find(&event, &trace));
    assert_true(pct_orders_releases(PCT_OP_MUTEX_UNLOCK));
    assert_false(pct_orders_releases(PCT_OP_MUTEX_LOCK));
}

/* What a thread was about to do: without a number that is not known. */
static void test_next(void **unused)
{
    (void)unused;
    char text[64];
    assert_string_equal(pct_schedule_format_next(text, sizeof text, PCT_OP_MUTEX_UNLOCK, 7), "unlock mutex 7");
    assert_string_equal(pct_schedule_format_next(text, sizeof text, PCT_OP_MUTEX_UNLOCK, 0), "unlock mutex");
    assert_string_equal(pct_schedule_format_next(text, sizeof text, PCT_OP_READ, 0), "read fd");
    assert_string_equal(pct_schedule_format_next(text, sizeof text, PCT_OP_THREAD_JOIN, 0), "join thread 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_reduce),   cmocka_unit_test(test_switches),
                                        cmocka_unit_test(test_orders),   cmocka_unit_test(test_sections),
                                        cmocka_unit_test(test_long_run), cmocka_unit_test(test_wakes),
                                        cmocka_unit_test(test_events),   cmocka_unit_test(test_next) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
