/* Unit tests of preload/time/family_memory.h: what a process reads of a relative that goes on meanwhile. Links with: nothing. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <preload/time/family_memory.h>

enum { BEGAN = 1000, WAITED = 500 };

static struct pct_slot slot;
static uint64_t clock_now = 70000;
static bool goes_on; /* as soon as somebody has looked at the clock */

/* Its next idleness begins. */
static void go_on(void)
{
    slot.turn += 2;
    slot.real = clock_now;
    slot.from = BEGAN + WAITED;
}

uint64_t pct_relative_now(void)
{
    uint64_t now = clock_now++;
    if (goes_on)
        go_on();
    return now;
}

static struct pct_slot waits(void)
{
    return (struct pct_slot){ .real = clock_now - WAITED, .from = BEGAN, .turn = 7 };
}

static void test_one_that_waits(void **unused)
{
    (void)unused;
    slot = waits();
    assert_int_equal(pct_slot_world_time(&slot, 7), BEGAN + WAITED);
}

/* What stands in its slot is of another time than was meant. */
static void test_one_that_has_gone_on(void **unused)
{
    (void)unused;
    slot = waits();
    go_on();
    assert_int_equal(pct_slot_world_time(&slot, 7), 0);
}

/* It has begun to wait after what was just now. */
static void test_one_that_goes_on(void **unused)
{
    (void)unused;
    slot = waits();
    goes_on = true;
    uint64_t time = pct_slot_world_time(&slot, 7);
    goes_on = false;
    assert_true(time == 0 || time == BEGAN + WAITED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_that_waits),
        cmocka_unit_test(test_one_that_has_gone_on),
        cmocka_unit_test(test_one_that_goes_on),
    };
    return cmocka_run_group_tests_name("family_memory", tests, NULL, NULL);
}
