/* Unit tests of the strategies urw, surw, surw-one, delay-bound, preemption-bound, portfolio and mixture. Each is
 * compared step by step with a naive model over random abstract runs; the distributions that their papers promise are
 * tested in tests/sim/test_sampling.c. Links with: strategies/ *.c. */
#include "abstract_run.h"
#include "../../strategies/one_object.h"
#include "../../strategies/strategies.h"
#include <pct/random.h>

/* A run of at most MODEL_THREADS threads, its number of threads and its events drawn from `variant`. */
static uint64_t compare(const struct pct_strategy *strategy, const struct pct_run *run, const struct model *model,
                        uint64_t variant)
{
    uint64_t random = variant;
    return run_abstract(strategy, run, model, 1 + test_below(&random, MODEL_THREADS), 400, variant);
}

static uint64_t change_point(const struct pct_run *run, uint64_t i)
{
    return pct_random_below(run->seed, PCT_STREAM_CHANGE, i, run->param[1]) + 1;
}

/* --- urw ---------------------------------------------------------------------------------------------------------- */

struct weighted {
    struct pct_run run;
    uint64_t left[MODEL_THREADS], step, redraw;
    uint32_t threads, chosen;
};

static uint64_t estimate(const struct pct_run *run, uint32_t thread)
{
    return thread < 16 && run->param[1 + thread] ? run->param[1 + thread] : run->param[0];
}

static void weighted_created(void *data, uint32_t thread)
{
    struct weighted *m = data;
    m->left[thread] = estimate(&m->run, thread);
    m->threads = thread + 1;
}

static uint64_t weight_of(const struct weighted *m, uint32_t thread)
{
    uint64_t weight = m->left[thread] ? m->left[thread] : 1;
    for (uint32_t other = 1; thread == 0 && other < 16; other++)
        weight += other >= m->threads ? m->run.param[1 + other] : 0;
    return weight;
}

static uint32_t weighted_next(void *data, const struct world *world, bool picked)
{
    struct weighted *m = data;
    assert_true(picked);
    if (m->chosen != PCT_NO_THREAD && world->step > m->step)
        m->left[m->chosen] -= m->left[m->chosen] > 0;
    m->redraw = world->step == m->step ? m->redraw + 1 : 0;
    m->step = world->step;
    uint64_t sum = 0;
    for (uint32_t t = 0; t < world->threads; t++)
        sum += world->enabled[t] ? weight_of(m, t) : 0;
    uint64_t at = pct_random_below(m->run.seed, PCT_STREAM_PICK, world->step << 16 | m->redraw, sum);
    m->chosen = 0;
    while (!world->enabled[m->chosen] || at >= weight_of(m, m->chosen)) {
        at -= world->enabled[m->chosen] ? weight_of(m, m->chosen) : 0;
        m->chosen++;
    }
    return m->chosen;
}

static void test_urw_model(void **unused)
{
    (void)unused;
    struct weighted data;
    struct model model = { .data = &data, .created = weighted_created, .next = weighted_next };
    for (uint64_t seed = 0; seed < 2000; seed++) {
        uint64_t random = seed;
        struct pct_run run = { .seed = seed, .param = { 1 + test_below(&random, 60) } };
        for (uint32_t i = 0; i < 16 && seed % 3; i++)
            run.param[1 + i] = test_below(&random, 3) ? test_below(&random, 100) : 0;
        data = (struct weighted){ .run = run, .chosen = PCT_NO_THREAD };
        compare(&pct_strategy_urw, &run, &model, seed);
    }
}

/* --- surw --------------------------------------------------------------------------------------------------------- */

/* Who is free stands in an array, the last one filling gaps: a number drawn means a place in it. */
struct selective {
    struct pct_run run;
    uint64_t left[MODEL_THREADS], step, redraw;
    uint32_t threads, chosen, intended;
    bool last; /* the one chosen was about to make an interesting event */
    bool enabled[MODEL_THREADS], interested[MODEL_THREADS], idle[MODEL_THREADS];
    uint32_t no_progress;
    uint32_t free[MODEL_THREADS], size;
    uint64_t events, waited; /* interesting ones; times that an enabled thread was not free */
    uint64_t idled, blocked; /* times that a thread was intended without effect; and as it was blocked */
    uint64_t chosen_roles;   /* times that a role was drawn */
};

