/* A thread that is pinned keeps the baton, whatever the strategy wants: what it would lose by that is counted. So it
 * passes each point by the slow way (pct_sched_set_stop()). Called with the baton. */
#include "internal.h"

struct pct_thread *pct_sched_pin(struct pct_sched *s, struct pct_thread *self)
{
    struct pct_thread *before = s->pinned;
    s->pinned = self;
    pct_sched_set_stop(s);
    return before;
}

bool pct_pinned_passes(struct pct_sched *s, const struct pct_thread *self)
{
    if (PCT_LIKELY(s->pinned != self))
        return false;
    s->passed_over += pct_readiness_now(s) > 1;
    return true;
}
