/* Unit tests of include/pct/sets.h: each set against a naive one, through random operations. Links with nothing. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <pct/random.h>
#include <pct/sets.h>
#include <stdlib.h>

enum { OPERATIONS = 200000 };

static uint32_t draw(uint64_t i, uint32_t stream, uint32_t bound)
{
    return (uint32_t)pct_random_below(1, PCT_STREAM_USER + stream, i, bound);
}

static void *zeroed(size_t size)
{
    void *memory = calloc(1, size);
    assert_non_null(memory);
    return memory;
}

/* A set of this many threads, or with this window. */
static struct pct_dense_set *new_dense(uint32_t threads)
{
    struct pct_layout layout = { .used = sizeof(struct pct_dense_set) };
    struct pct_dense_set none, *set;
    pct_dense_set_start(&none, &layout, threads);
    set = zeroed(layout.used);
    layout = (struct pct_layout){ .base = (char *)set, .used = sizeof *set };
    pct_dense_set_start(set, &layout, threads);
    return set;
}

static struct pct_calendar *new_calendar(uint32_t threads, uint32_t window)
{
    struct pct_layout layout = { .used = sizeof(struct pct_calendar) };
    struct pct_calendar none, *calendar;
    pct_calendar_start(&none, &layout, threads, window);
    calendar = zeroed(layout.used);
    layout = (struct pct_layout){ .base = (char *)calendar, .used = sizeof *calendar };
    pct_calendar_start(calendar, &layout, threads, window);
    return calendar;
}

static void test_rank_empty(void **unused)
{
    (void)unused;
    struct pct_rank_set *set = zeroed(sizeof *set);
    assert_int_equal(pct_rank_set_highest(set), PCT_NO_RANK);
    assert_int_equal(pct_rank_set_lowest(set), PCT_NO_RANK);
    assert_int_equal(pct_rank_set_above(set, 0), PCT_NO_RANK);
    assert_int_equal(pct_rank_set_above(set, PCT_RANKS - 1), PCT_NO_RANK);
    assert_int_equal(pct_rank_set_after(set, 5), PCT_NO_RANK);
    pct_rank_set_remove(set, 77);
    assert_int_equal(pct_rank_set_highest(set), PCT_NO_RANK);
    free(set);
}

/* Every rank alone, at every boundary between words. */
static void test_rank_single(void **unused)
{
    (void)unused;
    struct pct_rank_set *set = zeroed(sizeof *set);
    for (uint32_t rank = 0; rank < PCT_RANKS; rank++) {
        pct_rank_set_insert(set, rank);
        assert_true(pct_rank_set_has(set, rank));
        assert_int_equal(pct_rank_set_highest(set), rank);
        assert_int_equal(pct_rank_set_lowest(set), rank);
        assert_int_equal(pct_rank_set_above(set, rank), PCT_NO_RANK);
        assert_int_equal(pct_rank_set_after(set, rank), rank);
        if (rank) {
            assert_int_equal(pct_rank_set_above(set, rank - 1), rank);
            assert_int_equal(pct_rank_set_above(set, 0), rank);
        }
        pct_rank_set_remove(set, rank);
        assert_false(pct_rank_set_has(set, rank));
        assert_int_equal(set->top, 0);
    }
    free(set);
}