/* In half of the runs. */
static bool roles_count(const struct selective *m)
{
    return pct_object_draw(m->run.seed, PCT_OBJECT_ROLES, 2);
}

static uint64_t share(const struct selective *m, uint64_t events)
{
    uint64_t among = m->run.param[1] ? 1 : m->run.param[0];
    return (events + among - 1) / among;
}

static uint64_t interest(const struct selective *m, uint32_t thread)
{
    uint64_t weight = m->left[thread] ? m->left[thread] : 1;
    for (uint32_t other = 1; thread == 0 && other < 16; other++)
        weight += other >= m->threads ? share(m, m->run.param[3 + other]) : 0;
    return weight;
}

static void selective_sort(struct selective *m, uint32_t thread)
{
    uint32_t at = 0;
    while (at < m->size && m->free[at] != thread)
        at++;
    bool is_free = m->enabled[thread] && (!m->interested[thread] || m->intended == thread);
    if (is_free && at == m->size)
        m->free[m->size++] = thread;
    else if (!is_free && at < m->size)
        m->free[at] = m->free[--m->size];
}

static void selective_intend(struct selective *m, uint32_t thread)
{
    uint32_t before = m->intended;
    m->intended = thread;
    if (before != PCT_NO_THREAD)
        selective_sort(m, before);
    if (thread != PCT_NO_THREAD)
        selective_sort(m, thread);
}

static void selective_created(void *data, uint32_t thread)
{
    struct selective *m = data;
    bool named = thread < 16 && m->run.param[3 + thread];
    m->left[thread] = share(m, m->run.param[named ? 3 + thread : 2]);
    m->threads = thread + 1;
    /* It takes its part of what main is intended for. */
    uint64_t both = m->left[thread] + interest(m, 0), place = (UINT64_C(1) << 63) + thread;
    if (thread && named && m->intended == 0 &&
        pct_random_below(m->run.seed, PCT_STREAM_INTEND, place, both) < m->left[thread]) {
        selective_intend(m, thread);
        if (roles_count(m) && run_role(thread))
            selective_intend(m, 0); /* roles are to decide */
    }
}

static void selective_announced(void *data, const struct world *world, uint32_t thread)
{
    struct selective *m = data;
    uint32_t object = world->next[thread].object;
    m->interested[thread] =
        object && object < PCT_THREAD_OBJECT &&
        (m->run.param[1] ? object == m->run.param[1]
                         : !pct_random_below(m->run.seed, PCT_STREAM_OBJECT, object, m->run.param[0]));
    m->idle[thread] = m->idle[thread] && !m->interested[thread];
    selective_sort(m, thread);
}

static void selective_enabled(void *data, const struct world *world, uint32_t thread)
{
    struct selective *m = data;
    (void)world;
    m->enabled[thread] = true;
    selective_sort(m, thread);
}

static void selective_disabled(void *data, uint32_t thread)
{
    struct selective *m = data;
    m->enabled[thread] = false;
    selective_sort(m, thread);
}

static bool selective_is_blocked(const struct selective *m)
{
    return m->intended != PCT_NO_THREAD && !m->enabled[m->intended];
}

static void selective_waited(struct selective *m, uint32_t steps)
{
    m->no_progress += steps;
    if (m->no_progress < 256)
        return;
    bool blocked = selective_is_blocked(m);
    m->idle[m->intended] |= !blocked;
    m->idled += !blocked;
    m->blocked += blocked;
    selective_intend(m, PCT_NO_THREAD);
}

static void selective_spins(void *data, uint32_t thread)
{
    struct selective *m = data;
    if (m->intended == thread)
        selective_intend(m, PCT_NO_THREAD);
    else if (m->intended != PCT_NO_THREAD && (!m->interested[m->intended] || selective_is_blocked(m)))
        selective_waited(m, 16);
}

static bool may_be_drawn(const struct selective *m, const struct world *world, uint32_t thread)
{
    return world->enabled[thread] && !m->idle[thread];
}

