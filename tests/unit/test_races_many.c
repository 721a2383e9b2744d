/* The race detector with more atomic places than it has room for. */
#include "races_setup.h"
#include <sys/mman.h>
#include <sched/races_state.h>

/* More places come and go than there is room for at a time. */
static void test_many_atomics(void **unused)
{
    (void)unused;
    for (uint32_t i = 0; i < RACES_SYNCS + 8; i++) {
        pct_races_atomic(r, 1, Y, PCT_RACES_WRITE);
        pct_races_fresh(r, Y, Y + 8);
    }
    assert_null(touch(1, X, 4, WRITE));
    pct_races_atomic(r, 1, Y, PCT_RACES_WRITE | PCT_RACES_RELEASE);
    pct_races_atomic(r, 2, Y, PCT_RACES_READ | PCT_RACES_ACQUIRE);
    assert_null(touch(2, X, 4, 0));
    assert_non_null(touch(0, X, 4, 0)); /* has acquired nothing */
}

/* More than there is room for: what they order may be too much, but not too little. */
static void test_too_many_atomics(void **unused)
{
    (void)unused;
    const uintptr_t many = (uintptr_t)map(8 * (size_t)(RACES_SYNCS + 8));
    for (uint32_t i = 0; i < RACES_SYNCS; i++)
        pct_races_atomic(r, 1, many + (uintptr_t)8 * i, PCT_RACES_WRITE);
    assert_null(touch(1, X, 4, WRITE));
    pct_races_atomic(r, 1, Y, PCT_RACES_WRITE | PCT_RACES_RELEASE);
    pct_races_atomic(r, 0, Y + 8, PCT_RACES_WRITE);
    pct_races_atomic(r, 2, Y, PCT_RACES_READ | PCT_RACES_ACQUIRE);
    assert_null(touch(2, X, 4, 0));
    munmap((void *)many, 8 * (size_t)(RACES_SYNCS + 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test_setup(test_many_atomics, setup),
                                        cmocka_unit_test_setup(test_too_many_atomics, setup) };
    return cmocka_run_group_tests_name("races_many", tests, NULL, NULL);
}
