/* Unit tests of cli/trace/lock_cycles.c: runs made by hand, and random lock programs against all their schedules.
 * Links with: cli/trace/lock_cycles.c cli/trace/orderings.c cli/trace/orders.c cli/trace/events.c cli/base/names.c. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "../../cli/trace/lock_cycles.h"
#include "written_run.h"
#include <pct/random.h>
#include <stdio.h>
#include <string.h>

static const struct written_kind kinds[] = {
    { 'l', PCT_OP_MUTEX_LOCK, 0, true, false },
    { 't', PCT_OP_MUTEX_TRYLOCK, 0, true, false },
    { 'b', PCT_OP_MUTEX_TRYLOCK, PCT_ARG_BUSY, true, true },
    { 'x', PCT_OP_MUTEX_LOCK, PCT_ARG_TIMEOUT, true, false },
    { 'u', PCT_OP_MUTEX_UNLOCK, 0, true, false },
    { 'r', PCT_OP_RWLOCK_RDLOCK, 0, true, true },
    { 'w', PCT_OP_RWLOCK_WRLOCK, 0, true, false },
    { 'v', PCT_OP_RWLOCK_UNLOCK, 0, true, false },
    { 'p', PCT_OP_SEM_POST, 0, true, false },
    { 'd', PCT_OP_SEM_WAIT, 0, true, false },
    { 'n', PCT_OP_THREAD_CREATE, 0, false, false },
    { 's', PCT_OP_THREAD_START, 0, false, false },
    { 'f', PCT_OP_THREAD_FINISH, 0, false, false },
    { 'j', PCT_OP_THREAD_JOIN, 0, false, false },
};

static void find(struct pct_lock_cycles *cycles, const char *text, bool *may_be)
{
    struct written_run run;
    written_run_read(&run, kinds, text);
    assert_int_equal(pct_lock_cycles_find(cycles, &run.trace, run.accesses, run.count), 0);
    *may_be = pct_lock_cycles_may_be(&run.trace);
}

static const struct example {
    const char *run, *first; /* list; NULL: there is no cycle */
} examples[] = {
    { "1la 1lb 1ub 1ua 2lb 2la 2ua 2ub", "2.10x1.1.10x2-1.10x1.2.10x2" },
    { "1la 1lb 1ub 1ua 2la 2lb 2ub 2ua", NULL },
    { "1la 1lb 1ub 1ua 1lb 1la 1ua 1ub", NULL },                 /* one thread */
    { "1lg 1la 1lb 1ub 1ua 1ug 2lg 2lb 2la 2ua 2ub 2ug", NULL }, /* a gate */
    { "1lg 1la 1lb 1ub 1ua 1ug 2lb 2la 2ua 2ub", "2.10x1.1.10x3-1.10x2.2.10x2" },
    { "1la 1tb 1ub 1ua 2lb 2ta 2ua 2ub", NULL },                          /* what tries does not wait, */
    { "1ta 1lb 1ub 1ua 2tb 2la 2ua 2ub", "2.11x1.1.10x1-1.11x1.2.10x1" }, /* but holds what it got */
    { "1la 1bb 1ua 2lb 2la 2ua 2ub", NULL },
    { "1la 1xb 1ua 2lb 2la 2ua 2ub", NULL },
    { "1ra 1wb 1vb 1va 2rb 2wa 2va 2vb", "2.22x1.1.23x1-1.22x1.2.23x1" },
    { "1ra 1rb 1vb 1va 2rb 2ra 2va 2vb", NULL }, /* readers do not block readers */
    { "1rg 1la 1lb 1ub 1ua 1vg 2rg 2lb 2la 2ua 2ub 2vg", "2.10x1.1.10x2-1.10x1.2.10x2" }, /* nor are they a gate */
    { "0la 0lb 0ub 0ua 0n1 1s1 1lb 1la 1ua 1ub 1f1 0j1", NULL },                          /* before it is there */
    { "0n1 1s1 1lb 1la 1ua 1ub 1f1 0j1 0la 0lb 0ub 0ua", NULL },                          /* behind its end */
    { "1la 1lb 1ub 1ua 1ps 2ds 2lb 2la 2ua 2ub", NULL },
    { "1la 1lb 1ub 1ua 2lb 2lc 2uc 2ub 3lc 3la 3ua 3uc", "2.10x1.1.10x2-3.10x1.2.10x2-1.10x1.3.10x2" },
    { "1la 1lb 1ub 1ua 2lb 2lc 2uc 2ub 1lc 1la 1ua 1uc", NULL },
    { "1la 1la 1ua 1ua 2la 2la 2ua 2ua", NULL }, /* recursive */
};

