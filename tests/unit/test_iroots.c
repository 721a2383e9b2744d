/* Unit tests of cli/trace/iroots.c: runs made by hand. Links with: cli/trace/iroots.c
 * cli/trace/conflicts.c cli/base/names.c. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "../../cli/trace/iroots.h"
#include <pct/trace.h>
#include <string.h>

static uint8_t op_of(char kind)
{
    return kind == 'r'   ? PCT_OP_LOAD
           : kind == 'w' ? PCT_OP_STORE
           : kind == 'l' ? PCT_OP_MUTEX_LOCK
           : kind == 'u' ? PCT_OP_MUTEX_UNLOCK
           : kind == 'c' ? PCT_OP_COND_WAIT
           : kind == 'k' ? PCT_OP_COND_WAKE
                         : PCT_OP_COND_SIGNAL;
}

/* A run as text: "0rx 1wy": thread 0 reads x, thread 1 writes y; l and u: it takes the lock x, and gives it back; c, k,
 * g: it waits for the condition variable x, goes on, signals it. The place of each access is its position, from 1. '.'
 * is a step of that thread that is no access: "0..". */
static void add_both(struct pct_iroots *roots, struct pct_iroots *combined, const char *text, uint32_t window,
                     uint64_t run)
{
    struct pct_access accesses[64];
    uint32_t made[4] = { 0 };
    size_t count = 0;
    for (const char *at = text; *at; at += at[3] ? 4 : 3) {
        uint32_t thread = (uint32_t)(*at - '0'), number = ++made[thread];
        if (at[1] == '.')
            continue;
        accesses[count] = (struct pct_access){ .object = (unsigned char)at[2],
                                               .thread = thread,
                                               .number = number,
                                               .place = (uint32_t)count + 1,
                                               .op = op_of(at[1]),
                                               .writes = at[1] != 'r' };
        count++;
    }
    assert_int_equal(pct_iroots_add(roots, combined, accesses, count, window, run), 0);
}

static void add(struct pct_iroots *roots, const char *text, uint32_t window, uint64_t run)
{
    add_both(roots, NULL, text, window, run);
}

static bool has(const struct pct_iroots *roots, uint32_t idiom, const uint32_t place[PCT_IROOT_PLACES])
{
    for (size_t i = 0; i < roots->count; i++)
        if (roots->item[i]->idiom == idiom && !memcmp(roots->item[i]->place, place, sizeof roots->item[i]->place))
            return true;
    return false;
}

struct example {
    const char *run;
    size_t count[PCT_IDIOMS];
    uint32_t idiom, place[PCT_IROOT_PLACES]; /* idiom 0: no such one to be looked for */
};

