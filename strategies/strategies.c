/* The list of the built-in strategies. Read by the shim when it starts and by the `pct` command. */
#include "strategies.h"
#include <stddef.h>

/* clang-format off */
#define LIST(id) &pct_strategy_##id,
const struct pct_strategy *const pct_strategies[] = { PCT_STRATEGIES(LIST) NULL };
#undef LIST
/* clang-format on */

static int same(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

/* Cold: the shim calls it at every start, and then it stands where the other code of a start does. */
__attribute__((cold)) const struct pct_strategy *pct_strategy_find(const char *name)
{
    for (const struct pct_strategy *const *strategy = pct_strategies; *strategy; strategy++)
        if (same(name, (*strategy)->name))
            return *strategy;
    if (same(name, pct_strategy_script.name))
        return &pct_strategy_script;
    if (same(name, pct_strategy_processes.name))
        return &pct_strategy_processes;
    return same(name, pct_strategy_explore.name) ? &pct_strategy_explore : NULL;
}

const struct pct_strategy *pct_strategy_member(const struct pct_strategy *strategy, uint64_t seed)
{
    if (strategy == &pct_strategy_portfolio)
        return pct_portfolio_member(seed);
    return strategy == &pct_strategy_mixture ? pct_mixture_member(seed) : strategy;
}
