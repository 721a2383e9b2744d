/* The list of steps for the next run: see next_plan.h. */
#include "next_plan.h"
#include <stdlib.h>

bool pct_next_plan_add_step(struct pct_next_plan *plan, uint32_t step)
{
    if (plan->count == plan->room) {
        uint32_t room = 2 * plan->room + 256;
        uint32_t *more = realloc(plan->step, room * sizeof *more);
        if (!more)
            return false;
        plan->step = more;
        plan->room = room;
    }
    plan->step[plan->count++] = step;
    return true;
}

bool pct_next_plan_add(struct pct_next_plan *plan, const struct pct_event *event)
{
    return pct_next_plan_add_step(plan, PCT_PLAN(event->thread, event->chosen + 1u));
}
