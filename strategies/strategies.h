/* The built-in strategies: one file each, listed here once. */
#ifndef PCT_STRATEGIES_H
#define PCT_STRATEGIES_H

#include <pct/strategy.h>

/* X(identifier): the strategy pct_strategy_<identifier>, in <identifier>.c (surw_one: in surw.c) */
#define PCT_STRATEGIES(X)                                                                                              \
    X(pct)                                                                                                             \
    X(tapct)                                                                                                           \
    X(pctcp)                                                                                                           \
    X(pct_large)                                                                                                       \
    X(pos)                                                                                                             \
    X(urw)                                                                                                             \
    X(surw)                                                                                                            \
    X(surw_one)                                                                                                        \
    X(hold)                                                                                                            \
    X(maple)                                                                                                           \
    X(delay_bound)                                                                                                     \
    X(preemption_bound)                                                                                                \
    X(portfolio)                                                                                                       \
    X(mixture)                                                                                                         \
    X(random_walk)                                                                                                     \
    X(random_delay)                                                                                                    \
    X(schedule)                                                                                                        \
    X(order)                                                                                                           \
    X(round_robin)                                                                                                     \
    X(none)

#define PCT_STRATEGY_DECLARE(id) extern const struct pct_strategy pct_strategy_##id;
PCT_STRATEGIES(PCT_STRATEGY_DECLARE)
#undef PCT_STRATEGY_DECLARE

/* What `pct explore` makes its runs with. Not in the list: without a plan it is one fixed run, which nobody would
 * choose. */
extern const struct pct_strategy pct_strategy_explore;

/* What `pct script` makes its runs with. Not in the list either: without a script it is one fixed run. */
extern const struct pct_strategy pct_strategy_script;

/* What a script of several processes did. Not in the list either: its list is for `pct script` to make. */
extern const struct pct_strategy pct_strategy_processes;

/* What follows a recorded trace. Not in the list either: it needs one. */
extern const struct pct_strategy pct_strategy_replay;

/* All of them, ended by NULL. */
extern const struct pct_strategy *const pct_strategies[];

/* Which strategy makes the run of this seed: it is that strategy's own run of the seed (portfolio.c, mixture.c). */
const struct pct_strategy *pct_portfolio_member(uint64_t seed);
const struct pct_strategy *pct_mixture_member(uint64_t seed);

/* The same for any strategy: one that is the same in each run is its own member. */
const struct pct_strategy *pct_strategy_member(const struct pct_strategy *strategy, uint64_t seed);

/* The built-in strategy of this name, also `explore`, `script` and `processes`; or NULL. */
const struct pct_strategy *pct_strategy_find(const char *name);

#endif
