/* Steps at which the strategy `script` need not be asked, though its budget is used up: struct pct_calm. What is not
 * done there is what an arrival at a point does for it (pct_sched_arrive()). On the turn of the thread that holds the
 * baton. */
#include "internal.h"

bool pct_calm_passes(const struct pct_sched *s, const struct pct_thread *self, enum pct_op op,
                     const struct pct_object *object)
{
    if (PCT_LIKELY(!s->calm))
        return false;
    bool placed = pct_calm_has(s->calm->place.operations, op);
    return pct_is_calm(s, op, object && object->class_ != PCT_CLASS_THREAD ? object->address : 0,
                       placed && s->host->site ? s->host->site(self) : 0);
}

bool pct_calm_waits(const struct pct_sched *s, struct pct_thread *self, const struct pct_wait *wait)
{
    if (wait->certain || !wait->ready || !pct_calm_passes(s, self, wait->op, wait->object))
        return false;
    pct_wait_prepare(self, wait);
    return wait->ready(self);
}
