/* What the strategy `explore` tells of its plan: for runs that begin as another one did. */
#ifndef PCT_STRATEGIES_EXPLORE_H
#define PCT_STRATEGIES_EXPLORE_H

#include <stdbool.h>
#include <stdint.h>

/* Places of the plan that were followed, and how many it has; *followed == *count: it is at its end. */
void pct_explore_at(const void *state, uint32_t *followed, uint32_t *count);

/* From now on, that is the plan: it begins with the places that were followed. */
void pct_explore_follow(void *state, const uint32_t *plan, uint32_t count);

/* Whether a run with this plan makes the first steps of one that has followed these places. */
bool pct_explore_begins(const uint32_t *plan, uint32_t count, const uint32_t *places, uint32_t followed);

#endif
