/* Unit tests of cli/trace/predict.c: runs made by hand. Links with: cli/trace/predict.c cli/trace/orderings.c
 * cli/trace/iroots.c cli/trace/conflicts.c cli/trace/events.c cli/trace/access_links.c cli/trace/reordering.c
 * cli/base/names.c. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "../../cli/trace/predict.h"
#include "written_run.h"
#include <string.h>

static const struct written_kind kinds[] = {
    { 'r', PCT_OP_LOAD, 0, true, true },           { 'w', PCT_OP_STORE, 0, true, false },
    { 'l', PCT_OP_MUTEX_LOCK, 0, true, false },    { 'u', PCT_OP_MUTEX_UNLOCK, 0, true, false },
    { 'p', PCT_OP_SEM_POST, 0, true, false },      { 'd', PCT_OP_SEM_WAIT, 0, true, false },
    { 'c', PCT_OP_COND_WAIT, 0, true, false },     { 'k', PCT_OP_COND_WAKE, 0, true, false },
    { 'g', PCT_OP_COND_SIGNAL, 0, true, false },   { 'n', PCT_OP_THREAD_CREATE, 0, false, false },
    { 's', PCT_OP_THREAD_START, 0, false, false }, { 'f', PCT_OP_THREAD_FINISH, 0, false, false },
    { 'j', PCT_OP_THREAD_JOIN, 0, false, false },
};

static void predict(struct pct_iroots *predicted, const char *text)
{
    struct written_run run;
    written_run_read(&run, kinds, text);
    assert_int_equal(pct_predict_add(predicted, &run.trace, run.accesses, run.count, 40, 1), 0);
}

/* Nobody knows where the second access was made: it hides the first one all the same, and no iRoot has it. */
static void test_unknown(void **unused)
{
    (void)unused;
    struct pct_iroots exposed = { .count = 0 }, predicted = { .count = 0 };
    struct written_run run;
    written_run_read(&run, kinds, "0lm 0wx 0wx 0um 1lm 1rx 1um");
    run.accesses[2].place = 0;
    assert_int_equal(pct_iroots_add(&exposed, NULL, run.accesses, run.count, 40, 1), 0);
    assert_int_equal(exposed.count, 1); /* of the lock */
    assert_int_equal(exposed.item[0]->place[0], 4);
    assert_int_equal(pct_predict_add(&predicted, &run.trace, run.accesses, run.count, 40, 1), 0);
    for (size_t i = 0; i < predicted.count; i++)
        for (unsigned k = 0; k < pct_idiom_accesses(predicted.item[i]->idiom); k++)
            assert_int_not_equal(predicted.item[i]->place[k], 0);
    const struct pct_iroot forth = { .idiom = 1, .place = { 2, 6 } }, back = { .idiom = 1, .place = { 6, 2 } };
    assert_null(pct_iroots_find(&predicted, &forth));
    assert_non_null(pct_iroots_find(&predicted, &back));
    pct_iroots_free(&exposed);
    pct_iroots_free(&predicted);
}

static bool has(const struct pct_iroots *predicted, uint32_t first, uint32_t second)
{
    const struct pct_iroot wanted = { .idiom = 1, .place = { first, second } };
    return pct_iroots_find(predicted, &wanted);
}