/* Whether it may be drawn, as one of this role; NO_ROLE: of any. */
#define NO_ROLE UINT32_MAX
static bool may_be(const struct selective *m, const struct world *world, uint32_t thread, uint32_t role)
{
    return may_be_drawn(m, world, thread) && (role == NO_ROLE || run_role(thread) == role);
}

/* NO_ROLE: it is not for roles to decide, there is only one, or each thread has its own. */
static uint32_t draw_role(struct selective *m, const struct world *world, uint64_t place)
{
    uint32_t role[4] = { 0 }, count = 0, most = 0;
    for (uint32_t r = 0; r < 4 && roles_count(m); r++) {
        uint32_t there = 0;
        for (uint32_t t = 0; t < world->threads; t++)
            there += may_be(m, world, t, r);
        if (there)
            role[count++] = r;
        most = there > most ? there : most;
    }
    if (count < 2 || most < 2)
        return NO_ROLE;
    m->chosen_roles++;
    return role[pct_random_below(m->run.seed, PCT_STREAM_ROLE, place, count)];
}

static uint32_t selective_next(void *data, const struct world *world, bool picked)
{
    struct selective *m = data;
    assert_true(picked);
    if (m->last && world->step > m->step) {
        m->events++;
        m->left[m->chosen] -= m->left[m->chosen] > 0;
        if (m->intended == m->chosen)
            selective_intend(m, PCT_NO_THREAD);
    } else if (m->chosen != PCT_NO_THREAD && world->step > m->step &&
               ((m->intended == m->chosen && !m->interested[m->chosen]) || selective_is_blocked(m))) {
        selective_waited(m, 1);
    }
    m->redraw = world->step == m->step ? m->redraw + 1 : 0;
    m->step = world->step;
    if (m->intended != PCT_NO_THREAD && !m->size)
        selective_intend(m, PCT_NO_THREAD);
    uint64_t place = world->step << 16 | m->redraw, sum = 0;
    uint32_t role = m->intended == PCT_NO_THREAD ? draw_role(m, world, place) : NO_ROLE;
    for (uint32_t t = 0; t < world->threads; t++)
        sum += may_be(m, world, t, role) ? interest(m, t) : 0;
    if (m->intended == PCT_NO_THREAD && sum) {
        uint64_t at = pct_random_below(m->run.seed, PCT_STREAM_INTEND, place, sum);
        uint32_t thread = 0;
        for (; !may_be(m, world, thread, role) || at >= interest(m, thread); thread++)
            at -= may_be(m, world, thread, role) ? interest(m, thread) : 0;
        selective_intend(m, thread);
        m->no_progress = 0;
    }
    m->waited += enabled_count(world) - m->size;
    m->chosen = m->free[pct_random_below(m->run.seed, PCT_STREAM_PICK, place, m->size)];
    m->last = m->interested[m->chosen];
    return m->chosen;
}

static void test_surw_model(void **unused)
{
    (void)unused;
    struct selective data;
    struct model model = { .data = &data,
                           .created = selective_created,
                           .announced = selective_announced,
                           .enabled = selective_enabled,
                           .disabled = selective_disabled,
                           .spins = selective_spins,
                           .next = selective_next };
    uint64_t events = 0, waited = 0, idled = 0, blocked = 0, roles = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        uint64_t random = seed;
        /* With few that are interesting, threads are intended without effect. */
        uint64_t among = seed % 8 ? 1 + seed % 4 : 1000;
        struct pct_run run = { .seed = seed, .param = { among, seed % 3 ? 0 : 1 + seed % 6, 1 + seed % 50 } };
        for (uint32_t i = 0; i < 16 && seed % 2; i++)
            run.param[3 + i] = test_below(&random, 3) ? test_below(&random, 100) : 0;
        data = (struct selective){ .run = run, .chosen = PCT_NO_THREAD, .intended = PCT_NO_THREAD };
        compare(&pct_strategy_surw, &run, &model, seed);
        events += data.events;
        waited += data.waited;
        idled += data.idled;
        blocked += data.blocked;
        roles += data.chosen_roles;
    }
    assert_true(events > 10000 && waited > 10000 && idled > 0 && blocked > 0 && roles > 10000);
}

