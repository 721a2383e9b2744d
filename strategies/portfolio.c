/* The strategy `portfolio`: another strategy for each seed, in turn.
 *
 * No strategy is the best for every bug: one that needs few changes at the right places is found soonest by pct, one
 * that any of many interleavings shows by a random walk. In a campaign over consecutive seeds each member has its
 * share of the runs, and none costs more than the number of members times its own runs to the first failure.
 *
 * Called by the scheduler through <pct/strategy.h>. */
#include "base.h"
#include "change_points.h"
#include "depth_param.h"
#include "members.h"
#include "strategies.h"
#include "weights.h"

/* clang-format off */
static const struct pct_strategy *const members[] = {
    &pct_strategy_pct, &pct_strategy_pos, &pct_strategy_surw, &pct_strategy_tapct, &pct_strategy_urw,
    &pct_strategy_preemption_bound,
};
/* clang-format on */
enum { MEMBERS = sizeof members / sizeof *members };

enum { PARAM_DEPTH, PARAM_K, PARAM_BOUND, PARAM_N, PARAM_SHIFT = PARAM_N + 1 + PCT_NAMED_COUNTS };

static const struct pct_param params[] = {
    [PARAM_DEPTH] = { .name = "depth",
                      .max = PCT_MAX_DEPTH,
                      .zero = "auto",
                      .help = "that of pct and tapct; auto: drawn for each run" },
    PCT_K_PARAM(PARAM_K, 1000, "that of pct, tapct and preemption-bound: the steps of a run"),
    [PARAM_BOUND] = { .name = "bound",
                      .default_value = 2,
                      .max = 63,
                      .help = "that of preemption-bound",
                      .quiet = true },
    PCT_COUNT_PARAMS(PARAM_N, "that of urw and surw: events of a thread"),
    PCT_SHIFT_PARAMS(PARAM_SHIFT),
    { 0 }
};

const struct pct_strategy *pct_portfolio_member(uint64_t seed)
{
    return members[seed % MEMBERS];
}

static uint32_t state_size(const struct pct_run *run)
{
    return pct_members_size(pct_portfolio_member(run->seed), params, run);
}

static int start(void *state, const struct pct_run *run, const char **why)
{
    return pct_members_start(pct_portfolio_member(run->seed), params, state, run, why);
}

const struct pct_strategy pct_strategy_portfolio = {
    .abi = PCT_STRATEGY_ABI,
    .name = "portfolio",
    .summary = "for each seed another strategy, in turn: pct, pos, surw, tapct, urw, preemption-bound",
    .params = params,
    .state_size = state_size,
    .start = start,
    PCT_MEMBERS_FUNCTIONS,
};
