/* The strategy `pos`: X. Yuan, J. Yang, R. Gu, "Partial Order Aware Concurrency Sampling", CAV 2018.
 *
 * Every pending operation has a random priority of its own, and the enabled one of the highest runs. When it has run,
 * the priorities of the pending operations that race with it (of other threads, on the same object, at least one of the
 * two changing it) are drawn anew, and its thread's next operation gets one of its own. So the order of two operations
 * that commute does not weigh on the order of those that do not, and schedules that differ only by such swaps share
 * their probability.
 *
 * Called by the scheduler through <pct/strategy.h>. Needs to see every operation: each budget is 1. A pick costs O(1)
 * and the number of pending operations on the object that was used.
 *
 * What deviates from the paper: its priorities are real numbers; here they are drawn among 65,536 ranks of which no two
 * operations have the same, so their order is uniform all the same, and of one that is drawn anew nearly so (an error
 * of the order of the number of threads / 65,536). The paper knows no loops that wait: a thread that spins, and one
 * that ends the process, is put below all others as in pct.c. */
#include "base.h"
#include "priorities.h"

enum { LISTS = 1 << 13 };

struct pending {
    uint64_t draws;
    struct pct_operation next;
    uint16_t below, above; /* threads, plus 1: the list of pending operations that this one stands in */
    bool rests;            /* is below all others until it has run */
};

struct state {
    uint64_t seed;
    uint32_t previous;         /* the thread that the last pick chose, plus 1 */
    uint64_t step;             /* of the last pick */
    struct pct_operation last; /* what it was about to do */
    struct pct_priorities priorities;
    struct pending *pending; /* by thread */
    uint16_t list[LISTS];    /* by object: its pending operations, and those of others that share its place */
};

static void lay_out(struct state *s, struct pct_layout *layout, const struct pct_run *run)
{
    uint32_t threads = pct_layout_threads(run);
    pct_priorities_lay_out(&s->priorities, layout, threads);
    s->pending = pct_layout_take(layout, threads, sizeof *s->pending);
}

PCT_STATE_OF_TABLES

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)why;
    begin(state, run);
    return 0;
}

static void draw(struct state *s, uint32_t thread)
{
    uint32_t rank;
    do {
        uint64_t place = (uint64_t)thread << 48 | s->pending[thread].draws++;
        rank = PCT_RANK_INITIAL + (uint32_t)pct_random_below(s->seed, PCT_STREAM_EVENT, place, PCT_INITIAL_RANKS);
    } while (pct_priorities_holder(&s->priorities, rank) != PCT_NO_THREAD);
    pct_priorities_set(&s->priorities, thread, rank);
}

static void created(void *state, uint32_t thread)
{
    draw(state, thread);
}

static uint16_t *list_of(struct state *s, uint32_t object)
{
    return &s->list[object % LISTS];
}

static void announce(void *state, uint32_t thread, const struct pct_operation *next)
{
    struct state *s = state;
    uint32_t old = s->pending[thread].next.object;
    if (old) {
        uint16_t below = s->pending[thread].below, above = s->pending[thread].above;
        *(above ? &s->pending[above - 1].below : list_of(s, old)) = below;
        if (below)
            s->pending[below - 1].above = above;
    }
    s->pending[thread].next = *next;
    if (next->object) {
        uint16_t *list = list_of(s, next->object);
        s->pending[thread].below = *list;
        s->pending[thread].above = 0;
        if (*list)
            s->pending[*list - 1].above = (uint16_t)(thread + 1);
        *list = (uint16_t)(thread + 1);
    }
}

PCT_ENABLED_PRIORITIES

/* This thread has made its operation `last`. */
static void redraw(struct state *s, uint32_t thread)
{
    const struct pct_operation *last = &s->last;
    s->pending[thread].rests = false;
    draw(s, thread);
    if (!last->object)
        return;
    for (uint32_t at = *list_of(s, last->object); at; at = s->pending[at - 1].below) {
        const struct pct_operation *next = &s->pending[at - 1].next;
        if (at - 1 != thread && next->object == last->object && !(next->reads && last->reads) &&
            !s->pending[at - 1].rests)
            draw(s, at - 1);
    }
}

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    if (s->previous && point->step > s->step)
        redraw(s, s->previous - 1);
    if (s->priorities.put_last)
        s->pending[s->priorities.put_last - 1].rests = true;
    pct_priorities_settle(&s->priorities);
    uint32_t thread = pct_priorities_highest(&s->priorities);
    s->previous = thread + 1;
    s->step = point->step;
    s->last = s->pending[thread].next;
    return (struct pct_choice){ .thread = thread, .budget = 1 };
}

PCT_CHOOSE

PCT_LAST_PRIORITIES

const struct pct_strategy pct_strategy_pos = {
    .name = "pos",
    .summary = "a random priority for each operation, drawn anew when one that it races with was made",
    .source = "Yuan, Yang, Gu, Partial Order Aware Concurrency Sampling, CAV 2018",
    PCT_BASE,
    .created = created,
    .announce = announce,
    .choose = choose,
    .spinning = spinning,
    .final_wait = final_wait,
};