/* Against an array of flags, in windows of several widths over the whole range, so that all levels are crossed. */
static void test_rank_random(void **unused)
{
    (void)unused;
    static const uint32_t strides[] = { 1, 7, 64, 1000, 4096, 8191 };
    for (uint32_t k = 0; k < sizeof strides / sizeof strides[0]; k++) {
        enum { MEMBERS = 32 };
        struct pct_rank_set *set = zeroed(sizeof *set);
        bool in[MEMBERS] = { false };
        uint32_t base = PCT_RANKS - 1 - strides[k] * (MEMBERS - 1);
        for (uint64_t i = 0; i < OPERATIONS / 4; i++) {
            uint32_t member = draw(i, k, MEMBERS);
            in[member] = draw(i, 100 + k, 2);
            if (in[member])
                pct_rank_set_insert(set, base + member * strides[k]);
            else
                pct_rank_set_remove(set, base + member * strides[k]);
            uint32_t from = draw(i, 200 + k, MEMBERS);
            uint32_t highest = PCT_NO_RANK, lowest = PCT_NO_RANK, above = PCT_NO_RANK;
            for (uint32_t m = 0; m < MEMBERS; m++) {
                uint32_t rank = base + m * strides[k];
                assert_int_equal(pct_rank_set_has(set, rank), in[m]);
                if (!in[m])
                    continue;
                highest = rank;
                if (lowest == PCT_NO_RANK)
                    lowest = rank;
                if (m > from && above == PCT_NO_RANK)
                    above = rank;
            }
            assert_int_equal(pct_rank_set_highest(set), highest);
            assert_int_equal(pct_rank_set_lowest(set), lowest);
            assert_int_equal(pct_rank_set_above(set, base + from * strides[k]), above);
            assert_int_equal(pct_rank_set_after(set, base + from * strides[k]), above == PCT_NO_RANK ? lowest : above);
        }
        free(set);
    }
}

static void test_rank_full(void **unused)
{
    (void)unused;
    struct pct_rank_set *set = zeroed(sizeof *set);
    for (uint32_t rank = 0; rank < PCT_RANKS; rank++)
        pct_rank_set_insert(set, rank);
    for (uint32_t rank = 0; rank + 1 < PCT_RANKS; rank++)
        assert_int_equal(pct_rank_set_above(set, rank), rank + 1);
    assert_int_equal(pct_rank_set_after(set, PCT_RANKS - 1), 0);
    for (uint32_t rank = PCT_RANKS; rank-- > 0;) {
        assert_int_equal(pct_rank_set_highest(set), rank);
        pct_rank_set_remove(set, rank);
    }
    assert_int_equal(set->top, 0);
    free(set);
}

static void test_dense_random(void **unused)
{
    (void)unused;
    static bool in[PCT_MAX_THREADS];
    struct pct_dense_set *set = new_dense(PCT_MAX_THREADS);
    uint32_t size = 0;
    for (uint64_t i = 0; i < OPERATIONS; i++) {
        /* Few ids at first, so that they come and go; then all. */
        uint32_t thread = draw(i, 1, i < OPERATIONS / 2 ? 20 : PCT_MAX_THREADS);
        bool insert = draw(i, 2, 2);
        size += insert && !in[thread];
        size -= !insert && in[thread];
        in[thread] = insert;
        if (insert)
            pct_dense_set_insert(set, thread);
        else
            pct_dense_set_remove(set, thread);
        assert_int_equal(pct_dense_set_size(set), size);
        assert_int_equal(pct_dense_set_has(set, thread), insert);
        if (i % 64)
            continue;
        /* The array holds each member once. */
        uint32_t *seen = zeroed(PCT_MAX_THREADS * sizeof *seen);
        for (uint32_t at = 0; at < size; at++) {
            uint32_t member = pct_dense_set_at(set, at);
            assert_true(in[member]);
            assert_int_equal(seen[member]++, 0);
        }
        free(seen);
    }
    free(set);
}

static void test_dense_full(void **unused)
{
    (void)unused;
    struct pct_dense_set *set = new_dense(PCT_MAX_THREADS);
    for (uint32_t t = 0; t < PCT_MAX_THREADS; t++)
        pct_dense_set_insert(set, t);
    assert_int_equal(pct_dense_set_size(set), PCT_MAX_THREADS);
    for (uint32_t t = 0; t < PCT_MAX_THREADS; t++)
        assert_int_equal(pct_dense_set_at(set, t), t);
    pct_dense_set_remove(set, 0);
    assert_int_equal(pct_dense_set_at(set, 0), PCT_MAX_THREADS - 1);
    for (uint32_t t = 1; t < PCT_MAX_THREADS; t++)
        pct_dense_set_remove(set, t);
    assert_int_equal(pct_dense_set_size(set), 0);
    free(set);
}

/* Insert, remove, take and advance against a scan, for windows that fill the ring and windows that do not. The clock
 * passes 2^32. */
