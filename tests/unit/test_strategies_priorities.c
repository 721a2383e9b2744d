/* Unit tests of the strategies by priorities beside pct: tapct, pctcp, pos. Each is compared step by step with a naive
 * model over random abstract runs; the distributions that their papers promise are tested in tests/sim/test_sampling.c.
 * Links with: strategies/ *.c. */
#include "abstract_run.h"
#include "../../strategies/priorities.h"
#include "../../strategies/strategies.h"
#include <pct/random.h>

/* A run of at most MODEL_THREADS threads, its number of threads and its events drawn from `variant`. */
static uint64_t compare(const struct pct_strategy *strategy, const struct pct_run *run, const struct model *model,
                        uint64_t variant)
{
    uint64_t random = variant;
    return run_abstract(strategy, run, model, 1 + test_below(&random, MODEL_THREADS), 400, variant);
}

static uint32_t highest(const struct world *world, const int64_t *p)
{
    uint32_t best = PCT_NO_THREAD;
    for (uint32_t t = 0; t < world->threads; t++)
        if (world->enabled[t] && (best == PCT_NO_THREAD || p[t] > p[best]))
            best = t;
    return best;
}

/* --- What the strategies by priorities share: threads that are put last at the next look. ------------------------- */

struct lasts {
    uint64_t seed;
    int64_t p[MODEL_THREADS];
    int64_t lowest;
    uint32_t spun[MODEL_THREADS];
    uint32_t waiting; /* plus 1 */
};

static void lasts_spins(void *data, uint32_t thread)
{
    struct lasts *m = data;
    if (pct_random_below(m->seed, PCT_STREAM_SPIN, (uint64_t)thread << 32 | m->spun[thread]++, 16) == 0)
        m->waiting = thread + 1;
}

static void lasts_final_wait(void *data, uint32_t thread)
{
    struct lasts *m = data;
    m->waiting = thread + 1;
}

/* Who is put last now, plus 1. */
static uint32_t lasts_settle(struct lasts *m)
{
    uint32_t waiting = m->waiting;
    if (waiting)
        m->p[waiting - 1] = --m->lowest;
    m->waiting = 0;
    return waiting;
}

static uint64_t change_point(const struct pct_run *run, uint64_t i)
{
    return pct_random_below(run->seed, PCT_STREAM_CHANGE, i, run->param[1]) + 1;
}

/* --- tapct -------------------------------------------------------------------------------------------------------- */

enum { OBJECTS = 8 };

struct traces {
    struct lasts lasts; /* first */
    struct pct_run run;
    uint64_t racy;
    uint32_t users[OBJECTS], uses[OBJECTS]; /* a bit for each thread */
    bool trial[MODEL_THREADS], met[MODEL_THREADS];
};

/* The table has 65,536 places: an object beyond falls together with another one. */
static uint32_t place_of(const struct pct_operation *next)
{
    return next->object < PCT_THREAD_OBJECT ? next->object % 65536 : 0;
}

static void traces_created(void *data, uint32_t thread)
{
    struct traces *m = data;
    m->lasts.p[thread] = 64 + (int64_t)pct_priorities_permute(m->run.seed, 0, thread);
}

static void traces_announced(void *data, const struct world *world, uint32_t thread)
{
    struct traces *m = data;
    uint32_t place = place_of(&world->next[thread]);
    m->met[thread] = false;
    m->users[place] |= UINT32_C(1) << thread;
    m->trial[thread] = m->uses[place]++ < m->run.param[2];
}

static uint32_t traces_next(void *data, const struct world *world, bool picked)
{
    struct traces *m = data;
    assert_true(picked);
    lasts_settle(&m->lasts);
    for (;;) {
        uint32_t thread = highest(world, m->lasts.p), place = place_of(&world->next[thread]);
        bool shared = m->users[place] & (m->users[place] - 1);
        if (m->met[thread] || !place || !(shared || m->trial[thread]))
            return thread;
        m->met[thread] = true;
        m->racy++;
        bool changed = false;
        for (uint64_t i = 1; i < m->run.param[0]; i++)
            if (change_point(&m->run, i) == m->racy) {
                m->lasts.p[thread] = (int64_t)(m->run.param[0] - i);
                changed = true;
            }
        if (!changed)
            return thread;
    }
}

/* Where another thread has the rank, as one of an earlier phase of maple may, it keeps it: both can be enabled. */
static void test_begin(void **unused)
{
    (void)unused;
    enum { THREADS = 3 };
    struct pct_layout size = { 0 }, layout = { 0 };
    struct pct_priorities p = { 0 };
    pct_priorities_lay_out(&p, &size, THREADS);
    layout.base = test_calloc(1, size.used);
    assert_non_null(layout.base);
    pct_priorities_lay_out(&p, &layout, THREADS);
    for (uint32_t i = 0; i < THREADS; i++)
        pct_priorities_begin(&p, i, PCT_INITIAL_RANKS - 1);
    for (uint32_t i = 0; i < THREADS; i++)
        pct_priorities_enable(&p, i);
    assert_int_equal(pct_priorities_highest(&p), 0);
    pct_priorities_disable(&p, 0);
    assert_int_equal(pct_priorities_highest(&p), 2);
    pct_priorities_disable(&p, 2);
    assert_int_equal(pct_priorities_highest(&p), 1);
    pct_priorities_begin(&p, 1, 1);
    assert_int_equal(pct_priorities_rank(&p, 1), PCT_RANK_INITIAL + 2);
    test_free(layout.base);
}

