/* Unit tests of cli/trace/guess.c: runs made by hand. Links with: cli/trace/guess.c cli/trace/orderings.c
 * cli/trace/iroots.c cli/trace/conflicts.c cli/trace/events.c cli/base/names.c. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "../../cli/trace/guess.h"
#include "written_run.h"

static const struct written_kind kinds[] = {
    { 'r', PCT_OP_LOAD, 0, true, true },
    { 'w', PCT_OP_STORE, 0, true, false },
    { 'l', PCT_OP_MUTEX_LOCK, 0, true, false },
    { 'u', PCT_OP_MUTEX_UNLOCK, 0, true, false },
    { 'n', PCT_OP_THREAD_CREATE, 0, false, false },
    { 's', PCT_OP_THREAD_START, 0, false, false },
};

enum { MOST = 64 };

/* The places of a run, as numbers of its accesses, from 1: by_number has the operations. */
struct guessing {
    struct written_run run;
    struct pct_access_place place[MOST], *item[MOST];
    struct pct_access_places places;
    struct pct_iroots guessed, exposed, predicted;
};

static void begin(struct guessing *g, const char *text)
{
    *g = (struct guessing){ .places = { .count = 0 } };
    written_run_read(&g->run, kinds, text);
    for (size_t i = 0; i < MOST; i++)
        g->item[i] = &g->place[i];
    for (size_t i = 0; i < g->run.count; i++)
        g->place[g->run.accesses[i].place - 1].op = g->run.accesses[i].op;
    g->places.item = g->item;
    g->places.count = MOST;
}

static void end(struct guessing *g)
{
    pct_iroots_free(&g->guessed);
    pct_iroots_free(&g->exposed);
    pct_iroots_free(&g->predicted);
}

static void expose(struct guessing *g, uint32_t idiom, const uint32_t place[PCT_IROOT_PLACES])
{
    struct pct_iroot root = { .idiom = idiom };
    for (unsigned i = 0; i < PCT_IROOT_PLACES; i++)
        root.place[i] = place[i];
    assert_int_equal(pct_iroots_insert(&g->exposed, &root, 1), 0);
}

static void combine(struct guessing *g, uint32_t window)
{
    struct pct_orderings orderings = { .threads = 0 };
    assert_int_equal(pct_orderings_read(&orderings, &g->run.trace, g->run.accesses, g->run.count), 0);
    assert_int_equal(
        pct_guess_combined(&g->guessed, &g->exposed, &orderings, &g->places, g->run.accesses, g->run.count, window, 1),
        0);
    pct_orderings_free(&orderings);
}

/* Of the two dependencies, which were exposed, this run makes one combined pattern likely, or none (0). */
static const struct {
    const char *run;
    uint32_t place[PCT_IROOT_PLACES], idiom;
} combined[] = {
    { "0wx 0wy 1rx 2ry", { 1, 3, 2, 4 }, 7 },
    { "0rx 1wx 2wy 0ry", { 1, 2, 3, 4 }, 8 },
    { "0wx 1rx 1wy 2ry", { 1, 2, 3, 4 }, 9 },
    { "0wx 2wy 1rx 1ry", { 1, 3, 2, 4 }, 10 },
    { "2ry 0wx 1rx 1wy", { 2, 3, 4, 1 }, 9 },                 /* what was early may come late, */
    { "2ry 2n3 3s3 0wx 1rx 1wy", { 4, 5, 6, 1 }, 9 },         /* but not when */
    { "2ry 2n1 1s1 0wx 1rx 1wy", { 4, 5, 6, 1 }, 0 },         /* the other thread is not there before it */
    { "0rx 0ry 1wx 1wy", { 1, 3, 4, 2 }, 0 },                 /* two threads */
    { "0lm 0rx 0ry 0um 1lm 1wx 1um 2wy", { 2, 6, 8, 3 }, 0 }, /* a lock that is held all the time keeps the other out */
    { "0lm 0rx 0um 0lm 0ry 0um 1lm 1wx 1um 2wy", { 2, 8, 10, 5 }, 8 },
    { "0rx 1rx 1wy 2ry", { 1, 2, 3, 4 }, 0 }, /* one of two is to write */
    { "0um 1um 1wy 2ry", { 1, 2, 3, 4 }, 0 }, /* two unlocks: it does not matter which one comes first */
};

