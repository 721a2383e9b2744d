/* The strategy `none`: the operating system decides who runs.
 *
 * The shim knows it by name and lets all threads run in parallel, so the functions here are not called in a run; the
 * trace is recorded as far as that can be done without ordering the threads, so that plain runs and stress tests can be
 * compared with the others. Should they be called all the same (by a scheduler without an operating system beneath it),
 * the running thread keeps on running until it blocks, and then the lowest enabled id runs. */
#include "base.h"

struct state {
    struct pct_rank_set enabled; /* thread ids */
};

PCT_STATE

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)state;
    (void)run;
    (void)why;
    return 0;
}

PCT_ENABLED(enabled, pct_rank_set)

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    const struct state *s = state;
    uint32_t thread = point->current;
    if (thread == PCT_NO_THREAD || !pct_rank_set_has(&s->enabled, thread))
        thread = pct_rank_set_lowest(&s->enabled);
    return (struct pct_choice){ .thread = thread, .budget = PCT_UNLIMITED };
}

const struct pct_strategy pct_strategy_none = {
    .name = "none",
    .summary = "the operating system decides; for comparison",
    PCT_BASE,
};