static const struct example examples[] = {
    { "0wx 1rx", { 1 }, 1, { 1, 2 } },
    { "0rx 1wx", { 1 }, 1, { 1, 2 } },
    { "0wx 1wx", { 1 }, 1, { 1, 2 } },
    { "0rx 1rx", { 0 }, 0, { 0 } },              /* none writes */
    { "0wx 0rx", { 0 }, 0, { 0 } },              /* one thread */
    { "0wx 1ry", { 0 }, 0, { 0 } },              /* two objects */
    { "0wx 1wx 2rx", { 2 }, 1, { 2, 3 } },       /* a write comes in between 1 and 3 */
    { "0rx 1rx 2wx", { 2 }, 1, { 1, 3 } },       /* all reads before a write */
    { "0rx 0rx 2wx", { 1 }, 1, { 2, 3 } },       /* of a thread the last */
    { "0wx 1rx 2rx", { 2 }, 1, { 1, 3 } },       /* all reads behind it */
    { "0rx 1wx 0rx", { 2, 1 }, 2, { 1, 2, 3 } }, /* the stale read */
    { "0rx 1wx 0wx", { 2, 1 }, 2, { 1, 2, 3 } }, /* the lost update */
    { "0wx 1rx 2wx", { 2 }, 1, { 2, 3 } },       /* three threads are no idiom */
    { "0wx 1rx 0rx 0wx", { 2 }, 1, { 2, 4 } },   /* 1 and 4 do not follow each other */
    { "0rx 1wx 1wx 0rx", { 2, 0, 1 }, 3, { 1, 2, 3, 4 } },
    { "0wx 1rx 1rx 1wx 0rx", { 3, 0, 2 }, 3, { 1, 3, 4, 5 } },
    { "0wx 1rx 1rx 1wx 0rx", { 3, 0, 2 }, 3, { 1, 2, 4, 5 } },         /* T1's access between B and C may be there, */
    { "0rx 1wx 1wx 1wx 0rx", { 2, 0, 1 }, 3, { 1, 2, 4, 5 } },         /* whatever it is, */
    { "0rx 1wx 2rx 2wx 1wx 0rx", { 4, 0, 2 }, 3, { 1, 2, 5, 6 } },     /* and that of a third thread, */
    { "0rx 1wx 0rx 1wx 0rx", { 4, 3 }, 2, { 1, 2, 3 } },               /* but not T0's: no 3 of 1, 2, 4 and 5 */
    { "0rx 1wx 1.. 1.. 1.. 1wx 0rx", { 2, 0, 1 }, 3, { 1, 2, 3, 4 } }, /* steps between B and C that fit the window */
    { "0wx 1rx 1wy 0ry", { 2, 0, 0, 1 }, 4, { 1, 2, 3, 4 } },
    { "0wx 1rx 1rx 1wy 1wy 0ry", { 3, 0, 0, 2 }, 4, { 1, 2, 5, 6 } }, /* T1's accesses between B and C may be there */
    { "0wx 1rx 1wy 0rz 0ry", { 2, 0, 0, 1 }, 4, { 1, 2, 3, 5 } },     /* and T0's to another object, */
    { "0wx 0rx 1rx 1wy 0ry", { 2 }, 1, { 1, 3 } },                    /* but not to X, */
    { "0wx 1rx 0rx 1wy 0ry", { 2 }, 1, { 4, 5 } },                    /* even a read, */
    { "0wx 0ry 1rx 1wy 0ry", { 3, 1, 0, 0, 0, 1 }, 2, { 2, 4, 5 } },  /* nor to Y */
    { "0rx 1ry 0wy 1wx", { 2, 0, 0, 0, 1 }, 5, { 1, 4, 2, 3 } },      /* once, though both could be called the first */
    { "0wx 1rx 2wy 0ry", { 2 }, 1, { 3, 4 } },
    { "0wx 1rx 0wy 1ry", { 2, 0, 0, 0, 0, 1 }, 6, { 1, 2, 3, 4 } },
    { "0wx 0wy 1rx 1ry", { 2, 0, 0, 0, 0, 1 }, 6, { 1, 3, 2, 4 } },
    { "0wx 0wy 1ry 1rx", { 2 }, 1, { 2, 3 } }, /* the other thread makes its own in another order */
    { "0wx 1rx 2wy 1ry", { 2 }, 1, { 3, 4 } }, /* three threads */
    { "0lx 0ux 1lx 1ux", { 1 }, 1, { 2, 3 } }, /* of a lock: what gives it back, and what takes it */
    { "0lx 0ux 1lx 1ux 1ly 1uy 0ly 0uy", { 2, 0, 0, 1 }, 4, { 2, 3, 6, 7 } },
    { "0lx 0cy 1lx 1gy 1ux 0ky", { 1 }, 1, { 2, 4 } }, /* waits give a lock back without an unlock */
    { "0lx 0cy 1lx 1cy 2lx 2gy", { 1 }, 1, { 4, 6 } }, /* no wait depends on another one */
};

static void test_examples(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *e = &examples[i];
        struct pct_iroots roots = { .count = 0 };
        add(&roots, e->run, 40, 1);
        for (uint32_t idiom = 1; idiom <= PCT_IDIOMS; idiom++)
            if (roots.by_idiom[idiom] != e->count[idiom - 1])
                fail_msg("%s: %zu of idiom %u", e->run, roots.by_idiom[idiom], idiom);
        if (e->idiom && !has(&roots, e->idiom, e->place))
            fail_msg("%s: not found", e->run);
        pct_iroots_free(&roots);
    }
}

/* Two dependencies of three threads: all that a run has. */
static const struct {
    const char *run;
    size_t count;
    uint32_t idiom, place[PCT_IROOT_PLACES];
} combined[] = {
    { "0wx 1rx 0wy 2ry", 1, 7, { 1, 2, 3, 4 } },
    { "0rx 1wx 2wy 0ry", 1, 8, { 1, 2, 3, 4 } },
    { "0wx 1rx 1wy 2ry", 1, 9, { 1, 2, 3, 4 } },
    { "0wx 1rx 2wy 1ry", 1, 10, { 1, 2, 3, 4 } },
    { "0rx 1wx 2rx 0wx", 1, 8, { 1, 2, 3, 4 } },                 /* one object */
    { "0wx 1rx 1wy 0ry", 0, 0, { 0 } },                          /* two threads */
    { "0wx 1rx 2wy 3ry", 0, 0, { 0 } },                          /* four */
    { "0wx 2wy 1rx 1ry", 0, 0, { 0 } },                          /* the second begins before the first is complete */
    { "0wx 1wx 2rx", 0, 0, { 0 } },                              /* three accesses */
    { "0rx 0.. 0.. 1wx 2wy 0ry", 0, 0, { 0 } },                  /* too far from each other */
    { "0rx 1wx 2wy 2.. 2.. 0ry 2.. 2..", 1, 8, { 1, 2, 3, 4 } }, /* that is of the shared thread */
};

