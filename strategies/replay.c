/* The strategy `replay`: the thread of the next recorded step makes the next step, and a wake wakes whom it woke then.
 *
 * What it cannot do, the scheduler does (sched/replay.c): wait for what came from outside then, let as much time pass,
 * take the baton from a thread that lost it, compare what is done with what was recorded. So it is asked only where the
 * recorded thread can run. Behind the end of the recording whoever made the last step goes on, as it may be the one
 * that ended the process then, without a further step; or else anybody: the next step is reported as one too many.
 *
 * Called by the scheduler through <pct/strategy.h>. */
#include "base.h"
#include <pct/trace.h>

struct state {
    const uint64_t *records;
    uint64_t count;
    struct pct_rank_set enabled; /* thread ids */
};

PCT_STATE

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)why;
    struct state *s = state;
    s->records = run->records;
    s->count = run->records_count;
    return 0;
}

PCT_ENABLED(enabled, pct_rank_set)

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    const struct state *s = state;
    uint32_t thread = s->count ? PCT_RECORD_THREAD(s->records[point->step < s->count ? point->step : s->count - 1]) : 0;
    if (point->step >= s->count && !pct_rank_set_has(&s->enabled, thread))
        thread = pct_rank_set_lowest(&s->enabled);
    return (struct pct_choice){ .thread = thread, .budget = 1 };
}

/* Which waiter was woken is the argument of the step that woke it. */
static uint32_t choose(void *state, uint32_t waiters, uint64_t step)
{
    const struct state *s = state;
    uint32_t chosen = step < s->count ? PCT_RECORD_ARG(s->records[step]) : 0;
    return chosen < waiters ? chosen : 0;
}

const struct pct_strategy pct_strategy_replay = {
    .name = "replay",
    .summary = "the schedule of a trace",
    PCT_BASE,
    .choose = choose,
};
