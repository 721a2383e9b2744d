/* The strategy `pctcp`: B. K. Ozkan, R. Majumdar, F. Niksic, M. Tabaei Befrouei, G. Weissenbacher, "Randomized Testing
 * of Distributed Systems with Probabilistic Guarantees", OOPSLA 2018: PCT with chain partitioning.
 *
 * PCT pays for every thread with the factor n of its bound. Where threads are many and short, and one begins only after
 * another has ended, fewer priorities do: the paper partitions the events of a run into chains, each ordered by
 * causality, and gives the chains priorities instead of the threads. n becomes the number of chains.
 *
 * Called by the scheduler through <pct/strategy.h>; otherwise as pct.c without its refinements of steps.
 *
 * Here a chain is made of whole threads, for the order within a thread is given: when a thread creates another, and
 * knows of one that has ended, because it has joined it or joined one that knew, the new thread continues the chain of
 * that one, with its priority. All events of the first come before the creation, and so before those of the second. The
 * paper partitions messages, one by one and greedily, by vector clocks; causality through locks, semaphores and queues
 * (a pool of threads that serves tasks) is not looked at here. */
#include "base.h"
#include "change_points.h"
#include "priorities.h"
#include <pct/trace.h>

enum { PARAM_DEPTH, PARAM_K, PARAM_SHIFT };

static const struct pct_param params[] = { PCT_DEPTH_PARAM(PARAM_DEPTH),
                                           PCT_K_PARAM(PARAM_K, 1000,
                                                       "the steps over which change points are spread: those of a run"),
                                           PCT_SHIFT_PARAMS(PARAM_SHIFT),
                                           { 0 } };

struct life {
    bool made; /* there was a thread of this id */
    bool finished;
    /* Threads, plus 1. */
    uint16_t joining;                 /* whom it joins, or has joined without a look at it yet */
    uint16_t first_known, last_known; /* list: ended before this one's next step */
    uint16_t next_known;
};

struct state {
    uint64_t seed;
    uint32_t depth;
    uint32_t chains;   /* begun so far */
    bool forgets;      /* ids are used again: no chain goes on beyond its thread */
    uint32_t previous; /* the thread that the last pick chose, plus 1 */
    struct pct_changes changes;
    struct pct_priorities priorities;
    struct life *life; /* by thread */
};

static void lay_out(struct state *s, struct pct_layout *layout, const struct pct_run *run)
{
    uint32_t threads = pct_layout_threads(run);
    pct_priorities_lay_out(&s->priorities, layout, threads);
    s->life = pct_layout_take(layout, threads, sizeof *s->life);
}

PCT_STATE_OF_TABLES

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)why;
    struct state *s = begin(state, run);
    s->depth = pct_depth_of_run(run->param[PARAM_DEPTH], run->seed);
    pct_changes_shift(&s->changes, &run->param[PARAM_SHIFT]);
    pct_changes_draw(&s->changes, s->seed, 0, s->depth - 1, run->param[PARAM_K]);
    return 0;
}

/* Put the list of threads from `first` to `last` before those that `thread` knows. */
static void learn(struct state *s, uint32_t thread, uint16_t first, uint16_t last)
{
    s->life[last - 1].next_known = s->life[thread].first_known;
    if (!s->life[thread].first_known)
        s->life[thread].last_known = last;
    s->life[thread].first_known = first;
}

/* This thread goes on: if it was about to join another one, it has. */
static void has_joined(struct state *s, uint32_t thread)
{
    uint16_t other = s->life[thread].joining;
    s->life[thread].joining = 0;
    if (!other || !s->life[other - 1].finished)
        return;                          /* the join has failed, or its time was over */
    s->life[other - 1].finished = false; /* is known now; nobody else can join it */
    if (s->life[other - 1].first_known)
        learn(s, thread, s->life[other - 1].first_known, s->life[other - 1].last_known);
    learn(s, thread, other, other);
}

static void created(void *state, uint32_t thread)
{
    struct state *s = state;
    uint32_t creator = s->previous - 1;
    s->forgets |= s->life[thread].made;
    s->life[thread].made = true;
    if (s->previous && !s->forgets)
        has_joined(s, creator);
    uint16_t ended = s->previous && !s->forgets ? s->life[creator].first_known : 0;
    if (ended) {
        s->life[creator].first_known = s->life[ended - 1].next_known;
        pct_priorities_set(&s->priorities, thread, pct_priorities_rank(&s->priorities, ended - 1u));
    } else {
        uint32_t rank;
        do
            rank = PCT_RANK_INITIAL + pct_priorities_permute(s->seed, 0, s->chains++ % PCT_INITIAL_RANKS);
        while (s->forgets && pct_priorities_holder(&s->priorities, rank) != PCT_NO_THREAD);
        pct_priorities_set(&s->priorities, thread, rank);
    }
}

static void announce(void *state, uint32_t thread, const struct pct_operation *next)
{
    struct state *s = state;
    has_joined(s, thread);
    if (next->op == PCT_OP_THREAD_JOIN && next->object >= PCT_THREAD_OBJECT)
        s->life[thread].joining = (uint16_t)(next->object - PCT_THREAD_OBJECT + 1);
}

PCT_ENABLED_PRIORITIES

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    uint32_t ran = point->current != PCT_NO_THREAD ? point->current : s->previous - 1;
    while (pct_changes_next(&s->changes) <= point->step) {
        uint32_t i = pct_changes_take(&s->changes);
        if (ran < PCT_MAX_THREADS)
            pct_priorities_set(&s->priorities, ran, PCT_RANK_CHANGE + s->depth - i);
    }
    if (point->why == PCT_WHY_FINISHED)
        s->life[ran].finished = true;
    pct_priorities_settle(&s->priorities);
    uint32_t thread = pct_priorities_highest(&s->priorities);
    s->previous = thread + 1;
    return (struct pct_choice){ .thread = thread, .budget = pct_changes_budget(&s->changes, point->step) };
}

PCT_CHOOSE

PCT_LAST_PRIORITIES

const struct pct_strategy pct_strategy_pctcp = {
    .name = "pctcp",
    .summary = "pct with priorities for chains of threads that follow each other: for programs with many short threads",
    .source = "Ozkan et al., Randomized Testing of Distributed Systems with Probabilistic Guarantees, OOPSLA 2018",
    .params = params,
    PCT_BASE,
    .created = created,
    .announce = announce,
    .choose = choose,
    .spinning = spinning,
    .final_wait = final_wait,
};
