/* Unit tests of preload/time/family_memory.h: what a process reads of a relative that goes on meanwhile, and what time
 * a process takes that keeps none. Links with: family_slots.o. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <preload/time/family_memory.h>
#include <stdlib.h>

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

/* The others: as the kernel would tell. */
static enum pct_relative state;
static uint64_t cpu;

enum pct_relative pct_relative_look(int pid, uint64_t *start)
{
    (void)pid;
    *start = 1;
    return state;
}

void *pct_map(size_t size)
{
    return calloc(1, size);
}

static uint64_t had_waited = 3, waited_before;

uint64_t pct_relative_waited(int pid)
{
    (void)pid;
    return had_waited;
}

uint64_t pct_relative_went_by(int pid, uint64_t real, uint64_t waited)
{
    (void)pid;
    waited_before = waited;
    return cpu < real ? cpu : real;
}

int pct_relative_children(int thread, int *children, int most)
{
    (void)thread;
    (void)children;
    (void)most;
    return 0;
}

/* One that is not a member sleeps in real time, and runs in CPU time: it may be one that is yet to be a member, and
 * waits for a CPU. Its relative was taken to be as far as real time was, behind deadlines that others had waited
 * for. */
static void test_one_that_keeps_no_time(void **unused)
{
    static struct pct_family family;
    (void)unused;
    pct_family_memory = &family;
    uint32_t ticket = pct_slot_reserve(10, 0), i = pct_slot_of(ticket);
    uint64_t made = pct_slot_at(i)->real, now = made + 1000;
    state = PCT_RELATIVE_RUNS;
    cpu = 5;
    assert_int_equal(pct_slot_took(i, now, 0, 0), 0); /* nobody knows which process it is */
    pct_slot_tell(ticket, 11);
    assert_int_equal(pct_slot_took(i, now, 0, 0), 5);
    assert_int_equal(pct_slot_took(i, made + 3, 0, 0), 3);
    assert_int_equal(pct_slot_took(i, now, 0, 7), 7);
    assert_int_equal(waited_before, 0); /* it came since */
    pct_slot_note_strangers();
    assert_int_equal(pct_slot_took(i, now, 0, 7), 7);
    assert_int_equal(waited_before, had_waited);
    state = PCT_RELATIVE_STOPPED;
    assert_int_equal(pct_slot_took(i, now, 0, 7), 7);
    state = PCT_RELATIVE_SLEEPS;
    assert_int_equal(pct_slot_took(i, now, 0, 7), 1000);
    assert_int_equal(pct_slot_took(i, now, now - 50, 7), 50);
    assert_int_equal(pct_slot_took(i, now, now, 7), 7);
    clock_now = now;
    assert_true(pct_slot_owes(i + 1, made + 100, 800));
    assert_false(pct_slot_owes(i + 1, made + 100, 2000));
    assert_false(pct_slot_owes(i, 0, 0));
    assert_true(pct_slot_enter(ticket, 11));
    assert_int_equal(pct_slot_took(i, now, 0, 7), 7);
    assert_false(pct_slot_owes(i + 1, 0, 0));
}

static void test_first_deadline(void **unused)
{
    static struct pct_family family;
    (void)unused;
    pct_family_memory = &family;
    for (uint32_t i = 1; i <= 3; i++) {
        pct_slot_enter(pct_slot_reserve(10 + i, 0), 10 + i);
        pct_slot_at(i)->deadline = 100 * i;
    }
    assert_true(pct_slot_first_deadline(0) == UINT64_MAX); /* none is idle */
    pct_slot_at(2)->turn = pct_slot_at(3)->turn = 1;
    assert_int_equal(pct_slot_first_deadline(0), 200);
    assert_int_equal(pct_slot_first_deadline(2), 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_that_waits),   cmocka_unit_test(test_one_that_has_gone_on),
        cmocka_unit_test(test_one_that_goes_on), cmocka_unit_test(test_one_that_keeps_no_time),
        cmocka_unit_test(test_first_deadline),
    };
    return cmocka_run_group_tests_name("family_memory", tests, NULL, NULL);
}
