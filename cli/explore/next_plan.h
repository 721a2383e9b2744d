/* What the next run is to do: a list of steps as the strategy `explore` reads it, which grows. */
#ifndef PCT_CLI_NEXT_PLAN_H
#define PCT_CLI_NEXT_PLAN_H

#include "execution.h"
#include <pct/strategy.h>

struct pct_next_plan {
    uint32_t *step; /* of malloc */
    uint32_t count, room;
};

/* One more: PCT_PLAN() of <pct/strategy.h>. False: there is no memory. */
bool pct_next_plan_add_step(struct pct_next_plan *plan, uint32_t step);

/* The same: this event, with whom it chose. */
bool pct_next_plan_add(struct pct_next_plan *plan, const struct pct_event *event);

#endif
