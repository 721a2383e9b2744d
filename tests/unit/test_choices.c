/* What runs got from pct_choose() (cli/trace/choices.h): compared thread by thread, whatever the order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <cli/trace/choices.h>

#define CHOICE(thread, number) PCT_RECORD(thread, PCT_OP_CHOICE, number, 0)
#define LOCK(thread) PCT_RECORD(thread, PCT_OP_MUTEX_LOCK, 0, 1)
#define TRACE(...)                                                                                                     \
    {                                                                                                                  \
        .records = (uint64_t[]){ __VA_ARGS__ }, .count = sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t),       \
        .complete = true                                                                                               \
    }

static void test_include(void **unused)
{
    (void)unused;
    const struct pct_trace failing = TRACE(LOCK(0), CHOICE(0, 3), CHOICE(1, 0), LOCK(1), CHOICE(0, 4));
    const struct pct_trace moved = TRACE(CHOICE(1, 0), CHOICE(0, 3), LOCK(0), CHOICE(0, 4));
    const struct pct_trace more = TRACE(CHOICE(0, 3), CHOICE(0, 4), CHOICE(1, 0), CHOICE(2, 7), CHOICE(0, 1));
    const struct pct_trace fewer = TRACE(CHOICE(0, 3), CHOICE(1, 0));
    const struct pct_trace other = TRACE(CHOICE(0, 4), CHOICE(1, 0), CHOICE(0, 3));
    const struct pct_trace swapped = TRACE(CHOICE(1, 3), CHOICE(0, 0), CHOICE(1, 4));
    const struct pct_trace none = TRACE(LOCK(0), LOCK(1));
    assert_true(pct_choices_made(&failing));
    assert_false(pct_choices_made(&none));
    assert_true(pct_choices_include(&failing, &failing));
    assert_true(pct_choices_include(&moved, &failing));
    assert_true(pct_choices_include(&more, &failing));
    assert_false(pct_choices_include(&failing, &more));
    assert_false(pct_choices_include(&fewer, &failing)); /* the last one may be to blame */
    assert_false(pct_choices_include(&other, &failing));
    assert_false(pct_choices_include(&swapped, &failing));
    assert_true(pct_choices_include(&none, &none));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_include) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
