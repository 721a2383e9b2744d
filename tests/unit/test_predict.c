/* Unit tests of cli/trace/predict.c: runs made by hand. Links with: cli/trace/predict.c cli/trace/orderings.c
 * cli/trace/iroots.c cli/trace/events.c cli/base/names.c. */
/* clang-format off: cmocka.h needs these four before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include "../../cli/trace/predict.h"
#include <string.h>

enum { MOST = 64 };

static const struct kind {
    char letter;
    uint8_t op;
    bool access, reads;
} kinds[] = { { 'r', PCT_OP_LOAD, true, true },           { 'w', PCT_OP_STORE, true, false },
              { 'l', PCT_OP_MUTEX_LOCK, true, false },    { 'u', PCT_OP_MUTEX_UNLOCK, true, false },
              { 'p', PCT_OP_SEM_POST, true, false },      { 'd', PCT_OP_SEM_WAIT, true, false },
              { 'c', PCT_OP_COND_WAIT, true, false },     { 'k', PCT_OP_COND_WAKE, true, false },
              { 'g', PCT_OP_COND_SIGNAL, true, false },   { 'n', PCT_OP_THREAD_CREATE, false, false },
              { 's', PCT_OP_THREAD_START, false, false }, { 'f', PCT_OP_THREAD_FINISH, false, false },
              { 'j', PCT_OP_THREAD_JOIN, false, false } };

/* A run as text: "0wx 1lm": thread 0 writes x, thread 1 takes the lock m. Objects are letters, threads digits. The
 * place of a step is its position, from 1. Objects have the number of their letter. */
static void predict(struct pct_iroots *predicted, const char *text)
{
    uint64_t records[MOST];
    struct pct_access accesses[MOST];
    uint32_t made[8] = { 0 };
    size_t steps = 0, count = 0;
    for (const char *at = text; *at; at += at[3] ? 4 : 3) {
        const struct kind *kind = kinds;
        while (kind->letter != at[1])
            kind++;
        uint32_t thread = (uint32_t)(*at - '0'), object = kind->access ? (uint32_t)at[2] : (uint32_t)(at[2] - '0');
        records[steps++] = PCT_RECORD(thread, kind->op, 0, object);
        made[thread]++;
        if (kind->access)
            accesses[count++] = (struct pct_access){ .object = object,
                                                     .thread = thread,
                                                     .number = made[thread],
                                                     .place = (uint32_t)steps,
                                                     .index = (uint32_t)steps - 1,
                                                     .op = kind->op,
                                                     .writes = !kind->reads };
    }
    const struct pct_trace trace = { .records = records, .count = steps, .complete = true };
    assert_int_equal(pct_predict_add(predicted, &trace, accesses, count, 40, 1), 0);
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
        struct pct_iroots predicted = { .tree = NULL };
        predict(&predicted, e->run);
        if (has(&predicted, e->first, e->second) != e->forth || has(&predicted, e->second, e->first) != e->back)
            fail_msg("%s: %u and %u", e->run, e->first, e->second);
        pct_iroots_free(&predicted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_examples) };
    return cmocka_run_group_tests_name("predict", tests, NULL, NULL);
}
