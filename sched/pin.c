/* A thread that is pinned keeps the baton, whatever the strategy wants: what it would lose by that is counted. So it
 * passes each point by the slow way (pct_sched_set_stop()). Called with the baton. */
#include "internal.h"

struct pct_thread *pct_sched_pin(struct pct_sched *s, struct pct_thread *self)
{
    struct pct_thread *before = s->pinned;
    pct_sched_unpin(s, self);
    pct_sched_set_stop(s);
    return before;
}

void pct_sched_unpin(struct pct_sched *s, struct pct_thread *before)
{
    s->pinned = before;
    if (before)
        pct_set_due(s, PCT_DUE_PINNED);
    else
        pct_clear_due(s, PCT_DUE_PINNED);
}

bool pct_pinned_passes(struct pct_sched *s, const struct pct_thread *self)
{
    if (PCT_LIKELY(s->pinned != self))
        return false;
    s->passed_over += pct_readiness_now(s) > 1;
    return true;
}
