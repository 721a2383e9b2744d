/* The strategy `mixture`: what is best when nothing is known of the program. In each run another strategy, drawn from
 * the seed.
 *
 * Where portfolio.c gives six strategies the same share, the shares here are those that took the fewest runs to the
 * first failure over all programs with known bugs, with no program for which they are far from the best strategy:
 * docs/experiments/FINDINGS.md.
 *
 * Called by the scheduler through <pct/strategy.h>. But pct and libpct.so draw the member before the run begins, and
 * its token names that: so tokens do not depend on the shares. */
#include "base.h"
#include "depth_param.h"
#include "members.h"
#include "strategies.h"
#include "weights.h"

/* A run in this many each. Of as many consecutive seeds as there are entries, each has its share. Of four in a row one
 * is of pct-large: what it finds at once, and others do not, then comes soon, whichever seed is the first. Those of pct
 * stay where they are: files of earlier campaigns count them. */
/* clang-format off */
static const struct pct_strategy *const shares[] = {
    &pct_strategy_pct_large, &pct_strategy_pct, &pct_strategy_surw_one, &pct_strategy_pct_large, &pct_strategy_surw_one,
    &pct_strategy_surw, &pct_strategy_pct_large, &pct_strategy_pct, &pct_strategy_surw_one, &pct_strategy_surw_one,
    &pct_strategy_pct_large, &pct_strategy_surw, &pct_strategy_pct, &pct_strategy_pct_large, &pct_strategy_surw_one,
    &pct_strategy_surw_one, &pct_strategy_pct_large, &pct_strategy_pct, &pct_strategy_surw_one, &pct_strategy_surw,
};
/* clang-format on */
enum { SHARES = sizeof shares / sizeof *shares };

enum { PARAM_DEPTH, PARAM_K, PARAM_N };

static const struct pct_param params[] = { [PARAM_DEPTH] = { .name = "depth",
                                                             .max = PCT_MAX_DEPTH,
                                                             .zero = "auto",
                                                             .help = "of pct and pct-large; auto: drawn for each run" },
                                           PCT_K_PARAM(PARAM_K, 1000, "of pct and pct-large: the steps of a run"),
                                           PCT_COUNT_PARAMS(PARAM_N, "of surw and surw-one: events of a thread"),
                                           { 0 } };

const struct pct_strategy *pct_mixture_member(uint64_t seed)
{
    uint64_t from = pct_random_below(seed / SHARES, PCT_STREAM_MEMBER, 0, SHARES);
    return shares[(seed % SHARES + from) % SHARES];
}

static uint32_t state_size(const struct pct_run *run)
{
    return pct_members_size(pct_mixture_member(run->seed), params, run);
}

static int start(void *state, const struct pct_run *run, const char **why)
{
    return pct_members_start(pct_mixture_member(run->seed), params, state, run, why);
}

const struct pct_strategy pct_strategy_mixture = {
    .abi = PCT_STRATEGY_ABI,
    .name = "mixture",
    .summary = "for each seed another strategy, by the shares that did best: surw-one, pct-large, pct, surw",
    .params = params,
    .state_size = state_size,
    .start = start,
    PCT_MEMBERS_FUNCTIONS,
};