static void test_combined(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof combined / sizeof *combined; i++) {
        struct pct_iroots roots = { .count = 0 }, found = { .most = 1 << 14 };
        add_both(&roots, &found, combined[i].run, 2, 1);
        if (found.count != combined[i].count || (found.count && !has(&found, combined[i].idiom, combined[i].place)))
            fail_msg("%s: %zu, or another one", combined[i].run, found.count);
        pct_iroots_free(&roots);
        pct_iroots_free(&found);
    }
}

/* No more are taken in than there may be. */
static void test_most(void **unused)
{
    (void)unused;
    struct pct_iroots roots = { .most = 2 };
    add(&roots, "0wx 1rx 2wx 3rx", 40, 1);
    assert_int_equal(roots.count, 2);
    assert_true(roots.full);
    pct_iroots_free(&roots);
}

/* A file has them in another order than that of the runs. */
static void test_newest(void **unused)
{
    (void)unused;
    struct pct_iroots roots = { .count = 0 };
    assert_int_equal(pct_iroots_newest(&roots), 0);
    for (uint32_t run = 7; run > 5; run--) {
        const struct pct_iroot root = { .idiom = 1, .place = { run, 1 } };
        assert_int_equal(pct_iroots_insert(&roots, &root, run), 0);
    }
    assert_int_equal(pct_iroots_newest(&roots), 7);
    pct_iroots_free(&roots);
}

/* Idiom 5 is one iRoot, whichever of its dependencies begins first in a run. */
static void test_either(void **unused)
{
    (void)unused;
    struct pct_iroots roots = { .count = 0 };
    struct pct_access accesses[4] = {
        { .object = 'x', .thread = 0, .number = 1, .place = 1, .op = PCT_OP_LOAD },
        { .object = 'y', .thread = 1, .number = 1, .place = 2, .op = PCT_OP_LOAD },
        { .object = 'y', .thread = 0, .number = 2, .place = 3, .op = PCT_OP_STORE, .writes = true },
        { .object = 'x', .thread = 1, .number = 2, .place = 4, .op = PCT_OP_STORE, .writes = true },
    };
    for (uint64_t run = 1; run <= 2; run++) {
        assert_int_equal(pct_iroots_add(&roots, NULL, accesses, 4, 40, run), 0);
        const struct pct_access first = accesses[0];
        accesses[0] = accesses[1];
        accesses[1] = first;
    }
    assert_int_equal(roots.by_idiom[5], 1);
    assert_int_equal(pct_iroots_newest(&roots), 1);
    pct_iroots_free(&roots);
}

/* Steps that are no accesses count. */
static void test_window(void **unused)
{
    (void)unused;
    for (uint32_t window = 1; window < 6; window++) {
        struct pct_iroots roots = { .count = 0 };
        add(&roots, "0rx 1wx 0.. 0.. 0wx", window, 1);
        assert_int_equal(roots.by_idiom[1], 2);
        assert_int_equal(roots.by_idiom[2], window >= 3);
        pct_iroots_free(&roots);
        add(&roots, "0wx 1rx 1.. 1.. 1wy 0ry", window, 1);
        assert_int_equal(roots.by_idiom[4], window >= 3);
        pct_iroots_free(&roots);
        add(&roots, "0wx 0wy 1rx 1.. 1.. 1ry", window, 1);
        add(&roots, "0wx 0.. 0.. 0wy 1rx 1ry", window, 2);
        assert_int_equal(roots.by_idiom[6], window >= 3);
        pct_iroots_free(&roots);
    }
}

static void test_runs(void **unused)
{
    (void)unused;
    struct pct_iroots roots = { .count = 0 };
    add(&roots, "0wx 1rx", 40, 1);
    add(&roots, "", 40, 2);
    add(&roots, "0wx 1rx", 40, 3);
    add(&roots, "1wx 0rx 2wy 3ry", 40, 4);
    assert_int_equal(roots.count, 2);
    assert_int_equal(roots.item[0]->runs, 3);
    assert_int_equal(roots.item[0]->first, 1);
    assert_int_equal(roots.item[0]->last, 4);
    assert_int_equal(roots.item[1]->runs, 1);
    assert_int_equal(roots.item[1]->first, 4);
    assert_false(roots.full);
    pct_iroots_free(&roots);
    assert_int_equal(roots.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples), cmocka_unit_test(test_combined), cmocka_unit_test(test_most),
        cmocka_unit_test(test_newest),   cmocka_unit_test(test_either),   cmocka_unit_test(test_window),
        cmocka_unit_test(test_runs),
    };
    return cmocka_run_group_tests_name("iroots", tests, NULL, NULL);
}
