/* Which memory accesses count as scheduling points: exact, without threads. */
#include "races_setup.h"

static struct pct_memory m;

static bool counts(uint32_t thread, uintptr_t at, uintptr_t pc, enum pct_memory_use use, uint32_t *number)
{
    return !pct_memory_settled(&m, &threads[thread], at) &&
           pct_memory_counts(&s, &m, &threads[thread], at, pc, use, number);
}

static void test_counts(void **unused)
{
    (void)unused;
    uint32_t number, other;
    assert_int_equal(pct_memory_start(&m, NULL, map, false), 0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(counts(1, X, 77, PCT_USE_PLAIN, &number), i < PCT_MEMORY_TOUCHES);
    /* From the second thread's first access on, all of both. */
    for (int i = 0; i < 10; i++) {
        assert_true(counts(2, X, 78, PCT_USE_PLAIN, &other));
        assert_int_equal(number, other);
        assert_true(counts(1, X, 77, PCT_USE_PLAIN, &other));
    }
    /* On its own stack none, until somebody else comes. */
    assert_false(counts(1, Y, 79, PCT_USE_STACK, &other));
    assert_false(counts(1, Y, 79, PCT_USE_STACK, &other));
    assert_true(counts(2, Y, 79, PCT_USE_PLAIN, &other));
    assert_true(counts(1, Y, 79, PCT_USE_STACK, &other));
    assert_true(other != number);
    for (int i = 0; i < 10; i++)
        assert_true(counts(1, X + 32, 80, PCT_USE_ATOMIC, &other));
}

static void test_budget_of_a_place(void **unused)
{
    (void)unused;
    uint32_t number;
    static char many[8000];
    assert_int_equal(pct_memory_start(&m, NULL, map, false), 0);
    int counted = 0;
    for (uintptr_t i = 0; i < 900; i++)
        counted += counts(1, (uintptr_t)many + 8 * i, 99, PCT_USE_PLAIN, &number);
    assert_int_equal(counted, PCT_MEMORY_PER_PLACE);
    /* Many places: each has its own. */
    for (uintptr_t pc = 1000; pc < 9000; pc++)
        assert_int_equal(counts(1, (uintptr_t)memory + 40, pc, PCT_USE_PLAIN, &number), pc < 1000 + PCT_MEMORY_TOUCHES);
    assert_int_equal(pct_memory_start(&m, NULL, map, true), 0);
    for (uintptr_t i = 0; i < 900; i++)
        assert_true(counts(1, (uintptr_t)many + 8 * i, 99, PCT_USE_STACK, &number));
}

static void test_owner_ended(void **unused)
{
    (void)unused;
    uint32_t number, other;
    assert_int_equal(pct_memory_start(&m, NULL, map, false), 0);
    assert_true(counts(1, X, 77, PCT_USE_PLAIN, &number));
    threads[1].state = PCT_STATE_FINISHED;
    for (int i = 0; i < 10; i++)
        assert_int_equal(counts(2, X, 78, PCT_USE_PLAIN, &other), i < PCT_MEMORY_TOUCHES);
    assert_int_equal(number, other);
    pct_memory_clear(m.cells, X, X + 8, sizeof(uint64_t));
    assert_true(counts(2, X, 78, PCT_USE_PLAIN, &other));
}

/* Accesses that are no points, whatever they touch, tell the others' points of it. */
static void test_touch(void **unused)
{
    (void)unused;
    struct pct_memory m;
    uint32_t number = 0;
    assert_int_equal(pct_memory_start(&m, NULL, map, false), 0);
    for (int i = 0; i < PCT_MEMORY_TOUCHES; i++)
        assert_true(pct_memory_counts(&s, &m, &threads[1], X, 1, PCT_USE_PLAIN, &number));
    assert_false(pct_memory_counts(&s, &m, &threads[1], X, 1, PCT_USE_PLAIN, &number));
    uint32_t known = number;
    pct_memory_touch(&s, &m, &threads[2], X, PCT_USE_PLAIN);
    assert_true(pct_memory_counts(&s, &m, &threads[1], X, 1, PCT_USE_PLAIN, &number));
    assert_int_equal(number, known);
    /* Some of the only thread's own do not use up its first ones; many say that it is nobody else's. */
    for (int i = 0; i < PCT_MEMORY_PASSES; i++)
        pct_memory_touch(&s, &m, &threads[1], Y, PCT_USE_PLAIN);
    assert_true(pct_memory_counts(&s, &m, &threads[1], Y, 2, PCT_USE_PLAIN, &number));
    assert_int_not_equal(number, known);
    assert_false(pct_memory_settled(&m, &threads[1], Y));
    pct_memory_touch(&s, &m, &threads[1], Y, PCT_USE_PLAIN);
    assert_true(pct_memory_settled(&m, &threads[1], Y));
    assert_false(pct_memory_counts(&s, &m, &threads[1], Y, 2, PCT_USE_PLAIN, &number));
    pct_memory_touch(&s, &m, &threads[2], Y, PCT_USE_PLAIN);
    assert_true(pct_memory_counts(&s, &m, &threads[1], Y, 2, PCT_USE_PLAIN, &number));
    /* Shared before it had a number. */
    pct_memory_touch(&s, &m, &threads[1], Y + 8, PCT_USE_PLAIN);
    pct_memory_touch(&s, &m, &threads[2], Y + 8, PCT_USE_PLAIN);
    uint32_t last = number;
    assert_true(pct_memory_counts(&s, &m, &threads[2], Y + 8, 3, PCT_USE_PLAIN, &number));
    assert_int_not_equal(number, last);
    assert_int_not_equal(number, 0);
    /* A stack is nobody else's until another thread comes. */
    pct_memory_touch(&s, &m, &threads[1], Y + 16, PCT_USE_STACK);
    assert_false(pct_memory_counts(&s, &m, &threads[1], Y + 16, 4, PCT_USE_PLAIN, &number));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_touch, setup),
        cmocka_unit_test_setup(test_counts, setup),
        cmocka_unit_test_setup(test_budget_of_a_place, setup),
        cmocka_unit_test_setup(test_owner_ended, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
