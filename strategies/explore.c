/* The strategy `explore`: the threads of a plan make the first steps, one each; then a fixed order without preemptions.
 * What `pct explore` (docs/EXPLORE.md) makes its runs with; beside that command there is no plan, and the runs are all
 * the same.
 *
 * A thread that ends the process does so when no other can go on. A thread that spins is followed by the next one in a
 * ring. A place of the plan whose thread is not enabled ends the plan: the command sees that in the log. Called by
 * the scheduler through <pct/strategy.h>. */
#include "explore.h"
#include "base.h"
#include <pct/trace.h>
#include <stddef.h>

struct state {
    const uint32_t *plan;
    uint32_t count, next; /* places of the plan, and those that were followed */
    uint32_t waiter;      /* that the running step is to wake, plus 1; 0: the first */
    uint32_t running;     /* plus 1; 0: there was none */
    uint32_t order;       /* in which threads go on behind the plan, and */
    bool walks;           /* or by chance, which `order` is the seed of */
    uint32_t lowest;      /* the one that comes last in it, plus 1; 0: none */
    bool spins;           /* and it makes no progress */
    struct pct_rank_set enabled, last;
    struct pct_rank_set early; /* only their deadlines enable them */
};

PCT_STATE

/* Behind its steps, a plan may say who goes on then. */
static void take_plan(struct state *s, const uint32_t *plan, uint32_t count)
{
    s->plan = plan;
    s->count = plan ? count : 0;
    s->order = s->lowest = 0;
    s->walks = false;
    if (s->count && PCT_PLAN_IS_THEN(s->plan[s->count - 1])) {
        s->count--;
        s->order = PCT_PLAN_WAITER(s->plan[s->count]);
        s->lowest = PCT_PLAN_THREAD(s->plan[s->count]);
        s->walks = s->plan[s->count] == PCT_PLAN_WALK(s->order);
    }
}

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)why;
    take_plan(state, run->plan, run->plan_count);
    return 0;
}

void pct_explore_at(const void *state, uint32_t *followed, uint32_t *count)
{
    const struct state *s = state;
    *followed = s->next;
    *count = s->walks ? s->next : s->count; /* by chance, steps of the plan are not what they are without */
}

void pct_explore_follow(void *state, const uint32_t *plan, uint32_t count)
{
    take_plan(state, plan, count);
}

bool pct_explore_begins(const uint32_t *plan, uint32_t count, const uint32_t *places, uint32_t followed)
{
    struct state s = { .next = 0 };
    take_plan(&s, plan, count);
    if (s.walks || s.count < followed)
        return false;
    for (uint32_t i = 0; i < followed; i++)
        if (plan[i] != places[i])
            return false;
    return true;
}

static void announce(void *state, uint32_t thread, const struct pct_operation *next)
{
    struct state *s = state;
    if (next->op == PCT_OP_EXIT_NOW)
        pct_rank_set_insert(&s->last, thread);
    else
        pct_rank_set_remove(&s->last, thread);
}

PCT_ENABLED_OR_EARLY(enabled, early)

/* The first enabled thread behind this one (PCT_NO_RANK: from the lowest), in the ring of ids, that does not end the
 * process; before it ends, one whose deadline may come. */
static uint32_t behind(const struct state *s, uint32_t thread)
{
    uint32_t first = thread == PCT_NO_RANK ? pct_rank_set_lowest(&s->enabled) : pct_rank_set_after(&s->enabled, thread);
    uint32_t next = first;
    if (first == PCT_NO_RANK)
        return pct_rank_set_lowest(&s->early);
    while (next != PCT_NO_RANK && pct_rank_set_has(&s->last, next)) {
        next = pct_rank_set_after(&s->enabled, next);
        if (next == first)
            return pct_rank_set_lowest(&s->early) != PCT_NO_RANK ? pct_rank_set_lowest(&s->early) : next;
    }
    return next;
}

/* The enabled thread of the highest priority in the plan's order that does not end the process; else as behind(). */
static uint32_t by_order(const struct state *s)
{
    uint32_t best = PCT_NO_RANK, last = s->lowest - 1;
    if (!s->order && !s->lowest)
        return behind(s, PCT_NO_RANK);
    for (uint32_t t = pct_rank_set_lowest(&s->enabled); t != PCT_NO_RANK; t = pct_rank_set_above(&s->enabled, t)) {
        if (pct_rank_set_has(&s->last, t) || t == last)
            continue;
        if (best == PCT_NO_RANK || pct_plan_priority(s->order, t) > pct_plan_priority(s->order, best))
            best = t;
    }
    return best == PCT_NO_RANK ? behind(s, PCT_NO_RANK) : best;
}

/* Take one of the set instead of `chosen`, as likely as any of the *met that were met so far, and those of the set. */
static uint32_t draw(const struct state *s, const struct pct_rank_set *set, uint64_t step, uint32_t *met,
                     uint32_t chosen)
{
    for (uint32_t t = pct_rank_set_lowest(set); t != PCT_NO_RANK; t = pct_rank_set_above(set, t)) {
        if (pct_rank_set_has(&s->last, t))
            continue;
        uint64_t place = step << 16 | *met;
        if (!pct_random_below(s->order, PCT_STREAM_PICK, place, ++*met))
            chosen = t;
    }
    return chosen;
}

/* One of the threads that can go on, each as likely, but for those that end the process: a step of a random walk. */
static uint32_t by_chance(const struct state *s, uint64_t step)
{
    uint32_t met = 0, chosen = draw(s, &s->enabled, step, &met, PCT_NO_RANK);
    chosen = draw(s, &s->early, step, &met, chosen);
    return chosen == PCT_NO_RANK ? behind(s, PCT_NO_RANK) : chosen;
}

static uint32_t choose_thread(struct state *s, uint64_t step)
{
    if (s->next < s->count) {
        uint32_t place = s->plan[s->next++], thread = PCT_PLAN_THREAD(place);
        if (pct_rank_set_has(&s->enabled, thread) || pct_rank_set_has(&s->early, thread)) {
            s->waiter = PCT_PLAN_WAITER(place);
            return thread;
        }
        s->count = 0;
    }
    if (s->walks)
        return by_chance(s, step);
    if (!s->running)
        return by_order(s);
    uint32_t running = s->running - 1;
    if (!s->spins && pct_rank_set_has(&s->enabled, running) && !pct_rank_set_has(&s->last, running))
        return running;
    return s->spins ? behind(s, running) : by_order(s);
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    s->waiter = 0;
    uint32_t thread = choose_thread(s, point->step);
    s->running = thread + 1;
    s->spins = false;
    return (struct pct_choice){ .thread = thread, .budget = 1 };
}

static uint32_t choose(void *state, uint32_t waiters, uint64_t step)
{
    struct state *s = state;
    if (s->walks)
        return pct_random_waiter(s->order, waiters, step);
    return s->waiter && s->waiter <= waiters ? s->waiter - 1 : 0;
}

static void spinning(void *state, uint32_t thread, uint64_t spins)
{
    (void)spins;
    struct state *s = state;
    s->spins = s->running == thread + 1;
}

const struct pct_strategy pct_strategy_explore = {
    .name = "explore",
    .summary = "what `pct explore` makes its runs with; alone, a single run without preemptions",
    .source = "optimal DPOR: Abdulla, Aronis, Jonsson, Sagonas, JACM 2017",
    PCT_BASE,
    .announce = announce,
    .early = early,
    .choose = choose,
    .spinning = spinning,
};
