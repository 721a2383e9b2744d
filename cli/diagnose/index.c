/* What is asked of a history again and again: see index.h. */
#include "history.h"
#include <common/bisect.h>
#include <pct/strategy.h>
#include <errno.h>
#include <stdlib.h>

struct range {
    uint32_t first, count;
};

/* --- Groups ------------------------------------------------------------------------------------------------------- */

/* Threads alone are counted from 0. */
static uint64_t key_of(unsigned class_, uint32_t object)
{
    return object || class_ == PCT_CLASS_THREAD ? ((uint64_t)class_ + 1) << 32 | object : 0;
}

static uint64_t object_at(const struct pct_history *h, uint32_t i)
{
    return key_of(h->steps[i].class_, h->steps[i].object);
}

static uint64_t thread_at(const struct pct_history *h, uint32_t i)
{
    return h->steps[i].thread + UINT64_C(1);
}

static uint64_t section_at(const struct pct_history *h, uint32_t i)
{
    return key_of(h->holds[i].class_, h->holds[i].object);
}

bool pct_groups_make(struct pct_groups *g, const struct pct_history *h, uint32_t count, pct_key_at *key)
{
    *g = (struct pct_groups){ .of = PCT_TABLE(struct range), .item = malloc((count + (size_t)1) * sizeof *g->item) };
    for (uint32_t i = 0; g->item && i < count; i++) {
        struct range *range = key(h, i) ? pct_table_add(&g->of, key(h, i)) : NULL;
        if (!range && key(h, i))
            return false;
        if (range)
            range->count++;
    }
    struct range *range;
    uint32_t first = 0;
    for (size_t at = 0; (range = pct_table_next(&g->of, &at, NULL));) {
        range->first = first;
        first += range->count;
        range->count = 0;
    }
    for (uint32_t i = 0; g->item && i < count; i++) {
        range = key(h, i) ? pct_table_find(&g->of, key(h, i)) : NULL;
        if (range)
            g->item[range->first + range->count++] = i;
    }
    return g->item;
}

struct pct_group pct_groups_find(const struct pct_groups *g, uint64_t key)
{
    const struct range *range = key ? pct_table_find(&g->of, key) : NULL;
    return range ? (struct pct_group){ g->item + range->first, range->count } : (struct pct_group){ 0 };
}

void pct_groups_free(struct pct_groups *g)
{
    pct_table_free(&g->of);
    free(g->item);
}

struct pct_group pct_history_on(const struct pct_history *h, unsigned class_, uint32_t object)
{
    return pct_groups_find(&h->index.steps, key_of(class_, object));
}

struct pct_group pct_history_sections(const struct pct_history *h, unsigned class_, uint32_t object)
{
    return pct_groups_find(&h->index.holds, key_of(class_, object));
}

uint32_t pct_group_behind(const struct pct_group *g, uint32_t step)
{
    return (uint32_t)PCT_BISECT(at, 0, g->count, g->item[at] <= step);
}

uint32_t pct_sections_behind(const struct pct_history *h, const struct pct_group *g, uint32_t step)
{
    return (uint32_t)PCT_BISECT(at, 0, g->count, h->holds[g->item[at]].taken <= step);
}

uint32_t pct_history_next(const struct pct_history *h, uint32_t thread, uint32_t step)
{
    const struct pct_group own = pct_groups_find(&h->index.own, thread + UINT64_C(1));
    const uint32_t at = pct_group_behind(&own, step);
    return at < own.count ? own.item[at] : PCT_NO_STEP;
}

uint32_t pct_history_own_steps(const struct pct_history *h, uint32_t thread, uint32_t first, uint32_t last)
{
    const struct pct_group own = pct_groups_find(&h->index.own, thread + UINT64_C(1));
    const uint32_t from = pct_group_behind(&own, first), to = pct_group_behind(&own, last);
    return to > from ? to - from : 0;
}

const struct pct_hold *pct_history_holder(const struct pct_history *h, uint32_t step, unsigned class_, uint32_t object,
                                          uint32_t but, bool shared)
{
    const struct pct_group all = pct_history_sections(h, class_, object);
    const uint32_t *outer = all.count ? h->index.outer + (all.item - h->index.holds.item) : NULL;
    /* The latest come last. From one that was over by then, all that were over before it are passed by: so no more are
     * looked at than threads have it at a time. */
    uint32_t next = step ? pct_sections_behind(h, &all, step - 1) : 0;
    while (next) {
        const struct pct_hold *hold = &h->holds[all.item[next - 1]];
        if (hold->released > step && hold->thread != but && (shared || !hold->shared))
            return hold;
        next = hold->released > step ? next - 1 : outer[next - 1];
    }
    return NULL;
}

/* --- Threads ------------------------------------------------------------------------------------------------------ */

bool pct_moment_tells(const struct pct_moment *m)
{
    return (m->op == PCT_OP_COND_SIGNAL || m->op == PCT_OP_COND_BROADCAST || m->op == PCT_OP_BARRIER_ARRIVE) &&
           !m->pending;
}

/* The key of this thread, which notifies those who wait for this object. */
static uint64_t key_of_teller(uint32_t thread, unsigned class_, uint32_t object)
{
    return (uint64_t)class_ << 56 | (uint64_t)object << 16 | thread;
}

bool pct_history_tells(const struct pct_history *h, uint32_t thread, const struct pct_moment *awaited)
{
    return awaited->object && pct_table_find(&h->index.tells, key_of_teller(thread, awaited->class_, awaited->object));
}

uint64_t pct_history_role(const struct pct_history *h, uint32_t thread)
{
    return h->index.role[thread];
}

