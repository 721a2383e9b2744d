/* Unit tests of cli/base/table.h: a table against a naive one, through random operations, with keys that fall together;
 * common/bisect.h and cli/base/grow.h. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <cli/base/grow.h>
#include <cli/base/table.h>
#include <common/bisect.h>
#include <pct/random.h>
#include <stdlib.h>
#include <string.h>

enum { OPERATIONS = 50000, KEYS = 400 };

static uint64_t draw(uint64_t i, uint32_t stream, uint64_t bound)
{
    return pct_random_below(1, PCT_STREAM_USER + stream, i, (uint32_t)bound);
}

/* Keys of different shapes: in a row, from 0 on; addresses, whose lowest bits are alike; what only the highest bits
 * tell apart; and hashes. */
static uint64_t key_of(unsigned shape, uint64_t number)
{
    return shape == 0   ? number
           : shape == 1 ? UINT64_C(0x7f0000000000) + (number << 12)
           : shape == 2 ? number << 55
                        : number * UINT64_C(0xc2b2ae3d27d4eb4f);
}

/* Each value of the table is that of its key, each key is met once, and there are no others. */
static void check_all(const struct pct_table *table, unsigned shape, const uint32_t *naive, const bool *there)
{
    size_t count = 0, met = 0;
    uint64_t key;
    for (uint64_t number = 0; number < KEYS; number++) {
        const uint32_t *value = pct_table_find(table, key_of(shape, number));
        assert_true(!value == !there[number]);
        assert_true(!value || *value == naive[number]);
        count += there[number];
    }
    assert_int_equal(table->count, count);
    const uint32_t *value;
    bool seen[KEYS] = { false };
    for (size_t at = 0; (value = pct_table_next(table, &at, &key)); met++) {
        uint64_t number = 0;
        while (number < KEYS && (key_of(shape, number) != key || seen[number]))
            number++;
        assert_true(number < KEYS);
        if (number == KEYS)
            return;
        assert_true(there[number] && *value == naive[number]);
        seen[number] = true;
    }
    assert_int_equal(met, count);
}

static void test_against_naive(void **unused)
{
    (void)unused;
    for (unsigned shape = 0; shape < 4; shape++) {
        struct pct_table table = PCT_TABLE(uint32_t);
        uint32_t naive[KEYS] = { 0 };
        bool there[KEYS] = { false };
        check_all(&table, shape, naive, there);
        for (uint64_t i = 0; i < OPERATIONS; i++) {
            /* The first of them meet few keys. */
            const uint64_t number = draw(i, shape, i < OPERATIONS / 2 ? 3 + i / 100 : KEYS);
            uint32_t *value = draw(i, shape + 4, 3) ? pct_table_add(&table, key_of(shape, number))
                                                    : pct_table_find(&table, key_of(shape, number));
            if (!value) {
                assert_false(there[number]);
                continue;
            }
            assert_int_equal(*value, naive[number]);
            there[number] = true;
            *value = naive[number] = (uint32_t)i + 1;
            if (i % 1000 == 0)
                check_all(&table, shape, naive, there);
        }
        check_all(&table, shape, naive, there);
        assert_true(2 * table.count <= table.room);
        pct_table_free(&table);
        check_all(&table, shape, naive, (bool[KEYS]){ false });
        assert_int_equal(*(uint32_t *)pct_table_add(&table, 0), 0);
        pct_table_free(&table);
    }
}

/* Values keep their size and their content when the table grows, and are aligned. */
static void test_values(void **unused)
{
    (void)unused;
    struct value {
        uint64_t number;
        char text[13];
    };
    struct pct_table table = PCT_TABLE(struct value), bytes = PCT_TABLE(uint8_t);
    for (uint64_t i = 0; i < 10000; i++) {
        struct value *value = pct_table_add(&table, i * i);
        assert_non_null(value);
        assert_int_equal((uintptr_t)value % sizeof(uint64_t), 0);
        assert_int_equal(value->number, 0);
        *value = (struct value){ .number = i, .text = "twelve chars" };
        *(uint8_t *)pct_table_add(&bytes, i) = (uint8_t)(i * 7);
    }
    for (uint64_t i = 0; i < 10000; i++) {
        const struct value *value = pct_table_find(&table, i * i);
        assert_int_equal(value->number, i);
        assert_string_equal(value->text, "twelve chars");
        assert_int_equal(*(uint8_t *)pct_table_find(&bytes, i), (uint8_t)(i * 7));
    }
    assert_null(pct_table_find(&table, 2));
    pct_table_free(&table);
    pct_table_free(&bytes);
}

static void test_set(void **unused)
{
    (void)unused;
    struct pct_table set = PCT_TABLE_OF_KEYS;
    assert_null(pct_table_find(&set, 0));
    assert_null(pct_table_find(&set, 1));
    for (uint64_t i = 0; i < 1000; i++) {
        assert_non_null(pct_table_add(&set, i * 8));
        assert_non_null(pct_table_add(&set, i * 4));
    }
    assert_int_equal(set.count, 1500);
    for (uint64_t i = 0; i < 8000; i++)
        assert_true(!pct_table_find(&set, i) == (i % 8 && (i % 4 || i >= 4000)));
    pct_table_free(&set);
}

/* What room is reserved for moves nothing. */
static void test_reserve(void **unused)
{
    (void)unused;
    struct pct_table table = PCT_TABLE(uint64_t);
    assert_true(pct_table_reserve(&table, 1000));
    const uint64_t *first = pct_table_add(&table, 17);
    for (uint64_t i = 0; i < 1000; i++)
        *(uint64_t *)pct_table_add(&table, i) = i;
    assert_ptr_equal(first, pct_table_find(&table, 17));
    assert_int_equal(*first, 17);
    assert_int_equal(table.room, 2048);
    pct_table_free(&table);
}

/* --- Bisection ---------------------------------------------------------------------------------------------------- */

static void test_bisect(void **unused)
{
    (void)unused;
    for (size_t count = 0; count < 40; count++)
        for (size_t before = 0; before <= count; before++)
            for (size_t low = 0; low <= count; low++) {
                const size_t expected = before > low ? before : low;
                size_t asked = 0, found = PCT_BISECT(i, low, count, (asked++, i < before));
                assert_int_equal(found, expected);
                assert_true(asked <= 6);
            }
}

/* An array whose room is counted in 32 bits grows in place of its owner, and keeps what is in it. */
static void test_grow(void **unused)
{
    (void)unused;
    uint64_t *item = NULL;
    uint32_t count = 0, room = 0;
    for (; count < 1000; count++) {
        const uint32_t before = room;
        assert_true(PCT_GROW(item, count, room));
        assert_true(room > count && (count < before ? room == before : room == (before ? 2 * before : 64)));
        item[count] = count;
    }
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(item[i], i);
    free(item);
}

/* Without memory all is as it was. */
static void test_grow_without_memory(void **unused)
{
    (void)unused;
    char *item = malloc(1), *before = item;
    size_t room = SIZE_MAX / 4;
    assert_false(PCT_GROW(item, room, room));
    assert_true(item == before && room == SIZE_MAX / 4);
    free(item);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_naive),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_bisect),
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_grow_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
