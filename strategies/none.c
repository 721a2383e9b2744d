/* The strategy `none`: the operating system decides who runs.
 *
 * The shim knows it by name and lets all threads run in parallel, so the functions here are not called in a run; the
 * trace is recorded as far as that can be done without ordering the threads, so that plain runs and stress tests can be
 * compared with the others. Should they be called all the same (by a scheduler without an operating system beneath it),
 * the running thread keeps on running until it blocks, and then the lowest enabled id runs. */
#include "all.h"
#include <pct/sets.h>
#include <pct/strategy.h>

struct state {
    struct pct_rank_set enabled; /* thread ids */
};

static uint32_t state_size(const struct pct_run *run)
{
    (void)run;
    return sizeof(struct state);
}

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)state;
    (void)run;
    (void)why;
    return 0;
}

static void enable(void *state, uint32_t thread)
{
    struct state *s = state;
    pct_rank_set_insert(&s->enabled, thread);
}

static void disable(void *state, uint32_t thread)
{
    struct state *s = state;
    pct_rank_set_remove(&s->enabled, thread);
}

PCT_DEFINE_ALL

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    const struct state *s = state;
    uint32_t thread = point->current;
    if (thread == PCT_NO_THREAD || !pct_rank_set_has(&s->enabled, thread))
        thread = pct_rank_set_lowest(&s->enabled);
    return (struct pct_choice){ .thread = thread, .budget = PCT_UNLIMITED };
}

const struct pct_strategy pct_strategy_none = {
    .abi = PCT_STRATEGY_ABI,
    .name = "none",
    .summary = "the operating system decides; for comparison",
    .state_size = state_size,
    .start = start,
    .enable = enable,
    .disable = disable,
    PCT_ENABLE_ALL,
    .pick = pick,
};