static void test_tapct_model(void **unused)
{
    (void)unused;
    struct traces data;
    struct model model = { .data = &data,
                           .created = traces_created,
                           .announced = traces_announced,
                           .next = traces_next,
                           .spins = lasts_spins,
                           .final_wait = lasts_final_wait };
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct pct_run run = { .seed = seed,
                               .param = { 1 + seed % 9, 1 + seed % 251, 1 + seed % 7 % 3 * 4 },
                               .objects = seed % 2 ? TEST_OBJECTS : 0 };
        data = (struct traces){ .lasts.seed = seed, .run = run };
        compare(&pct_strategy_tapct, &run, &model, seed);
    }
}

/* --- pctcp -------------------------------------------------------------------------------------------------------- */

struct chains {
    struct lasts lasts; /* first */
    struct pct_run run;
    uint64_t step;
    uint32_t chains, chosen;
    uint32_t ran;                                                       /* who made the last step */
    uint32_t joining[MODEL_THREADS];                                    /* plus 1 */
    bool ended[MODEL_THREADS];                                          /* and the strategy was asked since */
    bool known[MODEL_THREADS];                                          /* was joined */
    uint32_t list[MODEL_THREADS][MODEL_THREADS], length[MODEL_THREADS]; /* what a thread knows, the latest last */
    uint64_t continued;
};

static void chains_learn(struct chains *m, uint32_t thread)
{
    uint32_t other = m->joining[thread] - 1;
    m->joining[thread] = 0;
    if (other == PCT_NO_THREAD || !m->ended[other] || m->known[other])
        return;
    m->known[other] = true;
    for (uint32_t i = 0; i < m->length[other]; i++)
        m->list[thread][m->length[thread]++] = m->list[other][i];
    m->length[other] = 0;
    m->list[thread][m->length[thread]++] = other;
}

static void chains_created(void *data, uint32_t thread)
{
    struct chains *m = data;
    uint32_t creator = m->chosen;
    if (creator != PCT_NO_THREAD)
        chains_learn(m, creator);
    if (creator != PCT_NO_THREAD && m->length[creator]) {
        m->lasts.p[thread] = m->lasts.p[m->list[creator][--m->length[creator]]];
        m->continued++;
    } else {
        m->lasts.p[thread] = 64 + (int64_t)pct_priorities_permute(m->run.seed, 0, m->chains++);
    }
}

static void chains_announced(void *data, const struct world *world, uint32_t thread)
{
    struct chains *m = data;
    const struct pct_operation *next = &world->next[thread];
    chains_learn(m, thread);
    if (next->op == PCT_OP_THREAD_JOIN)
        m->joining[thread] = next->object - PCT_THREAD_OBJECT + 1;
}

static uint32_t chains_next(void *data, const struct world *world, bool picked)
{
    struct chains *m = data;
    for (uint64_t i = 1; i < m->run.param[0] && world->step > m->step; i++)
        if (change_point(&m->run, i) == world->step)
            m->lasts.p[m->ran] = (int64_t)(m->run.param[0] - i);
    m->step = world->step;
    lasts_settle(&m->lasts);
    if (picked && m->chosen != PCT_NO_THREAD && world->finished[m->chosen])
        m->ended[m->chosen] = true;
    m->chosen = highest(world, m->lasts.p);
    return m->chosen;
}

static void chains_stepped(void *data, const struct world *world, uint32_t thread)
{
    struct chains *m = data;
    (void)world;
    m->ran = thread;
}

static void test_pctcp_model(void **unused)
{
    (void)unused;
    struct chains data;
    struct model model = { .data = &data,
                           .created = chains_created,
                           .announced = chains_announced,
                           .next = chains_next,
                           .stepped = chains_stepped,
                           .spins = lasts_spins,
                           .final_wait = lasts_final_wait };
    uint64_t continued = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct pct_run run = { .seed = seed, .param = { 1 + seed % 9, 1 + seed % 401 } };
        data = (struct chains){ .lasts.seed = seed, .run = run, .chosen = PCT_NO_THREAD };
        run_abstract(&pct_strategy_pctcp, &run, &model, MODEL_THREADS, 1000, seed);
        continued += data.continued;
    }
    assert_true(continued > 100); /* the runs do have such threads */
}

/* A program that creates and joins one thread after the other, a thousand times: two chains, main's and theirs. All of
 * them come before main or after it, as the first does. */
