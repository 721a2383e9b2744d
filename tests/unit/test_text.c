/* Unit tests of common/text.c. Links with: common/text.c. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "../../common/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void test_build(void **unused)
{
    (void)unused;
    char buffer[64];
    struct pct_text text;
    pct_text_init(&text, buffer, sizeof buffer);
    assert_string_equal(buffer, "");
    pct_text_add(&text, "n=");
    pct_text_add_u64(&text, 0);
    pct_text_add_char(&text, ' ');
    pct_text_add_u64(&text, UINT64_MAX);
    pct_text_add(&text, " ");
    pct_text_add_hex(&text, 0xbeef, 0);
    pct_text_add(&text, " ");
    pct_text_add_hex(&text, 0xbeef, 16);
    assert_string_equal(buffer, "n=0 18446744073709551615 beef 000000000000beef");
    assert_int_equal(text.length, strlen(buffer));
}

/* Every size of buffer: the text is the beginning of the whole, and nothing beyond the buffer is touched. */
static void test_bounds(void **unused)
{
    (void)unused;
    static const char whole[] = "seed 1234567890 00ff end";
    for (size_t size = 0; size < 40; size++) {
        char buffer[48];
        memset(buffer, '#', sizeof buffer);
        struct pct_text text;
        pct_text_init(&text, buffer, size);
        pct_text_add(&text, "seed ");
        pct_text_add_u64(&text, 1234567890);
        pct_text_add_char(&text, ' ');
        pct_text_add_hex(&text, 0xff, 4);
        pct_text_add(&text, " end");
        size_t expected = size == 0 ? 0 : size - 1 < sizeof whole - 1 ? size - 1 : sizeof whole - 1;
        assert_int_equal(text.length, expected);
        assert_memory_equal(buffer, whole, expected);
        if (size)
            assert_int_equal(buffer[expected], '\0');
        for (size_t i = size; i < sizeof buffer; i++)
            assert_int_equal(buffer[i], '#');
    }
}

/* Numbers as printf writes them. */
static void test_numbers(void **unused)
{
    (void)unused;
    uint64_t value = 1;
    for (int i = 0; i < 100000; i++) {
        char buffer[64], expected[64];
        struct pct_text text;
        value = value * UINT64_C(6364136223846793005) + 1442695040888963407;
        uint64_t number = value >> (i % 64);
        int digits = i % 20;
        pct_text_init(&text, buffer, sizeof buffer);
        pct_text_add_u64(&text, number);
        pct_text_add_char(&text, ' ');
        pct_text_add_hex(&text, number, digits);
        snprintf(expected, sizeof expected, "%" PRIu64 " %0*" PRIx64, number, digits, number);
        assert_string_equal(buffer, expected);
    }
}

static const char *closest(const char *word)
{
    static const char *const words[] = { "pct", "random-walk", "random-delay", "round-robin", "none", "k", "depth" };
    return pct_text_closest(word, words, sizeof words / sizeof words[0]);
}

static void test_closest(void **unused)
{
    (void)unused;
    assert_string_equal(closest("pct"), "pct");
    assert_string_equal(closest("pc"), "pct");   /* a letter left out */
    assert_string_equal(closest("pctt"), "pct"); /* one too many */
    assert_string_equal(closest("ptc"), "pct");  /* two swapped */
    assert_string_equal(closest("pxt"), "pct");  /* a wrong one */
    assert_string_equal(closest("random_walk"), "random-walk");
    assert_string_equal(closest("randomwalk"), "random-walk");
    assert_string_equal(closest("random-daley"), "random-delay");
    assert_string_equal(closest("roundrobin"), "round-robin");
}

static void test_not_close(void **unused)
{
    (void)unused;
    assert_null(closest(""));
    assert_null(closest("x"));   /* not a slip for k: nothing of it is left */
    assert_null(closest("pxx")); /* two slips among three letters */
    assert_null(closest("fuzz"));
    assert_null(closest("random"));
    char word[200];
    memset(word, 'k', sizeof word);
    word[sizeof word - 1] = '\0';
    assert_null(closest(word));
    const char *const words[] = { word };
    assert_null(pct_text_closest("kkkk", words, 1));
    assert_null(pct_text_closest("pct", NULL, 0));
}

/* Of several at one distance the first, of several distances the least. */
static void test_order(void **unused)
{
    (void)unused;
    const char *const equal[] = { "abcd", "abce", "abcf" };
    assert_ptr_equal(pct_text_closest("abcx", equal, 3), equal[0]);
    const char *const nearer[] = { "abcdxx", "abcdex", "abcdef" };
    assert_ptr_equal(pct_text_closest("abcdef", nearer, 3), nearer[2]);
    assert_ptr_equal(pct_text_closest("abcdeg", nearer, 3), nearer[1]);
}

/* The definition of the restricted distance, by recursion. */
static unsigned slow_distance(const char *a, size_t n, const char *b, size_t m)
{
    if (!n || !m)
        return (unsigned)(n + m);
    unsigned best = slow_distance(a, n - 1, b, m - 1) + (a[n - 1] != b[m - 1]);
    unsigned other = slow_distance(a, n - 1, b, m) + 1;
    best = other < best ? other : best;
    other = slow_distance(a, n, b, m - 1) + 1;
    best = other < best ? other : best;
    if (n > 1 && m > 1 && a[n - 1] == b[m - 2] && a[n - 2] == b[m - 1]) {
        other = slow_distance(a, n - 2, b, m - 2) + 1;
        best = other < best ? other : best;
    }
    return best;
}

/* All pairs of words of up to four letters out of three, and random ones of six: close exactly when the definition says
 * so. */
static void check_pair(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b);
    unsigned d = slow_distance(a, n, b, m), limit = n / 3 > 1 ? (unsigned)(n / 3) : 1;
    const char *found = pct_text_closest(a, &b, 1);
    if (d <= limit && d < (n > m ? n : m))
        assert_ptr_equal(found, b);
    else
        assert_null(found);
}

static void word_of(char *word, unsigned number)
{
    size_t length = 0;
    for (; number; number = (number - 1) / 3)
        word[length++] = (char)('a' + (number - 1) % 3);
    word[length] = '\0';
}

static void test_distance(void **unused)
{
    (void)unused;
    char a[16], b[16];
    for (unsigned i = 0; i < 121; i++) {
        for (unsigned j = 0; j < 121; j++) {
            word_of(a, i);
            word_of(b, j);
            if (i != 0 || j != 0)
                check_pair(a, b);
        }
    }
    for (unsigned i = 0; i < 2000; i++) {
        word_of(a, 364 + i * 2654435761u % 729);
        word_of(b, 364 + (i * 40503u + 17) % 729);
        check_pair(a, b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build),    cmocka_unit_test(test_bounds),    cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_closest),  cmocka_unit_test(test_not_close), cmocka_unit_test(test_order),
        cmocka_unit_test(test_distance),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