/* Who makes a thread, and where that begins; not who makes another one of the same number behind that. */
static void find_role(struct pct_history *h, const struct pct_moment *m, bool *begun)
{
    uint64_t *role = h->index.role;
    if (m->op == PCT_OP_THREAD_CREATE && m->object < h->threads && !pct_moment_failed(m) && !begun[m->object])
        role[m->object] ^= m->way;
    if (m->op == PCT_OP_THREAD_START && !begun[m->thread])
        role[m->thread] ^= m->code * UINT64_C(0x9e3779b97f4a7c15);
    begun[m->thread] = true;
}

/* What threads do to the mutexes and condition variables of which bits are kept. */
static bool find_threads(struct pct_history *h)
{
    struct pct_index *index = &h->index;
    bool *begun = calloc(h->threads + (size_t)1, sizeof *begun), fine = begun;
    for (uint32_t i = 0; fine && i < h->count; i++) {
        const struct pct_moment *m = &h->steps[i];
        find_role(h, m, begun);
        if (!pct_moment_tells(m) || !m->object)
            continue;
        fine = pct_table_add(&index->tells, key_of_teller(m->thread, m->class_, m->object));
        if (m->class_ == PCT_CLASS_COND && m->object < 64)
            index->told[m->thread] |= UINT64_C(1) << m->object;
    }
    for (uint32_t i = 0; i < h->hold_count; i++)
        if (h->holds[i].class_ == PCT_CLASS_MUTEX && h->holds[i].object < 64)
            index->took[h->holds[i].thread] |= UINT64_C(1) << h->holds[i].object;
    free(begun);
    return fine;
}

/* --- Steps -------------------------------------------------------------------------------------------------------- */

/* What a thread has of a semaphore: what it has taken and not given back, and whether it ever took from it. */
struct share {
    uint32_t has;
    bool took;
};

static bool follow_semaphore(struct pct_moment *m, struct pct_table *shares, struct pct_table *handed)
{
    const bool takes = m->op == PCT_OP_SEM_WAIT || m->op == PCT_OP_SEM_TRYWAIT;
    m->hands_over = m->op == PCT_OP_SEM_POST;
    if ((!takes && m->op != PCT_OP_SEM_POST) || !m->object || (takes && pct_moment_failed(m)))
        return true;
    struct share *share = pct_table_add(shares, (uint64_t)m->thread << 32 | m->object);
    if (!share)
        return false;
    m->hands_over = !takes && !share->has;
    m->had_taken = share->took;
    share->has += takes ? 1 : share->has ? UINT32_MAX : 0;
    share->took = share->took || takes;
    return !m->hands_over || pct_table_add(handed, m->object);
}

/* Where the section of this step was begun, if it goes on behind a wait on a condition variable. */
static uint32_t begin_of(const struct pct_history *h, uint32_t i)
{
    const struct pct_moment *m = &h->steps[i];
    const struct pct_moment *wait =
        m->op == PCT_OP_COND_WAKE && m->mutex && m->previous != PCT_NO_STEP ? &h->steps[m->previous] : NULL;
    const struct pct_hold *hold = wait && wait->op == PCT_OP_COND_WAIT && wait->previous != PCT_NO_STEP
                                      ? pct_history_holds(h, wait->previous, PCT_CLASS_MUTEX, m->mutex)
                                      : NULL;
    return hold ? h->steps[hold->taken].begin : i;
}

static bool fill_steps(struct pct_history *h)
{
    struct pct_table shares = PCT_TABLE(struct share);
    bool fine = true;
    for (uint32_t i = 0; fine && i < h->all; i++) {
        struct pct_moment *m = &h->steps[i];
        const struct pct_moment *before = m->previous == PCT_NO_STEP ? NULL : &h->steps[m->previous];
        m->section = !before ? PCT_NO_STEP : before->hold == PCT_NO_HOLD ? before->section : m->previous;
        m->begin = begin_of(h, i);
        fine = m->pending || follow_semaphore(m, &shares, &h->index.handed);
    }
    pct_table_free(&shares);
    return fine;
}

/* Of the holds of one object. */
static void find_outer(const struct pct_history *h, const uint32_t *hold, uint32_t *outer, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t before = i;
        while (before && h->holds[hold[before - 1]].released <= h->holds[hold[i]].released)
            before = outer[before - 1];
        outer[i] = before;
    }
}

int pct_index_make(struct pct_history *h)
{
    struct pct_index *index = &h->index;
    const size_t threads = h->threads + (size_t)1;
    *index = (struct pct_index){ .tells = PCT_TABLE_OF_KEYS,
                                 .handed = PCT_TABLE_OF_KEYS,
                                 .role = calloc(threads, sizeof *index->role),
                                 .took = calloc(threads, sizeof *index->took),
                                 .told = calloc(threads, sizeof *index->told),
                                 .outer = malloc((h->hold_count + (size_t)1) * sizeof *index->outer) };
    if (!index->role || !index->took || !index->told || !index->outer ||
        !pct_groups_make(&index->steps, h, h->count, object_at) ||
        !pct_groups_make(&index->own, h, h->all, thread_at) ||
        !pct_groups_make(&index->holds, h, h->hold_count, section_at))
        return -ENOMEM;
    const struct range *range;
    for (size_t at = 0; (range = pct_table_next(&index->holds.of, &at, NULL));)
        find_outer(h, index->holds.item + range->first, index->outer + range->first, range->count);
    return find_threads(h) && fill_steps(h) ? 0 : -ENOMEM;
}

void pct_index_free(struct pct_index *index)
{
    pct_groups_free(&index->steps);
    pct_groups_free(&index->own);
    pct_groups_free(&index->holds);
    pct_table_free(&index->tells);
    pct_table_free(&index->handed);
    free(index->outer);
    free(index->role);
    free(index->took);
    free(index->told);
}