static void test_pctcp_two_chains(void **unused)
{
    (void)unused;
    const struct pct_strategy *strategy = &pct_strategy_pctcp;
    uint64_t before = 0;
    for (uint64_t seed = 0; seed < 64; seed++) {
        struct pct_run run = { .seed = seed, .param = { 1, 1 } };
        void *state = new_state(strategy, &run);
        strategy->created(state, 0);
        strategy->enable(state, 0);
        struct pct_point point = { .current = PCT_NO_THREAD, .enabled = 1, .why = PCT_WHY_START };
        assert_int_equal(strategy->pick(state, &point).thread, 0);
        bool first = false;
        for (uint32_t thread = 1; thread <= 1000; thread++) {
            strategy->created(state, thread);
            strategy->enable(state, thread);
            point = (struct pct_point){ .step = thread * 4, .current = 0, .enabled = 2, .why = PCT_WHY_ENABLED };
            bool now = strategy->pick(state, &point).thread == thread;
            assert_true(thread == 1 || now == first);
            first = now;
            struct pct_operation join = { .op = PCT_OP_THREAD_JOIN, .object = PCT_THREAD_OBJECT + thread };
            strategy->announce(state, 0, &join);
            strategy->disable(state, 0);
            point = (struct pct_point){ .step = point.step + 1, .current = 0, .enabled = 1, .why = PCT_WHY_BLOCKED };
            assert_int_equal(strategy->pick(state, &point).thread, thread);
            strategy->disable(state, thread);
            strategy->enable(state, 0);
            point =
                (struct pct_point){ .step = point.step + 1, .current = thread, .enabled = 1, .why = PCT_WHY_FINISHED };
            assert_int_equal(strategy->pick(state, &point).thread, 0);
        }
        before += first;
        free_state(strategy, &run, state);
    }
    assert_true(before > 16 && before < 48);
}

/* --- pos ---------------------------------------------------------------------------------------------------------- */

struct sampling {
    struct lasts lasts; /* first */
    uint64_t step, draws[MODEL_THREADS];
    uint64_t came[MODEL_THREADS], comings; /* in which order the threads came to their operations */
    bool rests[MODEL_THREADS];
    uint32_t chosen;
    struct pct_operation last;
};

/* Not one that another thread has: of any that ever was created. */
static void sampling_draw(struct sampling *m, uint32_t thread)
{
    for (bool taken = true; taken;) {
        uint64_t place = (uint64_t)thread << 48 | m->draws[thread]++;
        int64_t drawn = (int64_t)pct_random_below(m->lasts.seed, PCT_STREAM_EVENT, place, 65536);
        taken = false;
        for (uint32_t t = 0; t < MODEL_THREADS; t++)
            taken |= m->draws[t] && m->lasts.p[t] == drawn;
        if (!taken)
            m->lasts.p[thread] = drawn;
    }
}

static void sampling_created(void *data, uint32_t thread)
{
    struct sampling *m = data;
    m->lasts.p[thread] = -1; /* none */
    sampling_draw(m, thread);
}

static void sampling_announced(void *data, const struct world *world, uint32_t thread)
{
    struct sampling *m = data;
    (void)world;
    m->came[thread] = ++m->comings;
}

static bool races(const struct sampling *m, const struct world *world, uint32_t thread)
{
    const struct pct_operation *next = &world->next[thread];
    return thread != m->chosen && m->last.object && next->object == m->last.object && !m->rests[thread] &&
           !(next->reads && m->last.reads);
}

static uint32_t sampling_next(void *data, const struct world *world, bool picked)
{
    struct sampling *m = data;
    assert_true(picked);
    if (m->chosen != PCT_NO_THREAD && world->step > m->step) {
        m->rests[m->chosen] = false;
        sampling_draw(m, m->chosen);
        /* In the order of the strategy's lists, for a number that is taken is drawn again. */
        for (uint64_t came = m->comings; came; came--)
            for (uint32_t t = 0; t < world->threads; t++)
                if (m->came[t] == came && races(m, world, t))
                    sampling_draw(m, t);
    }
    uint32_t last = lasts_settle(&m->lasts);
    if (last)
        m->rests[last - 1] = true;
    m->step = world->step;
    m->chosen = highest(world, m->lasts.p);
    m->last = world->next[m->chosen];
    return m->chosen;
}

static void test_pos_model(void **unused)
{
    (void)unused;
    struct sampling data;
    struct model model = { .data = &data,
                           .created = sampling_created,
                           .announced = sampling_announced,
                           .next = sampling_next,
                           .spins = lasts_spins,
                           .final_wait = lasts_final_wait };
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct pct_run run = { .seed = seed };
        data = (struct sampling){ .lasts = { .seed = seed, .lowest = -1 }, .chosen = PCT_NO_THREAD };
        compare(&pct_strategy_pos, &run, &model, seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_begin),       cmocka_unit_test(test_tapct_model),
        cmocka_unit_test(test_pctcp_model), cmocka_unit_test(test_pctcp_two_chains),
        cmocka_unit_test(test_pos_model),
    };
    return cmocka_run_group_tests_name("strategies by priorities", tests, NULL, NULL);
}