static const struct example {
    const char *run;
    uint32_t first, second;
    bool forth, back; /* whether the first may come right before the second, and the other way round */
} examples[] = {
    { "0wx 1rx", 1, 2, true, true },
    { "0rx 1rx", 1, 2, false, false }, /* none writes */
    { "0wx 1ry", 1, 2, false, false },
    { "0wx 0n1 1s1 1rx 1f1 0j1", 1, 4, true, false }, /* before the thread is there */
    { "0n1 1s1 1rx 1f1 0j1 0wx", 3, 6, true, false }, /* behind its end */
    { "0n1 0wx 1s1 1rx", 2, 4, true, true },
    { "0lm 0wx 0um 1lm 1rx 1um", 2, 5, true, true },      /* sections in any order */
    { "0lm 0rx 0um 1lm 1rx 1wx 1um", 2, 6, true, true },  /* a read before it hides no write from another read, */
    { "0lm 0wx 0rx 0um 1lm 1rx 1um", 2, 6, true, true },  /* and none behind a write hides that from one */
    { "0lm 0wx 0um 1lm 1rx 1wx 1um", 2, 6, false, true }, /* but of two writes it does */
    { "0lm 0wx 0wx 0um 1lm 1rx 1um", 2, 6, false, true }, /* but the first write is hidden by the second, */
    { "0lm 0wx 0wx 0um 1lm 1rx 1um", 3, 6, true, false },
    { "0lm 0wx 0um 0lm 0wx 0um 1lm 1rx 1um", 2, 8, true, true }, /* unless it has a section of its own */
    { "0lm 0wx 0wx 0um 1ln 1rx 1un", 2, 6, true, true },         /* another lock */
    { "0lm 0um 1lm 1um", 2, 3, true, false },                    /* unlock, lock */
    { "0lm 0um 1lm 1um", 4, 1, true, false },
    { "0lm 0um 1lm 1um", 1, 3, false, false },
    { "0wx 0ps 1ds 1rx", 1, 4, true, false },                     /* posted, awaited */
    { "1lm 1cv 0lm 0wx 0gv 0um 1kv 1rx 1um", 4, 8, true, false }, /* signalled */
    { "1lm 1cv 0lm 0gv 0um 1kv 1um", 2, 4, true, true },          /* the signal may come too early */
};

static void test_examples(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const struct example *e = &examples[i];
        struct pct_iroots predicted = { .count = 0 };
        predict(&predicted, e->run);
        if (has(&predicted, e->first, e->second) != e->forth || has(&predicted, e->second, e->first) != e->back)
            fail_msg("%s: %u and %u", e->run, e->first, e->second);
        pct_iroots_free(&predicted);
    }
}

enum { MOST_WANTED = 12 };

/* What a run predicts of idioms 2 to 6: all of it. */
static const struct {
    const char *run;
    struct pct_iroot wanted[MOST_WANTED];
} compound[] = {
    { "0rx 0wx 1wx", { { .idiom = 2, .place = { 1, 3, 2 } } } },
    { "0rx 0wx 1rx 1wx", { { .idiom = 2, .place = { 1, 4, 2 } }, { .idiom = 2, .place = { 3, 2, 4 } } } },
    { "0wx 0wx 1rx 1rx",
      { { .idiom = 2, .place = { 1, 3, 2 } },
        { .idiom = 2, .place = { 1, 4, 2 } },
        { .idiom = 3, .place = { 1, 3, 4, 2 } },
        { .idiom = 2, .place = { 3, 1, 4 } },
        { .idiom = 2, .place = { 3, 2, 4 } },
        { .idiom = 3, .place = { 3, 1, 2, 4 } } } },
    { "0wx 0ry 1rx 1wy",
      { { .idiom = 4, .place = { 1, 3, 4, 2 } },
        { .idiom = 4, .place = { 3, 1, 2, 4 } },
        { .idiom = 6, .place = { 1, 3, 2, 4 } },
        { .idiom = 6, .place = { 3, 1, 4, 2 } } } },
    { "0wx 0ry 1wy 1rx", { { .idiom = 5, .place = { 1, 4, 3, 2 } } } },
    /* What one section keeps out may be made before it and behind it. */
    { "0lm 0wx 0ry 0um 1lm 1wy 1um 1lm 1rx 1um",
      { { .idiom = 3, .place = { 7, 1, 4, 8 } },
        { .idiom = 6, .place = { 7, 1, 9, 2 } },
        { .idiom = 5, .place = { 2, 9, 6, 3 } },
        { .idiom = 6, .place = { 3, 6, 4, 8 } } } },
    /* The thread of B and C may make others to their objects in between, that of A and D may not. */
    { "0rx 0rx 1wx 1wx 1wx",
      { { .idiom = 2, .place = { 1, 3, 2 } },
        { .idiom = 2, .place = { 1, 4, 2 } },
        { .idiom = 2, .place = { 1, 5, 2 } },
        { .idiom = 3, .place = { 1, 3, 4, 2 } },
        { .idiom = 3, .place = { 1, 3, 5, 2 } },
        { .idiom = 3, .place = { 1, 4, 5, 2 } },
        { .idiom = 2, .place = { 3, 1, 4 } },
        { .idiom = 2, .place = { 3, 2, 4 } },
        { .idiom = 3, .place = { 3, 1, 2, 4 } },
        { .idiom = 2, .place = { 4, 1, 5 } },
        { .idiom = 2, .place = { 4, 2, 5 } },
        { .idiom = 3, .place = { 4, 1, 2, 5 } } } },
    { "0wx 0rx 0ry 1rx 1wy",
      { { .idiom = 4, .place = { 4, 1, 3, 5 } },
        { .idiom = 6, .place = { 1, 4, 3, 5 } },
        { .idiom = 6, .place = { 4, 1, 5, 3 } } } },
    { "0lm 0wx 0ry 0um 1lm 1wy 1rx 1um", { { .idiom = 0 } } }, /* but not of two sections of one lock */
    { "0lm 0rx 0wx 0um 1lm 1wx 1um", { { .idiom = 0 } } },     /* one section of one lock */
    { "0rx 0ry 0wx 1wx", { { .idiom = 2, .place = { 1, 4, 3 } } } },
    { "0rx 0rx 0wx 1wx", { { .idiom = 2, .place = { 2, 4, 3 } }, { .idiom = 2, .place = { 1, 4, 2 } } } },
};

