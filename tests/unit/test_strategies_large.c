/* Unit tests of the strategy pct-large, compared step by step with a naive model over random abstract runs. Links with:
 * strategies/ *.c. */
#include "abstract_run.h"
#include "../../strategies/strategies.h"
#include <pct/random.h>

enum { PARAM_DEPTH, PARAM_K, PARAM_QUANTUM, LEVELS = 40 };

struct large {
    struct pct_run run;
    uint32_t level[MODEL_THREADS];
    uint64_t step, redraw, left;
    uint32_t turn; /* PCT_NO_THREAD: nobody's */
};

static void created(void *data, uint32_t thread)
{
    struct large *m = data;
    m->level[thread] = 1 + (uint32_t)pct_random_below(m->run.seed, PCT_STREAM_PRIORITY, thread, LEVELS - 1);
}

static void disabled(void *data, uint32_t thread)
{
    struct large *m = data;
    if (m->turn == thread)
        m->turn = PCT_NO_THREAD;
}

static void spins(void *data, uint32_t thread)
{
    struct large *m = data;
    m->level[thread] -= m->level[thread] > 0;
    m->turn = PCT_NO_THREAD;
}

static void final_wait(void *data, uint32_t thread)
{
    struct large *m = data;
    m->level[thread] = 0;
    m->turn = PCT_NO_THREAD;
}

static void stepped(void *data, const struct world *world, uint32_t thread)
{
    struct large *m = data;
    m->left--;
    for (uint64_t i = 1; i < m->run.param[PARAM_DEPTH]; i++)
        if (pct_random_below(m->run.seed, PCT_STREAM_CHANGE, i, m->run.param[PARAM_K]) + 1 == world->step)
            m->level[thread] = 0;
}

/* Each level a quarter heavier than the one below it, in whole numbers. */
static uint64_t weight_of(uint32_t level)
{
    uint64_t weight = 16;
    while (level--)
        weight += weight / 4;
    return weight;
}

static uint32_t next(void *data, const struct world *world, bool picked)
{
    struct large *m = data;
    if (picked) {
        m->redraw = world->step == m->step ? m->redraw + 1 : 0;
        m->step = world->step;
    }
    if (m->turn != PCT_NO_THREAD && m->left)
        return m->turn;
    assert_true(picked);
    const uint64_t place = world->step << 16 | m->redraw;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < world->threads; i++)
        sum += world->enabled[i] ? weight_of(m->level[i]) : 0;
    uint64_t at = pct_random_below(m->run.seed, PCT_STREAM_PICK, place, sum);
    for (m->turn = 0; !world->enabled[m->turn] || at >= weight_of(m->level[m->turn]); m->turn++)
        at -= world->enabled[m->turn] ? weight_of(m->level[m->turn]) : 0;
    m->left = 1 + pct_random_below(m->run.seed, PCT_STREAM_DELAY, place, 2 * m->run.param[PARAM_QUANTUM] - 1);
    return m->turn;
}

static void test_model(void **unused)
{
    (void)unused;
    struct large data;
    const struct model model = { .data = &data,
                                 .created = created,
                                 .disabled = disabled,
                                 .next = next,
                                 .stepped = stepped,
                                 .spins = spins,
                                 .final_wait = final_wait };
    for (uint64_t seed = 0; seed < 4000; seed++) {
        const struct pct_run run = { .seed = seed, .param = { 1 + seed % 64, 1 + seed % 397, 1 + seed % 7 } };
        data = (struct large){ .run = run, .turn = PCT_NO_THREAD };
        run_abstract(&pct_strategy_pct_large, &run, &model, 1 + (uint32_t)(seed % MODEL_THREADS), 400, seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_model) };
    return cmocka_run_group_tests_name("strategies_large", tests, NULL, NULL);
}
