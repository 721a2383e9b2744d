/* The strategy `random-walk`: at every step each enabled thread is as likely to run as any other.
 *
 * The simplest randomised scheduler: the "naive randomization" of Burckhardt et al., ASPLOS 2010, section 2.4. It finds
 * short races well; the probability of a bug that needs one thread to be late by m steps falls exponentially with m, as
 * figure 5 of that paper shows.
 *
 * Called by the scheduler through <pct/strategy.h>. Fair with probability 1, so it needs to know nothing of spins. */
#include "base.h"

struct state {
    uint64_t seed;
    struct pct_draws draws;
    struct pct_dense_set enabled;
};

static void lay_out(struct state *s, struct pct_layout *layout, const struct pct_run *run)
{
    pct_dense_set_start(&s->enabled, layout, pct_layout_threads(run));
}

PCT_STATE_OF_TABLES

static int start(void *state, const struct pct_run *run, const char **why)
{
    (void)why;
    begin(state, run);
    return 0;
}

PCT_ENABLED(enabled, pct_dense_set)

static struct pct_choice pick(void *state, const struct pct_point *point)
{
    struct state *s = state;
    uint64_t place = pct_draws_next(&s->draws, point->step);
    uint64_t i = pct_random_below(s->seed, PCT_STREAM_PICK, place, pct_dense_set_size(&s->enabled));
    return (struct pct_choice){ .thread = pct_dense_set_at(&s->enabled, (uint32_t)i), .budget = 1 };
}

PCT_CHOOSE

const struct pct_strategy pct_strategy_random_walk = {
    .name = "random-walk",
    .summary = "at every step each enabled thread is equally likely to run",
    .source = "Burckhardt et al., ASPLOS 2010, section 2.4 (naive randomization)",
    PCT_BASE,
    .choose = choose,
};
