/* Unit tests of preload/memory/leave.h: how long a thread that spins is waited for at an access, which on a busy
 * machine many questions may hold up. Links with: leave.o. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <preload/memory/leave.h>
#include <preload/memory/memory.h>
#include <preload/watchdog/preempt.h>

enum { FEW = 16, MANY = 1000, LONG = 50 * 1000 * 1000 };

union pct_page pct_page;
struct pct_shim pct_shim;
struct pct_memory_view pct_memory_view;
__thread struct pct_memory_own pct_memory_own;

static struct pct_shim_thread thread;
static unsigned taken;

void pct_preempt_take(struct pct_shim_thread *self, uintptr_t pc)
{
    (void)self, (void)pc;
    taken++;
}

/* How often in a row the thread, a new one, is found to spin until it is no longer waited for; MANY: that is not seen.
 */
static unsigned count_finds(bool told, uint64_t went_on, bool silent)
{
    thread = (struct pct_shim_thread){ 0 };
    pct_memory_view.active = true;
    pct_shim.told = told;
    unsigned finds = 1;
    while (finds < MANY && pct_leave_at_access(&thread, went_on, silent))
        finds++;
    return finds;
}

static void test_code_that_tells_has_its_time(void **unused)
{
    (void)unused;
    assert_int_equal(count_finds(true, 1000, false), MANY);
    assert_int_equal(pct_leave_ignored(&thread), MANY - 1);
    assert_int_equal(count_finds(true, LONG / 100, false), 101);
    assert_int_equal(pct_leave_ignored(&thread), 0);
}

static void test_code_that_does_not_tell_has_few_questions(void **unused)
{
    (void)unused;
    assert_int_equal(count_finds(false, 0, false), FEW);
    assert_int_equal(count_finds(true, 0, true), FEW);
}

static void test_where_nothing_looks_it_goes_at_once(void **unused)
{
    (void)unused;
    thread = (struct pct_shim_thread){ 0 };
    pct_memory_view.active = false;
    assert_false(pct_leave_at_access(&thread, 0, false));
}

/* It goes at the access whose place in the code comes first, once a round is over. */
static void test_an_access_ends_it(void **unused)
{
    (void)unused;
    count_finds(true, 0, false);
    taken = 0;
    for (unsigned i = 1; i < MANY && !taken; i++) {
        pct_leave_pass(&thread, 100 + i % 3);
        assert_int_equal(pct_leave_ignored(&thread), 0);
        assert_true(!taken || i % 3 == 0);
    }
    assert_int_equal(taken, 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_that_tells_has_its_time),
        cmocka_unit_test(test_code_that_does_not_tell_has_few_questions),
        cmocka_unit_test(test_where_nothing_looks_it_goes_at_once),
        cmocka_unit_test(test_an_access_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
