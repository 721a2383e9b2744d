/* Unit tests of preload/time/family_turns.c: which of several processes goes on next, and for how long the others wait
 * for it. Links with: family_turns.o, family_known.o, family_slots.o. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <preload/core/shim.h>
#include <preload/time/family_memory.h>
#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)

union pct_page pct_page;

/* All processes sleep, as the kernel would tell, but those that the schedule knows of. */
static uint64_t now = SECOND, step;
static unsigned looks;
static void (*looked)(void); /* whoever waits has not got its turn */

uint64_t pct_relative_now(void)
{
    looks++;
    now += step;
    if (looked)
        looked();
    return now;
}

enum pct_relative pct_relative_look(int pid, uint64_t *start)
{
    (void)pid;
    *start = 1;
    return PCT_RELATIVE_SLEEPS;
}

bool pct_relative_sleeps(int pid)
{
    return pid != 0;
}

bool pct_relative_others_sleep(int pid, int but)
{
    return pid != but;
}

bool pct_relative_awaits_child(int pid, bool (*is_such)(uint32_t child))
{
    (void)pid, (void)is_such;
    return false;
}

int pct_relative_children(int thread, int *children, int most)
{
    (void)thread, (void)children, (void)most;
    return 0;
}

uint64_t pct_relative_cpu(int pid)
{
    return (uint64_t)pid * SECOND;
}

uint64_t pct_relative_waited(int pid)
{
    return (uint64_t)pid;
}

uint64_t pct_relative_went_by(int pid, uint64_t real, uint64_t waited)
{
    (void)pid, (void)waited;
    return real;
}

void *pct_map(size_t size)
{
    return calloc(1, size);
}

int pct_any_tid(void)
{
    return 0;
}

enum { A, B, C, PROCESSES };
static uint32_t ticket[PROCESSES];

static struct pct_slot *slot_of(unsigned process)
{
    return pct_slot_at(pct_slot_of(ticket[process]));
}

/* Three that can go on, of which A has its turn, and the others wait for theirs. */
static int begin(void **unused)
{
    static struct pct_family family;
    static const char *const path[PROCESSES] = { "", "2", "10" };
    (void)unused;
    memset(&family, 0, sizeof family);
    pct_family_memory = &family;
    pct_known = pct_known ? pct_known : pct_map((PCT_SLOTS + 1) * sizeof *pct_known);
    looked = NULL;
    for (unsigned i = 0; i < PROCESSES; i++) {
        ticket[i] = pct_slot_reserve(10 + i, 0);
        pct_slot_enter(ticket[i], 10 + i);
        strcpy(slot_of(i)->path, path[i]);
        slot_of(i)->wants = i != A;
    }
    looks = 0;
    step = SECOND / 1000;
    pct_turns_begin(ticket[A]);
    return 0;
}

static void rest(unsigned process)
{
    slot_of(process)->wants = 0;
    slot_of(process)->deadline = UINT64_MAX;
    slot_of(process)->turn |= 1;
    pct_turns_give(ticket[process]);
}

/* Its turn comes, but not before the third look. */
static void comes_late(unsigned process)
{
    assert_true(pct_turns_await(ticket[process]));
    assert_int_equal(looks, 3);
    assert_int_equal(pct_family_memory->holder, ticket[process]);
    assert_int_equal(pct_family_memory->turns, PCT_TURNS_ON);
    assert_int_equal(slot_of(process)->wants, 0);
}

static void a_rests(void)
{
    if (looks == 3)
        rest(A);
}

static void test_in_turn(void **unused)
{
    (void)unused;
    looked = a_rests;
    comes_late(B);
}

static void b_rests(void)
{
    if (looks == 3)
        rest(B);
}

/* The tenth child comes behind the second. */
static void test_tenth(void **unused)
{
    (void)unused;
    rest(A);
    looked = b_rests;
    comes_late(C);
}

static void c_rests(void)
{
    if (looks == 3)
        rest(C);
}

/* One that has just got its turn, and still says that it waits: nobody else goes on, also if it would come first. */
static void test_just_taken(void **unused)
{
    (void)unused;
    rest(A);
    pct_family_memory->holder = ticket[C];
    looked = c_rests;
    comes_late(B);
}

/* One that goes on for ever is not waited for. */
static void test_patience(void **unused)
{
    (void)unused;
    const uint64_t before = now;
    step = SECOND / 4;
    assert_true(pct_turns_await(ticket[B]));
    assert_true(pct_family_lost_turns());
    assert_in_range(now - before, 2 * SECOND, 3 * SECOND);
}

static void change_turns(void)
{
    const uint32_t holder = pct_family_memory->holder;
    if (looks % 6 == 0)
        pct_family_memory->holder = holder == ticket[A] ? ticket[C] : ticket[A];
}

/* Each has its time, but not for ever. */
static void test_patience_with_each(void **unused)
{
    (void)unused;
    const uint64_t before = now;
    step = SECOND / 4;
    looked = change_turns;
    assert_true(pct_turns_await(ticket[B]));
    assert_true(pct_family_lost_turns());
    assert_in_range(now - before, 2 * PROCESSES * SECOND, (2 * PROCESSES + 1) * SECOND);
}

/* Who goes on, where only one does. */
static void test_runner(void **unused)
{
    (void)unused;
    uint64_t cpu;
    assert_int_equal(pct_family_runner(&cpu), ticket[A]);
    assert_int_equal(cpu, pct_relative_cpu(10));
    slot_of(B)->wants = 0;
    assert_int_equal(pct_family_runner(&cpu), 0);
    rest(A);
    assert_int_equal(pct_family_runner(&cpu), ticket[B]);
    rest(B);
    assert_int_equal(pct_family_runner(&cpu), 0);
}

static void a_loses_it(void)
{
    if (looks == 3)
        pct_family_end_turns();
}

/* One that is known to keep its turn for too long has none any more. */
static void test_end(void **unused)
{
    (void)unused;
    looked = a_loses_it;
    assert_true(pct_turns_await(ticket[B]));
    assert_int_equal(looks, 3);
    assert_true(pct_family_lost_turns());
    assert_false(pct_turns_await(ticket[C]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_in_turn, begin),
        cmocka_unit_test_setup(test_tenth, begin),
        cmocka_unit_test_setup(test_just_taken, begin),
        cmocka_unit_test_setup(test_patience, begin),
        cmocka_unit_test_setup(test_patience_with_each, begin),
        cmocka_unit_test_setup(test_runner, begin),
        cmocka_unit_test_setup(test_end, begin),
    };
    return cmocka_run_group_tests_name("family_turns", tests, NULL, NULL);
}