static void test_calendar_random(void **unused)
{
    (void)unused;
    static const uint32_t windows[] = { 1, 2, 3, 64, 65, 4096, 5000, PCT_RANKS };
    for (uint32_t k = 0; k < sizeof windows / sizeof windows[0]; k++) {
        enum { THREADS = 40 };
        struct pct_calendar *calendar = new_calendar(THREADS, windows[k]);
        uint64_t now = UINT32_MAX - (uint64_t)windows[k], due[THREADS] = { 0 };
        uint64_t inserted[THREADS] = { 0 }; /* 0: no member */
        for (uint64_t i = 1; i <= OPERATIONS / 4; i++) {
            uint32_t thread = draw(i, k, THREADS);
            if (inserted[thread]) {
                pct_calendar_remove(calendar, thread);
                inserted[thread] = 0;
            } else if (draw(i, 100 + k, 3)) {
                /* Sometimes the first or the last tick of the window. */
                uint32_t ends[] = { 0, windows[k] - 1, draw(i, 200 + k, windows[k]) };
                due[thread] = now + ends[draw(i, 300 + k, 3)];
                inserted[thread] = i;
                pct_calendar_insert(calendar, thread, due[thread]);
            } else {
                pct_calendar_remove(calendar, thread);
            }
            uint64_t earliest = PCT_NO_TICK;
            uint32_t last = PCT_NO_THREAD;
            for (uint32_t t = 0; t < THREADS; t++) {
                assert_int_equal(pct_calendar_has(calendar, t), inserted[t] != 0);
                if (!inserted[t] || due[t] > earliest)
                    continue;
                if (due[t] < earliest || inserted[t] > inserted[last])
                    last = t;
                earliest = due[t];
            }
            assert_int_equal(pct_calendar_earliest(calendar, now), earliest);
            if (last == PCT_NO_THREAD) {
                assert_int_equal(pct_calendar_take(calendar, now), PCT_NO_THREAD);
                now += draw(i, 400 + k, 1000);
            } else if (draw(i, 500 + k, 4) == 0) {
                now = earliest;
                assert_int_equal(pct_calendar_take(calendar, now), last);
                inserted[last] = 0;
            }
        }
        assert_true(now > UINT32_MAX);
        free(calendar);
    }
}

/* All threads, out in the order of their ticks, again and again while the clock goes round the ring. */
static void test_calendar_full(void **unused)
{
    (void)unused;
    enum { WINDOW = 1000 };
    struct pct_calendar *calendar = new_calendar(PCT_MAX_THREADS, WINDOW);
    uint64_t now = 0, *due = zeroed(PCT_MAX_THREADS * sizeof *due);
    for (uint32_t t = 0; t < PCT_MAX_THREADS; t++)
        pct_calendar_insert(calendar, t, due[t] = draw(t, 4, WINDOW));
    for (uint32_t n = 0; n < 10 * PCT_MAX_THREADS; n++) {
        now = pct_calendar_earliest(calendar, now);
        uint32_t thread = pct_calendar_take(calendar, now);
        assert_true(thread != PCT_NO_THREAD);
        assert_int_equal(due[thread], now);
        pct_calendar_insert(calendar, thread, due[thread] = now + draw(n, 5, WINDOW));
    }
    assert_true(now > 2 * WINDOW);
    for (uint32_t t = 0; t < PCT_MAX_THREADS; t++)
        assert_true(due[t] >= now && due[t] < now + WINDOW);
    for (uint32_t n = 0; n < PCT_MAX_THREADS; n++) {
        now = pct_calendar_earliest(calendar, now);
        assert_int_equal(due[pct_calendar_take(calendar, now)], now);
    }
    assert_int_equal(pct_calendar_earliest(calendar, now), PCT_NO_TICK);
    assert_int_equal(pct_calendar_take(calendar, now), PCT_NO_THREAD);
    free(due);
    free(calendar);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rank_empty),      cmocka_unit_test(test_rank_single),
        cmocka_unit_test(test_rank_random),     cmocka_unit_test(test_rank_full),
        cmocka_unit_test(test_dense_random),    cmocka_unit_test(test_dense_full),
        cmocka_unit_test(test_calendar_random), cmocka_unit_test(test_calendar_full),
    };
    return cmocka_run_group_tests_name("sets", tests, NULL, NULL);
}
