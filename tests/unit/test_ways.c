/* Unit tests of cli/script/ways.c: the ways of random trees of choices, against a walk through all of them. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/script/ways.h>
#include <errno.h>
#include <math.h>
#include <pct/random.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 6, TREES = 200, LEAVES = 1 << 12 };

/* A run in the tree of this seed: how many ways a choice has depends on those before it. From `count` on, it takes the
 * first way, or one that is drawn. Returns the number of choices. */
static uint32_t go(uint64_t seed, struct pct_script_choice *choice, uint32_t count, uint64_t drawn)
{
    uint64_t place = seed;
    for (uint32_t i = 0;; i++) {
        uint64_t random = pct_random(place, PCT_STREAM_USER, i);
        if (i == DEEPEST || random % 5 == 0)
            return i;
        choice[i].of = 1 + (uint32_t)(random >> 8) % 4;
        if (i >= count)
            choice[i].chosen = drawn ? (uint32_t)pct_random(drawn, PCT_STREAM_USER, i) % choice[i].of : 0;
        place = pct_random(place, PCT_STREAM_USER + 1, choice[i].chosen);
    }
}

/* The leaf as a number: unlike for each, and in the order of a walk. */
static uint64_t leaf(const struct pct_script_choice *choice, uint32_t count)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < DEEPEST; i++)
        number = number * 8 + (i < count ? choice[i].chosen + 1 : 0);
    return number;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* All leaves, in the order in which the ways go there. Returns how many. */
static size_t walk(enum pct_ways_order order, uint64_t seed, uint64_t *leaves, uint32_t *planned)
{
    struct pct_ways *ways = pct_ways_new(order, seed);
    static struct pct_script_choice plan[PCT_SCRIPT_CHOICES], made[PCT_SCRIPT_CHOICES];
    size_t found = 0;
    uint32_t count;
    assert_non_null(ways);
    double share = pct_ways_share(ways);
    assert_true(share == 0);
    while (pct_ways_next(ways, plan, &count)) {
        memcpy(made, plan, sizeof made);
        uint32_t choices = go(seed, made, count, order == PCT_WAYS_RANDOM ? seed * LEAVES + found + 1 : 0);
        assert_int_equal(pct_ways_add(ways, plan, count, made, choices), 0);
        assert_true(pct_ways_share(ways) > share);
        share = pct_ways_share(ways);
        assert_true(found < LEAVES);
        planned[found] = count;
        leaves[found++] = leaf(made, choices);
    }
    assert_true(fabs(share - 1) < 1e-9);
    pct_ways_free(ways);
    return found;
}

static void test_each_once_in_order(void **unused)
{
    (void)unused;
    static uint64_t depth[LEAVES], other[LEAVES];
    static uint32_t planned[LEAVES];
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        size_t count = walk(PCT_WAYS_DEPTH, seed, depth, planned);
        for (size_t i = 1; i < count; i++)
            assert_true(depth[i - 1] < depth[i]); /* as a walk meets them, each once */
        assert_int_equal(walk(PCT_WAYS_BREADTH, seed, other, planned), count);
        for (size_t i = 1; i < count; i++)
            assert_true(planned[i - 1] <= planned[i]);
        qsort(other, count, sizeof *other, by_number);
        assert_memory_equal(depth, other, count * sizeof *other);
        assert_int_equal(walk(PCT_WAYS_RANDOM, seed, other, planned), count);
        qsort(other, count, sizeof *other, by_number);
        assert_memory_equal(depth, other, count * sizeof *other);
    }
}

/* In the order RANDOM, the second run is a leaf that a walk draws among the others. The first run made a choice of
 * three ways and two of two. */
static void test_random_by_share(void **unused)
{
    (void)unused;
    static struct pct_script_choice plan[PCT_SCRIPT_CHOICES];
    struct pct_script_choice made[3] = { { .of = 3 }, { .of = 2 }, { .of = 2 } };
    unsigned first = 0, runs = 4000;
    for (uint64_t seed = 0; seed < runs; seed++) {
        struct pct_ways *ways = pct_ways_new(PCT_WAYS_RANDOM, seed);
        uint32_t count;
        assert_true(pct_ways_next(ways, plan, &count));
        assert_int_equal(count, 0);
        assert_int_equal(pct_ways_add(ways, plan, 0, made, 3), 0);
        assert_true(pct_ways_next(ways, plan, &count));
        first += count == 1;
        pct_ways_free(ways);
    }
    /* 2/3 of all walks, of the 11/12 that are not the first run: 8/11; five times the standard deviation. */
    double wanted = runs * 8 / 11.0, deviation = sqrt(runs * 8 / 11.0 * 3 / 11.0);
    assert_true(fabs(first - wanted) < 5 * deviation);
}

/* A run that does not keep to what it was told is no leaf. */
static void test_other_choices(void **unused)
{
    (void)unused;
    static struct pct_script_choice plan[PCT_SCRIPT_CHOICES];
    struct pct_script_choice made[2] = { { .of = 2 }, { .of = 3 } };
    struct pct_ways *ways = pct_ways_new(PCT_WAYS_DEPTH, 0);
    uint32_t count;
    assert_true(pct_ways_next(ways, plan, &count));
    assert_int_equal(pct_ways_add(ways, plan, count, made, 2), 0);
    assert_true(pct_ways_next(ways, plan, &count));
    assert_int_equal(count, 2);
    assert_int_equal(plan[1].chosen, 1);
    made[1].chosen = 1;
    assert_int_equal(pct_ways_add(ways, plan, count, made, 1), -EINVAL); /* it made fewer */
    made[1].of = 2;
    assert_int_equal(pct_ways_add(ways, plan, count, made, 2), -EINVAL); /* others */
    made[1].of = 3;
    assert_int_equal(pct_ways_add(ways, plan, count, made, 2), 0);
    pct_ways_free(ways);
}

/* No choices: one way. */
static void test_no_choice(void **unused)
{
    (void)unused;
    static struct pct_script_choice plan[PCT_SCRIPT_CHOICES];
    struct pct_ways *ways = pct_ways_new(PCT_WAYS_BREADTH, 0);
    uint32_t count;
    assert_true(pct_ways_next(ways, plan, &count));
    assert_false(pct_ways_next(ways, plan, &count));
    assert_int_equal(pct_ways_add(ways, plan, count, NULL, 0), 0);
    assert_true(pct_ways_share(ways) == 1);
    assert_false(pct_ways_next(ways, plan, &count));
    pct_ways_free(ways);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_once_in_order),
        cmocka_unit_test(test_random_by_share),
        cmocka_unit_test(test_other_choices),
        cmocka_unit_test(test_no_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
