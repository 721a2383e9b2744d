/* The strategy `tapct`: B. K. Ozkan, R. Majumdar, S. Oraee, "Trace Aware Random Testing for Distributed Systems",
 * OOPSLA 2019: PCT whose change points are spread over the racy events only.
 *
 * Where an operation commutes with all that other threads do, a change of priority before it has the effect of one
 * before the next that does not. So the d-1 change points are drawn among the racy operations, k is their number, and
 * the bound becomes 1 / (n k^(d-1)) with that smaller k. As in the paper, the change comes before the operation: the
 * thread that is about to make the k_i-th racy one is put to priority d-i, and another may be chosen.
 *
 * Called by the scheduler through <pct/strategy.h>. Needs to see every operation: each budget is 1.
 *
 * What deviates from the paper: priorities belong to threads, not to chains of events (see pctcp.c); and which events
 * are racy is not known beforehand, but learned in the run. An operation counts as racy
 *  - if its object is one that another thread has used, or is about to use;
 *  - if it is among the first `trial` on its object, of which nothing is known yet.
 * What is missed: operations of a thread beyond that number on an object that others will use only afterwards.
 * Operations on threads (create, join, end) and without an object (yield, sleep) do not race. Objects are kept in a
 * table of 65,536 places, or fewer if it is known that there will not be that many objects; those that fall into one
 * place count as one, which makes more operations racy, never fewer. */
#include "base.h"
#include "change_points.h"
#include "priorities.h"

enum { PARAM_DEPTH, PARAM_K, PARAM_TRIAL, PARAM_SHIFT };

static const struct pct_param params[] = {
    PCT_DEPTH_PARAM(PARAM_DEPTH),
    PCT_K_PARAM(PARAM_K, 300, "the racy operations over which change points are spread: those of a run"),
    [PARAM_TRIAL] = { .name = "trial",
                      .default_value = 8,
                      .min = 1,
                      .max = UINT16_MAX,
                      .help = "this many operations on an object are racy although only one thread has used it" },
    PCT_SHIFT_PARAMS(PARAM_SHIFT),
    { 0 }
};

enum { MOST_PLACES = 1 << 16, USED_BY_SEVERAL = UINT16_MAX };

struct next {
    uint32_t object;
    bool on_trial; /* nothing was known of the object */
    bool met;      /* was considered as a place for a change */
};

/* What is known of the objects of one place. */
struct object {
    uint16_t user; /* the thread that has used it, plus 1; 0: none yet */
    uint16_t uses; /* up to `trial` */
};

struct state {
    uint64_t seed;
    uint32_t depth, trial;
    uint64_t racy; /* racy operations that threads were about to make, each counted once */
    struct pct_changes changes;
    struct pct_priorities priorities;
    uint32_t places;       /* a power of two */
    struct object *object; /* by place */
    struct next *next;     /* by thread */
};

/* The table is a place longer than the greatest number, so that which objects share a place does not depend on its
 * size. */
static uint32_t count_places(const struct pct_run *run)
{
    uint32_t places = 1;
    while (places < MOST_PLACES && (!run->objects || places <= run->objects))
        places *= 2;
    return places;
}

static void lay_out(struct state *s, struct pct_layout *layout, const struct pct_run *run)
{
    uint32_t threads = pct_layout_threads(run);
    pct_priorities_lay_out(&s->priorities, layout, threads);
    s->next = pct_layout_take(layout, threads, sizeof *s->next);
    s->places = count_places(run);
    s->object = pct_layout_take(layout, s->places, sizeof *s->object);
}

PCT_STATE_OF_TABLES

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)why;
    struct state *s = begin(state, run);
    s->depth = pct_depth_of_run(run->param[PARAM_DEPTH], run->seed);
    s->trial = (uint32_t)run->param[PARAM_TRIAL];
    pct_changes_shift(&s->changes, &run->param[PARAM_SHIFT]);
    pct_changes_draw(&s->changes, s->seed, 0, s->depth - 1, run->param[PARAM_K]);
    return 0;
}

static void created(void *state, uint32_t thread)
{
    struct state *s = state;
    uint32_t place = pct_priorities_permute(s->seed, 0, thread);
    pct_priorities_set(&s->priorities, thread, PCT_RANK_INITIAL + place);
}

static struct object *place_of(const struct state *s, uint32_t object)
{
    return &s->object[object & (s->places - 1)];
}

static void announce(void *state, uint32_t thread, const struct pct_operation *next)
{
    struct state *s = state;
    s->next[thread] = (struct next){ .object = next->object };
    if (!next->object || next->object >= PCT_THREAD_OBJECT)
        return;
    struct object *object = place_of(s, next->object);
    s->next[thread].on_trial = object->uses < s->trial;
    if (s->next[thread].on_trial)
        object->uses++;
    if (!object->user)
        object->user = (uint16_t)(thread + 1);
    else if (object->user != thread + 1)
        object->user = USED_BY_SEVERAL;
}

PCT_ENABLED_PRIORITIES

static bool is_racy(const struct state *s, uint32_t thread)
{
    const struct next *next = &s->next[thread];
    if (!next->object || next->object >= PCT_THREAD_OBJECT)
        return false;
    return next->on_trial || place_of(s, next->object)->user == USED_BY_SEVERAL;
}

/* The thread is about to run: whether its priority changed instead. */
static bool pass_change_points(struct state *s, uint32_t thread)
{
    if (s->next[thread].met || !is_racy(s, thread))
        return false;
    s->next[thread].met = true;
    s->racy++;
    bool changed = false;
    while (pct_changes_next(&s->changes) <= s->racy) {
        uint32_t i = pct_changes_take(&s->changes);
        pct_priorities_set(&s->priorities, thread, PCT_RANK_CHANGE + s->depth - i);
        changed = true;
    }
    return changed;
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    (void)point;
    struct state *s = state;
    pct_priorities_settle(&s->priorities);
    uint32_t thread;
    do
        thread = pct_priorities_highest(&s->priorities);
    while (pass_change_points(s, thread));
    return (struct pct_choice){ .thread = thread, .budget = 1 };
}

PCT_CHOOSE

PCT_LAST_PRIORITIES

static uint64_t points(const void *state, uint64_t ran)
{
    (void)ran;
    const struct state *s = state;
    return s->racy;
}

const struct pct_strategy pct_strategy_tapct = {
    .name = "tapct",
    .summary = "pct with change points at operations on objects that several threads use",
    .source = "Ozkan, Majumdar, Oraee, Trace Aware Random Testing for Distributed Systems, OOPSLA 2019",
    .params = params,
    PCT_BASE,
    .created = created,
    .announce = announce,
    .choose = choose,
    .spinning = spinning,
    .final_wait = final_wait,
    .points = points,
};
