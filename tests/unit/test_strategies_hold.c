/* Unit tests of the strategy hold, compared step by step with a naive model over random abstract runs; what it finds is
 * tested in tests/sim/test_hold.c. Links with: strategies/ *.c. */
#include "abstract_run.h"
#include "../../strategies/one_object.h"
#include "../../strategies/strategies.h"
#include <pct/operations.h>
#include <pct/random.h>

/* Threads in an array, the last one filling gaps: a number drawn means a place in it. */
struct set {
    uint32_t member[MODEL_THREADS], size;
};

static void put(struct set *set, uint32_t thread, bool in)
{
    uint32_t at = 0;
    while (at < set->size && set->member[at] != thread)
        at++;
    if (in && at == set->size)
        set->member[set->size++] = thread;
    else if (!in && at < set->size)
        set->member[at] = set->member[--set->size];
}

struct holding {
    struct pct_run run;
    uint32_t object;
    bool gives, some;
    uint64_t step, redraw;
    uint32_t threads, chosen, no_progress;
    struct pct_operation next[MODEL_THREADS], last;
    bool enabled[MODEL_THREADS], passes[MODEL_THREADS], ends[MODEL_THREADS];
    uint32_t made[MODEL_THREADS], owner[4096]; /* plus 1 */
    struct set free, held;
    uint64_t holds, wanted, let, roles;
};

static bool is_access(const struct holding *m, const struct pct_operation *next)
{
    return next->object == m->object && pct_operation_gives(next->op) == m->gives;
}

static void sort(struct holding *m, uint32_t thread)
{
    bool held = is_access(m, &m->next[thread]) &&
                (!m->some || pct_random_below(m->run.seed, PCT_STREAM_CHANGE, m->made[thread], 2));
    held = (held || m->ends[thread]) && !m->passes[thread];
    put(&m->free, thread, m->enabled[thread] && !held);
    put(&m->held, thread, m->enabled[thread] && held);
}

static void created(void *data, uint32_t thread)
{
    struct holding *m = data;
    m->threads = thread + 1;
}

static void announced(void *data, const struct world *world, uint32_t thread)
{
    struct holding *m = data;
    m->next[thread] = world->next[thread];
    m->passes[thread] = false;
    sort(m, thread);
}

static void enabled(void *data, const struct world *world, uint32_t thread)
{
    struct holding *m = data;
    (void)world;
    m->enabled[thread] = true;
    sort(m, thread);
}

static void disabled(void *data, uint32_t thread)
{
    struct holding *m = data;
    m->enabled[thread] = false;
    sort(m, thread);
}

static void spins(void *data, uint32_t thread)
{
    struct holding *m = data;
    (void)thread;
    m->no_progress += m->held.size ? 256 : 0;
}

static void final_wait(void *data, uint32_t thread)
{
    struct holding *m = data;
    m->ends[thread] = true;
    sort(m, thread);
}

static void made(struct holding *m)
{
    uint32_t object = m->last.object;
    m->made[m->chosen] += is_access(m, &m->last);
    sort(m, m->chosen);
    if (!object || object >= PCT_THREAD_OBJECT)
        return;
    if (!pct_operation_gives(m->last.op))
        m->owner[object % 4096] = m->chosen + 1;
    else if (m->owner[object % 4096] == m->chosen + 1)
        m->owner[object % 4096] = 0;
}

static bool is_held(const struct holding *m, uint32_t thread)
{
    for (uint32_t i = 0; i < m->held.size; i++)
        if (m->held.member[i] == thread)
            return true;
    return false;
}

/* In half of the runs, where the held threads have several roles, each of these is as likely. */
static uint32_t draw(struct holding *m, uint64_t place)
{
    uint32_t role[4] = { 0 }, count = 0, of_it[MODEL_THREADS], size = 0;
    for (uint32_t r = 0; r < 4 && pct_object_draw(m->run.seed, PCT_OBJECT_ROLES, 2); r++) {
        bool there = false;
        for (uint32_t i = 0; i < m->held.size; i++)
            there |= run_role(m->held.member[i]) == r;
        if (there)
            role[count++] = r;
    }
    m->roles += count > 1;
    uint32_t wanted = count > 1 ? role[pct_random_below(m->run.seed, PCT_STREAM_ROLE, place, count)] : 0;
    for (uint32_t i = 0; i < m->held.size; i++)
        if (count < 2 || run_role(m->held.member[i]) == wanted)
            of_it[size++] = m->held.member[i];
    return of_it[pct_random_below(m->run.seed, PCT_STREAM_EVENT, place, size)];
}

