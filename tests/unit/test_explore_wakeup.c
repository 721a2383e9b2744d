/* Who sleeps along a path of the search (cli/explore/wakeup.h): lists that share what is the same. */

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/explore/wakeup.h>

/* Thread number `thread` uses this object. */
static struct pct_event event_on(uint16_t thread, uint64_t key, enum pct_use use)
{
    return (struct pct_event){ .thread = thread,
                               .op = PCT_OP_MUTEX_LOCK,
                               .touches = 1,
                               .own = 1,
                               .touch[0] = { .key = key, .use = (uint8_t)use } };
}

/* Threads 3, 2, 1 on objects 3, 2, 1. */
static struct pct_sleeper *three(void)
{
    struct pct_sleeper *list = NULL;
    for (uint16_t t = 1; t <= 3; t++) {
        struct pct_event event = event_on(t, t, PCT_USE_TAKES);
        list = pct_sleeper_new(&event, list);
        assert_non_null(list);
    }
    return list;
}

static void test_all_sleep_on(void **state)
{
    struct pct_sleeper *list = three(), *more = NULL, *held = NULL;
    struct pct_event made = event_on(4, 4, PCT_USE_TAKES);
    (void)state;
    assert_int_equal(pct_sleepers_pass(list, &made, &more), 0);
    assert_int_equal(pct_sleepers_pass(list, NULL, &held), 0);
    assert_ptr_equal(more, list);
    assert_ptr_equal(held, list);
    pct_sleepers_free(list);
    pct_sleepers_free(held);
    assert_true(pct_sleepers_have(more, 1));
    pct_sleepers_free(more);
}

static void test_one_is_woken(void **state)
{
    struct pct_sleeper *list = three(), *more = NULL, *none = NULL;
    struct pct_event made = event_on(4, 2, PCT_USE_TAKES);
    (void)state;
    assert_int_equal(pct_sleepers_pass(list, &made, &more), 0);
    assert_true(pct_sleepers_have(more, 3));
    assert_false(pct_sleepers_have(more, 2));
    assert_ptr_equal(more->next, list->next->next);
    /* The other list goes on as before, whichever is freed first. */
    struct pct_sleeper *longer = pct_sleeper_new(&made, more);
    assert_non_null(longer);
    pct_sleepers_free(longer);
    assert_true(pct_sleepers_have(list, 1) && pct_sleepers_have(list, 2) && pct_sleepers_have(list, 3));
    made.global = true;
    assert_int_equal(pct_sleepers_pass(list, &made, &none), 0);
    assert_null(none);
    pct_sleepers_free(list);
}

/* Who arrives at a barrier behind another one is nearer to the last: that is not the same sleeper. */
static void test_one_changes(void **state)
{
    struct pct_sleeper *more = NULL, *last = NULL;
    struct pct_event made = event_on(4, 9, PCT_USE_ARRIVES), waits = event_on(5, 9, PCT_USE_ARRIVES);
    (void)state;
    waits.touch[0].before = 2;
    waits.touch[0].counted = true;
    struct pct_sleeper *list = pct_sleeper_new(&waits, three());
    assert_int_equal(pct_sleepers_pass(list, &made, &more), 0);
    assert_ptr_not_equal(more, list);
    assert_ptr_equal(more->next, list->next);
    assert_int_equal(list->event.touch[0].before, 2);
    assert_int_equal(more->event.touch[0].before, 1);
    assert_int_equal(pct_sleepers_pass(more, &made, &last), 0);
    assert_ptr_equal(last, list->next);
    pct_sleepers_free(list);
    pct_sleepers_free(last);
    pct_sleepers_free(more);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_all_sleep_on), cmocka_unit_test(test_one_is_woken),
                                        cmocka_unit_test(test_one_changes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