/* surw-one is surw with one object, given or drawn. */
static void test_surw_one(void **unused)
{
    (void)unused;
    uint32_t drawn[129] = { 0 };
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct pct_run run = { .seed = seed, .param = { seed % 2 ? 0 : 1 + seed % 6, 1 + seed % 50, 4, 9 } };
        uint32_t object = pct_object_of_run(run.param[0], seed);
        struct pct_run same = { .seed = seed, .param = { 3, object, 1 + seed % 50, 4, 9 } };
        struct model nothing = { .data = NULL };
        assert_int_equal(compare(&pct_strategy_surw_one, &run, &nothing, seed),
                         compare(&pct_strategy_surw, &same, &nothing, seed));
        assert_in_range(object, 1, 128);
        drawn[object] += seed % 2;
    }
    /* Small numbers are drawn most: object 1 in one run of twelve, the last one hardly ever. */
    assert_true(drawn[1] > 50 && drawn[1] < 120 && drawn[2] > 50 && drawn[128] < 10);
}

/* --- delay-bound, preemption-bound -------------------------------------------------------------------------------- */

struct bounded {
    struct pct_run run;
    uint64_t step, redraw;
    uint32_t turn; /* PCT_NO_THREAD: nobody's */
    bool blocked, yields;
    uint32_t member[MODEL_THREADS], size; /* the enabled threads, the last one filling gaps */
};

static void bounded_enabled(void *data, const struct world *world, uint32_t thread)
{
    struct bounded *m = data;
    (void)world;
    m->member[m->size++] = thread;
}

static void bounded_disabled(void *data, uint32_t thread)
{
    struct bounded *m = data;
    uint32_t at = 0;
    while (m->member[at] != thread)
        at++;
    m->member[at] = m->member[--m->size];
    m->blocked |= m->turn == thread;
}

static void bounded_spins(void *data, uint32_t thread)
{
    struct bounded *m = data;
    m->yields |= m->turn == thread;
}

/* How many of the points that were drawn lie at the step that was just made. */
static uint32_t points_at(const struct bounded *m, const struct world *world)
{
    uint32_t points = 0;
    for (uint64_t i = 1; i <= m->run.param[0] && world->step > m->step; i++)
        points += change_point(&m->run, i) == world->step;
    return points;
}

static uint32_t delays_next(void *data, const struct world *world, bool picked)
{
    struct bounded *m = data;
    (void)picked;
    uint32_t forward = points_at(m, world) + (m->turn == PCT_NO_THREAD || m->blocked || m->yields);
    m->step = world->step;
    m->blocked = m->yields = false;
    for (; forward; forward--)
        do
            m->turn = m->turn + 1 < world->threads ? m->turn + 1 : 0; /* PCT_NO_THREAD + 1 is 0 */
        while (!world->enabled[m->turn]);
    return m->turn;
}

static uint32_t preemptions_next(void *data, const struct world *world, bool picked)
{
    struct bounded *m = data;
    bool preempted = points_at(m, world) || m->yields;
    if (picked)
        m->redraw = world->step == m->step ? m->redraw + 1 : 0;
    assert_true(picked || !(preempted || m->blocked));
    uint64_t place = world->step << 16 | m->redraw;
    if (m->blocked || m->turn == PCT_NO_THREAD) {
        m->turn = m->member[pct_random_below(m->run.seed, PCT_STREAM_PICK, place, m->size)];
    } else if (preempted && m->size > 1) {
        uint32_t chosen = m->member[pct_random_below(m->run.seed, PCT_STREAM_PICK, place, m->size - 1)];
        m->turn = chosen == m->turn ? m->member[m->size - 1] : chosen;
    }
    m->blocked = m->yields = false;
    if (picked)
        m->step = world->step;
    return m->turn;
}

static void test_bounded_models(void **unused)
{
    (void)unused;
    struct bounded data;
    struct model model = { .data = &data,
                           .enabled = bounded_enabled,
                           .disabled = bounded_disabled,
                           .spins = bounded_spins,
                           .final_wait = bounded_spins };
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct pct_run run = { .seed = seed, .param = { seed % 64, 1 + seed % 397 } };
        data = (struct bounded){ .run = run, .turn = PCT_NO_THREAD };
        model.next = seed % 2 ? delays_next : preemptions_next;
        compare(seed % 2 ? &pct_strategy_delay_bound : &pct_strategy_preemption_bound, &run, &model, seed);
    }
}

