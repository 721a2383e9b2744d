/* Unit tests of cli/trace/reads_from.c: runs made by hand. Links with: cli/trace/reads_from.c cli/trace/iroots.c
 * cli/trace/conflicts.c cli/base/names.c. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "../../cli/trace/reads_from.h"
#include <pct/trace.h>
#include <string.h>

/* Each access is four characters: thread, object, what (r, w, u: both, l: a lock), place. */
static void add(struct pct_iroots *pairs, const char *text, uint64_t run)
{
    struct pct_access accesses[32];
    size_t count = 0;
    for (const char *c = text; *c; c += c[4] ? 5 : 4)
        accesses[count++] = (struct pct_access){ .object = (uint64_t)c[1],
                                                 .thread = (uint32_t)(c[0] - '0'),
                                                 .place = (uint32_t)(c[3] - '0'),
                                                 .op = c[2] == 'r'   ? PCT_OP_LOAD
                                                       : c[2] == 'w' ? PCT_OP_STORE
                                                       : c[2] == 'u' ? PCT_OP_ATOMIC_UPDATE
                                                                     : PCT_OP_MUTEX_LOCK,
                                                 .writes = c[2] != 'r' };
    assert_int_equal(pct_reads_from_add(pairs, accesses, count, run), 0);
}

static uint64_t runs_of(const struct pct_iroots *pairs, uint32_t write, uint32_t read)
{
    const struct pct_iroot wanted = { .idiom = 1, .place = { write, read } };
    const struct pct_iroot *found = pct_iroots_find(pairs, &wanted);
    return found ? found->runs : 0;
}

static void test_pairs(void **state)
{
    (void)state;
    struct pct_iroots pairs = { .count = 0 };
    /* The last write counts, the reader's own one, too; what came before all of them; and no other object's. */
    add(&pairs, "0xr1 0xw2 1xw3 1xr4 0xr5 0yw6 1yr7", 1);
    assert_int_equal(pairs.count, 4);
    assert_int_equal(runs_of(&pairs, 0, 1), 1);
    assert_int_equal(runs_of(&pairs, 3, 4), 1);
    assert_int_equal(runs_of(&pairs, 3, 5), 1);
    assert_int_equal(runs_of(&pairs, 6, 7), 1);
    /* An update reads and writes; memory of one thread and locks are nothing. */
    add(&pairs, "0xu1 1xu2 0xr1 0zw3 0zr4 0ml5 1ml5", 2);
    assert_int_equal(pairs.count, 6);
    assert_int_equal(runs_of(&pairs, 0, 1), 2);
    assert_int_equal(runs_of(&pairs, 1, 2), 1);
    assert_int_equal(runs_of(&pairs, 2, 1), 1);
    pct_iroots_free(&pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_pairs) };
    return cmocka_run_group_tests_name("reads_from", tests, NULL, NULL);
}