static void test_compound(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof compound / sizeof *compound; i++) {
        struct pct_iroots predicted = { .count = 0 };
        size_t count = 0;
        predict(&predicted, compound[i].run);
        for (; count < MOST_WANTED && compound[i].wanted[count].idiom; count++)
            if (!pct_iroots_find(&predicted, &compound[i].wanted[count]))
                fail_msg("%s: not the one of idiom %u", compound[i].run, compound[i].wanted[count].idiom);
        if (predicted.count - predicted.by_idiom[1] != count)
            fail_msg("%s: %zu more", compound[i].run, predicted.count - predicted.by_idiom[1] - count);
        pct_iroots_free(&predicted);
    }
}

/* Where the run could expose it: before its first access, before what that one's thread wrote last, and before A. */
static void test_chances(void **unused)
{
    (void)unused;
    struct pct_iroots predicted = { .count = 0 };
    predict(&predicted, "0ry 0wz 0wx 1rz 1rx");
    for (uint32_t back = 0; back < 2; back++) {
        const struct pct_iroot wanted = { .idiom = 1, .place = { back ? 5 : 3, back ? 3 : 5 } };
        const struct pct_iroot *root = pct_iroots_find(&predicted, &wanted);
        assert_non_null(root);
        assert_int_equal(root->chances[back], 1);
        assert_int_equal(root->chances[!back], 0);
        const struct pct_iroot_chance *chance = root->chance[back];
        assert_int_equal(chance->run, 1);
        assert_int_equal(chance->step[PCT_BEHIND_NEXT], 2);
        assert_int_equal(chance->step[PCT_BEHIND_WRITE], 1);
        assert_int_equal(chance->step[PCT_BEHIND_AGAIN], back ? 4 : 0);
        assert_int_equal(chance->first, back);
        assert_int_equal(chance->thread[0], back);
        assert_int_equal(chance->thread[1], !back);
    }
    pct_iroots_free(&predicted);
}

/* In one section the other access cannot come first: its thread is to wait before it. And where there are rounds, it is
 * the last of those that come first, or the first of those that come later. */
static void test_sections(void **unused)
{
    (void)unused;
    static const struct pct_iroot forth = { .idiom = 1, .place = { 3, 7 } }, back = { .idiom = 1, .place = { 7, 3 } };
    struct pct_iroots predicted = { .count = 0 };
    predict(&predicted, "0ry 0lm 0wx 0um 1ry 1lm 1rx 1um");
    const struct pct_iroot *root = pct_iroots_find(&predicted, &forth);
    assert_non_null(root);
    assert_int_equal(root->chance[0][0].step[PCT_BEHIND_NEXT], 2);
    root = pct_iroots_find(&predicted, &back);
    assert_non_null(root);
    assert_int_equal(root->chance[1][0].step[PCT_BEHIND_NEXT], 1);
    pct_iroots_free(&predicted);
}