/* --- portfolio ---------------------------------------------------------------------------------------------------- */

static uint64_t run_named(const struct pct_strategy *strategy, uint64_t seed, const char *const *names,
                          const uint64_t *values)
{
    struct pct_run run = { .seed = seed };
    struct model nothing = { .data = NULL };
    for (int i = 0; strategy->params && strategy->params[i].name; i++) {
        run.param[i] = strategy->params[i].default_value;
        for (int j = 0; names[j]; j++)
            if (!strcmp(strategy->params[i].name, names[j]))
                run.param[i] = values[j];
    }
    return compare(strategy, &run, &nothing, seed);
}

/* Each seed's run is that of a member, with the same parameters; the members take turns. */
static void test_portfolio(void **unused)
{
    (void)unused;
    static const struct pct_strategy *const members[] = { &pct_strategy_pct,  &pct_strategy_pos,
                                                          &pct_strategy_surw, &pct_strategy_tapct,
                                                          &pct_strategy_urw,  &pct_strategy_preemption_bound };
    static const char *const names[] = { "depth", "k", "bound", "n", "n0", "n3", "n15", NULL };
    static const uint64_t values[] = { 5, 200, 9, 30, 90, 10, 20 };
    for (uint64_t seed = 0; seed < 600; seed++)
        assert_int_equal(run_named(&pct_strategy_portfolio, seed, names, values),
                         run_named(members[seed % 6], seed, names, values));
}

/* Each seed's run is that of a member, with the same parameters. Of twenty seeds in a row, each member has its
 * share; of four in a row, one or two are of pct-large. */
static void test_mixture(void **unused)
{
    (void)unused;
    static const char *const names[] = { "depth", "k", "n", "n0", "n3", "n15", NULL };
    static const uint64_t values[] = { 5, 200, 30, 90, 10, 20 };
    unsigned orders = 0;
    for (uint64_t seed = 0; seed < 600; seed++) {
        const struct pct_strategy *member = pct_strategy_member(&pct_strategy_mixture, seed);
        assert_int_equal(run_named(&pct_strategy_mixture, seed, names, values), run_named(member, seed, names, values));
        unsigned first = 0, here = 0;
        for (uint64_t i = 0; i < 20; i++) {
            first += pct_strategy_member(&pct_strategy_mixture, i) == member;
            here += pct_strategy_member(&pct_strategy_mixture, seed / 20 * 20 + i) == member;
        }
        assert_int_equal(first, here);
        orders += member != pct_strategy_member(&pct_strategy_mixture, seed % 20);
    }
    assert_true(orders > 100);
    unsigned of_pct = 0, of_pct_large = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        of_pct += pct_strategy_member(&pct_strategy_mixture, seed) == &pct_strategy_pct;
        of_pct_large += pct_strategy_member(&pct_strategy_mixture, seed) == &pct_strategy_pct_large;
    }
    assert_int_equal(of_pct, 4); /* one in five, as users are told */
    assert_int_equal(of_pct_large, 6);
    for (uint64_t seed = 0; seed < 600; seed++) {
        unsigned of_four = 0;
        for (uint64_t i = 0; i < 4; i++)
            of_four += pct_strategy_member(&pct_strategy_mixture, seed + i) == &pct_strategy_pct_large;
        assert_true(of_four == 1 || of_four == 2 || seed % 20 > 16);
    }
    assert_ptr_equal(pct_strategy_member(&pct_strategy_pos, 7), &pct_strategy_pos);
    assert_ptr_equal(pct_strategy_member(&pct_strategy_portfolio, 7), &pct_strategy_pos);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urw_model),      cmocka_unit_test(test_surw_model), cmocka_unit_test(test_surw_one),
        cmocka_unit_test(test_bounded_models), cmocka_unit_test(test_portfolio),  cmocka_unit_test(test_mixture),
    };
    return cmocka_run_group_tests_name("strategies that walk and bound", tests, NULL, NULL);
}