static void test_combined(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof combined / sizeof *combined; i++) {
        static struct guessing g; /* large */
        const uint32_t *at = combined[i].place;
        const struct pct_iroot wanted = { .idiom = combined[i].idiom, .place = { at[0], at[1], at[2], at[3] } };
        begin(&g, combined[i].run);
        expose(&g, 1, (const uint32_t[PCT_IROOT_PLACES]){ at[0], at[1] });
        expose(&g, 1, (const uint32_t[PCT_IROOT_PLACES]){ at[2], at[3] });
        combine(&g, 40);
        if (g.guessed.count != (wanted.idiom != 0) || (wanted.idiom && !pct_iroots_find(&g.guessed, &wanted)))
            fail_msg("%s: %zu patterns, or another one", combined[i].run, g.guessed.count);
        end(&g);
    }
}

/* Far from each other, the two accesses of the shared thread are no pattern. */
static void test_window(void **unused)
{
    (void)unused;
    for (uint32_t window = 1; window < 3; window++) {
        static struct guessing g; /* large */
        begin(&g, "0rx 0rz 1wx 2wy 0ry");
        expose(&g, 1, (const uint32_t[PCT_IROOT_PLACES]){ 1, 3 });
        expose(&g, 1, (const uint32_t[PCT_IROOT_PLACES]){ 4, 5 });
        combine(&g, window);
        assert_int_equal(g.guessed.count, window == 2);
        end(&g);
    }
}

/* What is swapped of one that was exposed. */
static void test_swapped(void **unused)
{
    (void)unused;
    static struct guessing g; /* large */
    static const struct pct_iroot first = { .idiom = 6, .place = { 3, 1, 4, 2 } },
                                  second = { .idiom = 4, .place = { 1, 3, 4, 2 } },
                                  back = { .idiom = 1, .place = { 2, 4 } };
    begin(&g, "0wx 0wy 1rx 1ry 0lm 0um 1lm 1um");
    /* Idiom 6, both orders of the second dependency, and of the first one only that; unlock => lock has no other. */
    expose(&g, 6, (const uint32_t[PCT_IROOT_PLACES]){ 1, 3, 2, 4 });
    expose(&g, 1, (const uint32_t[PCT_IROOT_PLACES]){ 1, 3 });
    expose(&g, 1, (const uint32_t[PCT_IROOT_PLACES]){ 4, 2 });
    expose(&g, 1, (const uint32_t[PCT_IROOT_PLACES]){ 6, 7 });
    assert_int_equal(pct_guess_swapped(&g.guessed, &g.exposed, &g.predicted, &g.places, 1), 0);
    assert_int_equal(g.guessed.count, 3); /* 4, and both of idiom 1 */
    assert_non_null(pct_iroots_find(&g.guessed, &second));
    assert_non_null(pct_iroots_find(&g.guessed, &back));
    assert_null(pct_iroots_find(&g.guessed, &first));
    pct_iroots_free(&g.guessed);
    /* What was predicted is tried anyway. */
    assert_int_equal(pct_iroots_insert(&g.predicted, &second, 1), 0);
    assert_int_equal(pct_guess_swapped(&g.guessed, &g.exposed, &g.predicted, &g.places, 1), 0);
    assert_int_equal(g.guessed.count, 2);
    assert_null(pct_iroots_find(&g.guessed, &second));
    end(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_combined), cmocka_unit_test(test_window),
                                        cmocka_unit_test(test_swapped) };
    return cmocka_run_group_tests_name("guess", tests, NULL, NULL);
}
