/* What tells classes that fail from those that pass (cli/explore/separate.h): of hand-made executions. */

/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/explore/separate.h>
#include <string.h>

/* Add a class: its operations in their order, as "1a 2b": thread 1 takes a, thread 2 b; behind ":" what is pending. */
static void add(struct pct_separation *s, const char *text, uint64_t failure)
{
    struct pct_event event[32];
    struct pct_pending pending[4] = { 0 };
    struct pct_execution x = { .event = event, .threads = 4, .pending = pending };
    bool made = true;
    memset(event, 0, sizeof event);
    for (const char *at = text; *at; at++) {
        if (*at == ':')
            made = false;
        if (*at < '0' || *at > '3')
            continue;
        struct pct_event e = { .thread = (uint16_t)(*at - '0'), .op = PCT_OP_MUTEX_LOCK, .touches = 1, .own = 1 };
        e.touch[0] = (struct pct_touch){ .key = 0x1000 + 64 * (uint64_t)at[1], .use = PCT_USE_TAKES };
        if (made)
            event[x.count++] = e;
        else
            pending[e.thread] = (struct pct_pending){ .lives = true, .event = e };
    }
    pct_separation_add(s, &x, failure);
}

static void expect(const struct pct_separated *is, unsigned thread, unsigned nth, bool pending)
{
    assert_int_equal(is->thread, thread);
    assert_int_equal(is->nth, nth);
    assert_int_equal(is->pending, pending);
}

static void test_one_order(void **unused)
{
    (void)unused;
    struct pct_separation *s = pct_separation_new();
    struct pct_separating found;
    add(s, "1a 2a 2b 1b", 0);
    add(s, "2a 1a 2b 1b", 7);
    add(s, "2a 1a 1b 2b", 7);
    assert_true(pct_separation_find(s, 7, &found));
    assert_int_equal(found.orders, 1);
    assert_int_equal(found.classes, 2);
    assert_int_equal(found.failing, 2);
    assert_int_equal(found.passing, 1);
    expect(&found.order[0].first, 2, 0, false);
    expect(&found.order[0].then, 1, 0, false);
    assert_false(pct_separation_find(s, 8, &found)); /* nothing fails so */
    add(s, "2a 1a 1b 2b", 0);                        /* now only the two orders together tell */
    assert_true(pct_separation_find(s, 7, &found));
    assert_int_equal(found.classes, 1);
    pct_separation_drop(s);
    assert_true(pct_separation_find(s, 7, &found));
    assert_int_equal(found.classes, 2);
    pct_separation_free(s);
}

static void test_deadlock(void **unused)
{
    (void)unused;
    struct pct_separation *s = pct_separation_new();
    struct pct_separating found;
    add(s, "1a 2b : 1b 2a", 7);
    add(s, "1a 1b 2b 2a", 0);
    add(s, "2b 2a 1a 1b", 0);
    assert_true(pct_separation_find(s, 7, &found));
    assert_int_equal(found.orders, 2);
    assert_true(found.order[0].then.pending && found.order[1].then.pending);
    assert_int_equal(found.passing, 2);
    pct_separation_free(s);
}

/* Each of the three orderings is needed. */
static void test_three(void **unused)
{
    (void)unused;
    struct pct_separation *s = pct_separation_new();
    struct pct_separating found;
    add(s, "1a 2b 3c : 1b 2c 3a", 7);
    add(s, "1a 2b 2c 3c 3a 1b", 0);
    add(s, "2b 3c 3a 1a 1b 2c", 0);
    add(s, "1a 1b 2b 3c 2c 3a", 0);
    assert_true(pct_separation_find(s, 7, &found));
    assert_true(found.orders <= 3);
    pct_separation_free(s);
}

static void test_nothing_tells(void **unused)
{
    (void)unused;
    struct pct_separation *s = pct_separation_new();
    struct pct_separating found;
    add(s, "1a 2a", 7);
    assert_false(pct_separation_find(s, 7, &found)); /* no class passes: nothing is told apart */
    add(s, "1a 2a", 0);
    assert_false(pct_separation_find(s, 7, &found));
    pct_separation_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_order),
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_three),
        cmocka_unit_test(test_nothing_tells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
