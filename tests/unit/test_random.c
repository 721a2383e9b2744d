/* Unit tests of include/pct/random.h. Links with nothing. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "chi_square.h"
#include <pct/random.h>
#include <stdlib.h>
#include <string.h>

/* These numbers stand behind every token that was ever printed: if one of them changes, all tokens name other
 * schedules, and the version of the token must go up. */
static void test_pinned(void **unused)
{
    (void)unused;
    assert_int_equal(pct_random(0, PCT_STREAM_PRIORITY, 0), UINT64_C(0xb7ae726b74ed6f2e));
    assert_int_equal(pct_random(1, PCT_STREAM_PRIORITY, 0), UINT64_C(0x892845e135398998));
    assert_int_equal(pct_random(42, PCT_STREAM_CHANGE, 1), UINT64_C(0x9132a9a3c14ca3e1));
    assert_int_equal(pct_random(42, PCT_STREAM_USER, UINT64_MAX), UINT64_C(0xa7991cce47d414f1));
    assert_int_equal(pct_random(UINT64_MAX, PCT_STREAM_PICK, 1000000), UINT64_C(0x6bcace46a495bd88));
    assert_int_equal(pct_random_below(42, PCT_STREAM_CHANGE, 1, 1000), 567);
}

/* Each of the 64 bits is set in half of the numbers, whichever of seed, stream and counter runs. */
static void test_bits(void **unused)
{
    (void)unused;
    enum { NUMBERS = 1 << 16 };
    for (int which = 0; which < 3; which++) {
        uint64_t set[64] = { 0 };
        for (uint64_t i = 0; i < NUMBERS; i++) {
            uint64_t bits = which == 0   ? pct_random(i, PCT_STREAM_PICK, 7)
                            : which == 1 ? pct_random(7, (uint32_t)i, 7)
                                         : pct_random(7, PCT_STREAM_PICK, i);
            for (int bit = 0; bit < 64; bit++)
                set[bit] += bits >> bit & 1;
        }
        for (int bit = 0; bit < 64; bit++) {
            uint64_t count[2] = { set[bit], NUMBERS - set[bit] };
            assert_true(chi_square(count, 2) < chi_square_limit(2));
        }
    }
}

/* pct_random_below: within the bound, and uniform for every bound up to 40. */
static void test_below(void **unused)
{
    (void)unused;
    for (uint64_t bound = 1; bound <= 40; bound++) {
        uint64_t count[40] = { 0 };
        for (uint64_t i = 0; i < 1000 * bound; i++) {
            uint64_t value = pct_random_below(bound, PCT_STREAM_DELAY, i, bound);
            assert_true(value < bound);
            count[value]++;
        }
        if (bound > 1)
            assert_true(chi_square(count, bound) < chi_square_limit(bound));
    }
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(pct_random_below(i, 1, i, UINT64_MAX) < UINT64_MAX);
}

/* Neighbouring counters, neighbouring seeds and neighbouring streams give independent numbers: pairs are uniform. */
static void test_pairs(void **unused)
{
    (void)unused;
    for (int which = 0; which < 3; which++) {
        uint64_t count[8 * 8];
        memset(count, 0, sizeof count);
        for (uint64_t i = 0; i < 64000; i++) {
            uint64_t seed = 2 * i;
            uint64_t a = pct_random_below(seed, PCT_STREAM_PICK, 3, 8);
            uint64_t b = which == 0   ? pct_random_below(seed, PCT_STREAM_PICK, 4, 8)
                         : which == 1 ? pct_random_below(seed + 1, PCT_STREAM_PICK, 3, 8)
                                      : pct_random_below(seed, PCT_STREAM_CHOOSE, 3, 8);
            count[a * 8 + b]++;
        }
        assert_true(chi_square(count, 64) < chi_square_limit(64));
    }
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* No two places give the same number: among 10^6 numbers of 64 bits a collision has probability 3e-8. */
static void test_distinct(void **unused)
{
    (void)unused;
    enum { SEEDS = 10, STREAMS = 10, COUNTERS = 1000 * 1000 / (SEEDS * STREAMS) };
    static uint64_t number[SEEDS * STREAMS * COUNTERS];
    size_t count = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (uint32_t stream = 1; stream <= STREAMS; stream++)
            for (uint64_t i = 0; i < COUNTERS; i++)
                number[count++] = pct_random(seed, stream, i);
    qsort(number, count, sizeof number[0], compare);
    for (size_t i = 1; i < count; i++)
        assert_true(number[i - 1] != number[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pinned), cmocka_unit_test(test_bits),     cmocka_unit_test(test_below),
        cmocka_unit_test(test_pairs),  cmocka_unit_test(test_distinct),
    };
    return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