static void test_examples(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *e = &examples[i];
        struct pct_lock_cycles cycles;
        bool may_be;
        find(&cycles, e->run, &may_be);
        bool fine = e->first ? may_be && cycles.count && strstr(cycles.list[0], e->first) : !cycles.count;
        if (!fine)
            fail_msg("%s: %s", e->run, cycles.count ? cycles.list[0] : "no cycle");
        assert_true(cycles.count <= PCT_LOCK_CYCLE_TRIES);
        pct_lock_cycles_free(&cycles);
    }
}

/* The threads first come to where each takes its outermost lock, unless they are there. */
static void test_meeting(void **unused)
{
    (void)unused;
    struct pct_lock_cycles cycles;
    bool may_be;
    find(&cycles, "1lg 1ug 1lh 1la 1lb 1ub 1ua 1uh 2s2 2lb 2la 2ua 2ub", &may_be);
    assert_int_equal(cycles.count, 2);
    assert_string_equal(cycles.list[0], "1.12x1.2.10x1-2.1x1.1.10x2-2.10x1.1.10x4-1.10x3.2.10x2");
    assert_string_equal(cycles.list[1], "2.10x1.1.10x4-1.10x3.2.10x2");
    pct_lock_cycles_free(&cycles);
}

/* --- Against all schedules ---------------------------------------------------------------------------------------- */

enum { LOCKS = 4, STEPS = 8, PROGRAMS = 3000 };

struct program {
    unsigned threads, length[3];
    int8_t step[3][STEPS]; /* lock + 1: take it; negative: give it back */
};

/* Sections stand one in another, and take no lock again. */
static void draw(struct program *p, uint64_t seed)
{
    uint64_t at = 0;
    p->threads = 2 + (unsigned)pct_random_below(seed, 0, at++, 2);
    for (unsigned t = 0; t < p->threads; t++) {
        int8_t held[STEPS], depth = 0;
        unsigned n = 0, most = p->threads == 2 ? STEPS : STEPS - 2;
        while (n + (unsigned)depth < most) {
            int8_t lock = (int8_t)(1 + pct_random_below(seed, 0, at++, LOCKS));
            bool gives = depth && !pct_random_below(seed, 0, at++, 3), is_held = false;
            for (int8_t i = 0; i < depth; i++)
                is_held = is_held || held[i] == lock;
            if (gives || is_held || n + (unsigned)depth + 2 > most) {
                if (!depth)
                    break;
                p->step[t][n++] = (int8_t)-held[--depth];
            } else {
                p->step[t][n++] = held[depth++] = lock;
            }
        }
        while (depth)
            p->step[t][n++] = (int8_t)-held[--depth];
        p->length[t] = n;
    }
}

/* Whether some schedule from here on ends in a deadlock. */
static bool can_block(const struct program *p, const unsigned at[3], unsigned taken, bool seen[9][9][9])
{
    bool any = false, left = false;
    if (seen[at[0]][at[1]][at[2]])
        return false;
    seen[at[0]][at[1]][at[2]] = true;
    for (unsigned t = 0; t < p->threads; t++) {
        if (at[t] == p->length[t])
            continue;
        int8_t step = p->step[t][at[t]];
        unsigned bit = 1u << (step < 0 ? -step : step), next[3] = { at[0], at[1], at[2] };
        left = true;
        if (step > 0 && (taken & bit))
            continue;
        any = true;
        next[t]++;
        if (can_block(p, next, taken ^ bit, seen))
            return true;
    }
    return left && !any;
}

static void test_all_schedules(void **unused)
{
    (void)unused;
    unsigned blocking = 0;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        struct program p = { 0 };
        bool seen[9][9][9] = { 0 }, may_be;
        char text[WRITTEN_MOST * 4] = "", *end = text;
        struct pct_lock_cycles cycles;
        draw(&p, seed);
        for (unsigned t = 0; t < p.threads; t++)
            for (unsigned i = 0; i < p.length[t]; i++) {
                int8_t step = p.step[t][i];
                end += sprintf(end, "%s%u%c%c", end == text ? "" : " ", t + 1, step < 0 ? 'u' : 'l',
                               'a' + (step < 0 ? -step : step));
            }
        find(&cycles, text, &may_be);
        bool blocks = can_block(&p, (unsigned[3]){ 0 }, 0, seen);
        blocking += blocks;
        if (blocks != (cycles.count > 0) || (blocks && !may_be))
            fail_msg("program %u: %s: %s", (unsigned)seed, text, blocks ? "a deadlock" : "no deadlock");
        pct_lock_cycles_free(&cycles);
    }
    assert_in_range(blocking, PROGRAMS / 10, PROGRAMS * 9 / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_examples), cmocka_unit_test(test_meeting),
                                        cmocka_unit_test(test_all_schedules) };
    return cmocka_run_group_tests_name("lock_cycles", tests, NULL, NULL);
}