/* How the accesses can be made behind that: steps of both threads in turn, and how many reads see another write. */
static const struct {
    const char *run;
    struct pct_iroot root;
    uint8_t changes, segment[PCT_IROOT_SEGMENTS];
} reordered[] = {
    { "0wx 1rx", { .idiom = 1, .place = { 1, 2 } }, 0, { 1, 1 } },
    { "0wx 1rx", { .idiom = 1, .place = { 2, 1 } }, 0, { 1, 1 } },
    { "0wx 1ry 1rx", { .idiom = 1, .place = { 1, 3 } }, 0, { 0, 1, 1, 1 } },
    { "0wx 0wy 1ry 1rx", { .idiom = 1, .place = { 4, 1 } }, 1, { 2, 1 } },         /* 3 sees no write then */
    { "0lm 0wx 0um 1lm 1rx 1um", { .idiom = 1, .place = { 2, 5 } }, 0, { 2, 2 } }, /* 0 has to leave */
    { "0lm 0wx 0um 1lm 1rx 1um",
      { .idiom = 1, .place = { 5, 2 } },
      1,
      { 3, 2 } },                                                            /* and 1, which has read it, goes on */
    { "0rx 0wx 1wx", { .idiom = 2, .place = { 1, 3, 2 } }, 0, { 1, 1, 1 } }, /* in between */
    { "0wx 0ry 1wy 1rx", { .idiom = 5, .place = { 1, 4, 3, 2 } }, 0, { 0, 1, 2, 1 } }, /* crosswise */
    { "0wx 0wx 0wx 1rx", { .idiom = 2, .place = { 1, 4, 2 } }, 0, { 1, 1, 1 } },       /* between the first two */
};

static void test_reordered(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof reordered / sizeof *reordered; i++) {
        struct pct_iroots predicted = { .count = 0 };
        predict(&predicted, reordered[i].run);
        const struct pct_iroot *root = pct_iroots_find_either(&predicted, &reordered[i].root);
        if (!root)
            fail_msg("%s: not predicted", reordered[i].run);
        const struct pct_iroot_chance *chance = &root->chance[!root->chances[0]][0];
        if (chance->changes != reordered[i].changes ||
            memcmp(chance->segment, reordered[i].segment, sizeof chance->segment) != 0)
            fail_msg("%s, row %zu: %u changes, %u %u %u %u", reordered[i].run, i, chance->changes, chance->segment[0],
                     chance->segment[1], chance->segment[2], chance->segment[3]);
        pct_iroots_free(&predicted);
    }
}

/* Of a run the chance that changes least is kept, and of later runs only such as halve that. */
static void test_offers(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t run;
        uint8_t changes;
        bool kept;
    } offers[] = { { 1, 9, true }, { 1, 8, true },  { 1, 9, false }, { 2, 9, true },
                   { 3, 9, true }, { 4, 5, false }, { 5, 4, true },  { 6, 3, false } };
    struct pct_iroots set = { .count = 0 };
    const struct pct_iroot wanted = { .idiom = 1, .place = { 1, 2 } };
    struct pct_iroot *open;
    for (size_t i = 0; i < sizeof offers / sizeof *offers; i++) {
        const struct pct_iroot_chance chance = { .run = offers[i].run, .changes = offers[i].changes };
        assert_int_equal(pct_iroots_insert_open(&set, &wanted, offers[i].run, 0, &open), 0);
        assert_non_null(open);
        assert_int_equal(pct_iroot_offer(open, &chance) != NULL, offers[i].kept);
    }
    assert_int_equal(open->chances[0], 4);
    const struct pct_iroot_chance perfect = { .run = 7 };
    assert_int_equal(pct_iroots_insert_open(&set, &wanted, 7, 0, &open), 0);
    assert_non_null(pct_iroot_offer(open, &perfect));
    for (uint64_t run = 7; run < 9; run++) { /* none is better than that */
        assert_int_equal(pct_iroots_insert_open(&set, &wanted, run, 0, &open), 0);
        assert_null(open);
    }
    pct_iroots_free(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_examples),  cmocka_unit_test(test_compound),
                                        cmocka_unit_test(test_chances),   cmocka_unit_test(test_sections),
                                        cmocka_unit_test(test_reordered), cmocka_unit_test(test_offers),
                                        cmocka_unit_test(test_unknown) };
    return cmocka_run_group_tests_name("predict", tests, NULL, NULL);
}