static void let_go(struct holding *m, uint64_t place)
{
    uint32_t thread = PCT_NO_THREAD;
    uint64_t from = pct_random_below(m->run.seed, PCT_STREAM_INTEND, place, m->threads);
    for (uint32_t i = 0; i < m->threads && thread == PCT_NO_THREAD; i++) {
        uint32_t waiting = (uint32_t)((from + i) % m->threads), object = m->next[waiting].object;
        if (m->enabled[waiting] || !object || object >= PCT_THREAD_OBJECT || !m->owner[object % 4096])
            continue;
        if (is_held(m, m->owner[object % 4096] - 1))
            thread = m->owner[object % 4096] - 1;
    }
    m->wanted += thread != PCT_NO_THREAD;
    if (thread == PCT_NO_THREAD)
        thread = draw(m, place);
    m->passes[thread] = true;
    m->no_progress = 0;
    m->let++;
    sort(m, thread);
}

static uint32_t next(void *data, const struct world *world, bool picked)
{
    struct holding *m = data;
    assert_true(picked);
    if (m->chosen != PCT_NO_THREAD && world->step > m->step)
        made(m);
    m->no_progress += world->step > m->step && m->held.size;
    m->redraw = world->step == m->step ? m->redraw + 1 : 0;
    m->step = world->step;
    uint64_t place = world->step << 16 | m->redraw;
    if (!m->free.size || (m->no_progress >= 4096 && m->held.size))
        let_go(m, place);
    m->holds += m->held.size;
    m->chosen = m->free.member[pct_random_below(m->run.seed, PCT_STREAM_PICK, place, m->free.size)];
    m->last = m->next[m->chosen];
    return m->chosen;
}

static void test_model(void **unused)
{
    (void)unused;
    struct holding data;
    struct model model = { .data = &data,
                           .created = created,
                           .announced = announced,
                           .enabled = enabled,
                           .disabled = disabled,
                           .spins = spins,
                           .final_wait = final_wait,
                           .next = next };
    uint64_t holds = 0, wanted = 0, let = 0, roles = 0;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct pct_run run = { .seed = seed, .param = { seed % 4 ? 1 + seed % 6 : 0, seed % 3 } };
        uint64_t kind = run.param[1] ? run.param[1] : 1 + pct_object_draw(seed, PCT_OBJECT_KIND, 2);
        data = (struct holding){ .run = run,
                                 .object = pct_object_of_run(run.param[0], seed),
                                 .gives = kind == 2,
                                 .some = pct_object_draw(seed, PCT_OBJECT_SOME, 2),
                                 .chosen = PCT_NO_THREAD };
        uint64_t random = seed;
        run_abstract(&pct_strategy_hold, &run, &model, 1 + test_below(&random, MODEL_THREADS), 400, seed);
        holds += data.holds;
        wanted += data.wanted;
        let += data.let;
        roles += data.roles;
    }
    assert_true(holds > 10000 && let > 1000 && wanted > 100 && roles > 100);
}

/* What gives an object back, or writes it, is the other kind than what takes or reads it. */
static void test_kinds(void **unused)
{
    (void)unused;
    static const uint32_t gives[] = { PCT_OP_STORE, PCT_OP_ATOMIC_UPDATE, PCT_OP_MUTEX_UNLOCK, PCT_OP_SEM_POST,
                                      PCT_OP_COND_SIGNAL };
    static const uint32_t takes[] = { PCT_OP_LOAD,     PCT_OP_ATOMIC_LOAD, PCT_OP_MUTEX_LOCK,
                                      PCT_OP_SEM_WAIT, PCT_OP_COND_WAIT,   PCT_OP_MUTEX_TRYLOCK };
    for (size_t i = 0; i < sizeof gives / sizeof *gives; i++)
        assert_true(pct_operation_gives(gives[i]));
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++)
        assert_false(pct_operation_gives(takes[i]));
}

/* As tokens name it: if this changes, tokens that users wrote down replay something else (test_pinned in
 * test_strategies.c). */
static void test_pinned(void **unused)
{
    (void)unused;
    struct model nothing = { .data = NULL };
    struct pct_run run = { .seed = 42 };
    assert_int_equal(run_abstract(&pct_strategy_hold, &run, &nothing, 6, 400, 42), UINT64_C(0x4d9677d18396a231));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_model),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_pinned),
    };
    return cmocka_run_group_tests_name("hold", tests, NULL, NULL);
}
