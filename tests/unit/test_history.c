/* The check of histories against brute force: random small histories of a register, a counter and a queue. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <pct/history.h>
#include <pct/random.h>

enum { RANDOM_HISTORIES = 6000, MOST_CALLS = 6 };

static bool step_register(void *state, int operation, long argument, bool returned, long result)
{
    long *value = state;
    if (operation)
        *value = argument;
    return operation || !returned || result == *value;
}

static bool step_counter(void *state, int operation, long argument, bool returned, long result)
{
    long *value = state, before = *value;
    *value += argument;
    (void)operation;
    return !returned || result == before;
}

struct queue {
    long count, item[MOST_CALLS];
};

static bool step_queue(void *state, int operation, long argument, bool returned, long result)
{
    struct queue *queue = state;
    long first = queue->count ? queue->item[0] : -1;
    if (operation) {
        queue->item[queue->count++] = argument;
        return true;
    }
    if (queue->count) {
        queue->count--;
        memmove(queue->item, queue->item + 1, sizeof queue->item - sizeof *queue->item);
        queue->item[MOST_CALLS - 1] = 0;
    }
    return !returned || result == first;
}

static const struct pct_model models[] = {
    { .name = "register", .size = sizeof(long), .step = step_register },
    { .name = "counter", .size = sizeof(long), .step = step_counter },
    { .name = "queue", .size = sizeof(struct queue), .step = step_queue },
};

/* Every order of every set of calls that may have taken effect. */
static bool try_all(const struct pct_history *h, unsigned used, const unsigned char *state, unsigned until)
{
    bool complete = true;
    for (int i = 0; i < h->calls; i++)
        complete = complete && (used >> i & 1 || !h->call[i].end || h->call[i].end > until);
    for (int i = 0; i < h->calls && !complete; i++) {
        unsigned char next[sizeof(struct queue)];
        bool may = !(used >> i & 1) && h->call[i].begin <= until;
        for (int j = 0; j < h->calls; j++) /* none that ended before it began is left out */
            may = may && (used >> j & 1 || !h->call[j].end || h->call[j].end > h->call[i].begin);
        memcpy(next, state, h->model->size);
        bool returned = h->call[i].end && h->call[i].end <= until;
        if (may && h->model->step(next, h->call[i].operation, h->call[i].argument, returned, h->call[i].result))
            complete = try_all(h, used | 1u << i, next, until);
    }
    return complete;
}

static uint64_t draws;

static unsigned below(unsigned bound)
{
    return (unsigned)pct_random_below(1, 1, draws++, bound);
}

/* Calls in up to three threads; few values, so that about half of the histories are linearizable. */
static void make_history(struct pct_history *h)
{
    int open[3] = { -1, -1, -1 };
    *h = (struct pct_history)PCT_HISTORY(&models[below(3)]);
    unsigned calls = 1 + below(MOST_CALLS), never = below(4);
    while (calls || open[0] >= 0 || open[1] >= 0 || open[2] >= 0) {
        unsigned thread = below(3);
        struct pct_history_call *call;
        if (open[thread] < 0 && calls) {
            calls--;
            open[thread] = h->calls;
            call = &h->call[h->calls++];
            call->operation = (int)below(2);
            call->argument = below(3);
            call->thread = (int)thread;
            call->begin = ++h->records;
        } else if (open[thread] >= 0) {
            call = &h->call[open[thread]];
            open[thread] = calls || never || below(2) ? -1 : -2; /* sometimes the last one never returns */
            call->returned = open[thread] == -1;
            call->result = (long)below(4) - (h->model == &models[2]);
            call->end = call->returned ? ++h->records : 0;
        }
    }
}

static void test_brute_force(void **unused)
{
    static struct pct_history h;
    static const unsigned char zeroes[sizeof(struct queue)];
    unsigned fine = 0, never = 0;
    (void)unused;
    for (unsigned i = 0; i < RANDOM_HISTORIES; i++) {
        make_history(&h);
        unsigned bad = 0;
        for (unsigned until = 1; until <= h.records && !bad; until++) {
            bool holds = try_all(&h, 0, zeroes, until);
            assert_int_equal(pct_history_holds(&h, until), holds);
            bad = holds ? 0 : until;
        }
        assert_int_equal(pct_history_check(&h), bad);
        fine += !bad;
        for (int j = 0; j < h.calls; j++)
            never += !h.call[j].returned;
    }
    assert_in_range(fine, RANDOM_HISTORIES / 5, RANDOM_HISTORIES * 4 / 5);
    assert_true(never > 100);
}

/* A dequeue may have taken the item before another one returned "empty"; only what it then returns is wrong. */
static void test_marks_what_is_wrong(void **unused)
{
    static struct pct_history h = PCT_HISTORY(&models[2]);
    (void)unused;
    pct_return(&h, pct_call(&h, 1, 1), 0);
    int slow = pct_call(&h, 0, 0);
    pct_return(&h, pct_call(&h, 0, 0), -1);
    pct_return(&h, slow, 2);
    assert_int_equal(pct_history_check(&h), h.call[slow].end);
}

/* As many calls as there is room for, two at a time. */
static void test_large(void **unused)
{
    static struct pct_history h = PCT_HISTORY(&models[0]);
    (void)unused;
    for (int i = 0; i < PCT_HISTORY_CALLS / 2; i++) {
        int write = pct_call(&h, 1, i), read = pct_call(&h, 0, 0);
        pct_return(&h, read, i % 2 || !i ? i : i - 1);
        pct_return(&h, write, 0);
    }
    assert_int_equal(pct_history_check(&h), 0);
    assert_int_equal(h.calls, PCT_HISTORY_CALLS);
    assert_int_equal(h.threads, 1);
    h.call[PCT_HISTORY_CALLS / 2 + 1].result = 1000;
    assert_int_equal(pct_history_check(&h), h.call[PCT_HISTORY_CALLS / 2 + 1].end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force),
        cmocka_unit_test(test_marks_what_is_wrong),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
