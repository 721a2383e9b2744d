/* The strategy `random-walk`: at every step each enabled thread is as likely to run as any other.
 *
 * The simplest randomised scheduler: the "naive randomization" of Burckhardt et al., ASPLOS 2010, section 2.4. It finds
 * short races well; the probability of a bug that needs one thread to be late by m steps falls exponentially with m, as
 * figure 5 of that paper shows.
 *
 * Called by the scheduler through <pct/strategy.h>. Fair with probability 1, so it needs to know nothing of spins. */
#include "all.h"
#include <pct/random.h>
#include <pct/sets.h>
#include <pct/strategy.h>

struct state {
    uint64_t seed;
    uint64_t step;   /* of the last pick */
    uint32_t redraw; /* picks at that step before the last one */
    struct pct_dense_set enabled;
};

static void lay_out(struct state *s, struct pct_layout *layout, const struct pct_run *run)
{
    pct_dense_set_start(&s->enabled, layout, pct_layout_threads(run));
}

static uint32_t state_size(const struct pct_run *run)
{
    return PCT_LAYOUT_SIZE(struct state, lay_out, run);
}

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)why;
    struct state *s = state;
    struct pct_layout layout = { .base = state, .used = sizeof *s };
    lay_out(s, &layout, run);
    s->seed = run->seed;
    return 0;
}

static void enable(void *state, uint32_t thread)
{
    struct state *s = state;
    pct_dense_set_insert(&s->enabled, thread);
}

static void disable(void *state, uint32_t thread)
{
    struct state *s = state;
    pct_dense_set_remove(&s->enabled, thread);
}

PCT_DEFINE_ALL

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    /* A chosen thread may find its operation disabled, and the pick is made again at the same step: with a number of
     * its own, for the old one is known to have led to that thread. */
    s->redraw = point->step == s->step ? s->redraw + 1 : 0;
    s->step = point->step;
    uint64_t place = point->step << 16 | (s->redraw & 0xffff);
    uint64_t i = pct_random_below(s->seed, PCT_STREAM_PICK, place, pct_dense_set_size(&s->enabled));
    return (struct pct_choice){ .thread = pct_dense_set_at(&s->enabled, (uint32_t)i), .budget = 1 };
}

static uint32_t choose(void *state, uint32_t waiters, uint64_t step)
{
    const struct state *s = state;
    return pct_random_waiter(s->seed, waiters, step);
}

const struct pct_strategy pct_strategy_random_walk = {
    .abi = PCT_STRATEGY_ABI,
    .name = "random-walk",
    .summary = "at every step each enabled thread is equally likely to run",
    .source = "Burckhardt et al., ASPLOS 2010, section 2.4 (naive randomization)",
    .state_size = state_size,
    .start = start,
    .enable = enable,
    .disable = disable,
    PCT_ENABLE_ALL,
    .pick = pick,
    .choose = choose,
};
