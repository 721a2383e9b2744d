/* For the race detector (sched/races.h): what orders threads and is not in the trace, or not as it is in the trace.
 * With the baton. What a step orders by its kind alone stands in a table, in sched/races_order.c. */
#ifndef PCT_PRELOAD_ORDER_H
#define PCT_PRELOAD_ORDER_H

#include "shim.h"
#include <sched/races.h>

enum { PCT_ACQUIRES = PCT_RACES_ACQUIRE, PCT_RELEASES = PCT_RACES_RELEASE };

/* The thread acquires from this object, releases to it, or both. */
static inline void pct_order_object(const struct pct_shim_thread *self, const struct pct_object *object, unsigned what)
{
    if (PCT_UNLIKELY(pct_sched_races(&pct_S) != NULL))
        pct_races_object(pct_sched_races(&pct_S), self->core.id, object->number, what);
}

/* The same of a place in memory, as by an atomic access there. It need not be the target's. */
static inline void pct_order_at(const struct pct_shim_thread *self, const volatile void *place, unsigned what)
{
    if (PCT_UNLIKELY(pct_sched_races(&pct_S) != NULL))
        pct_races_atomic(pct_sched_races(&pct_S), self->core.id, (uintptr_t)place,
                         what | (what & PCT_ACQUIRES ? PCT_RACES_READ : 0) |
                             (what & PCT_RELEASES ? PCT_RACES_READ | PCT_RACES_WRITE : 0));
}

/* The same of all that is outside the schedule: the kernel, other processes, signals. */
static inline void pct_order_world(const struct pct_shim_thread *self, unsigned what)
{
    if (PCT_UNLIKELY(pct_sched_races(&pct_S) != NULL))
        pct_races_world(pct_sched_races(&pct_S), self->core.id, what);
}

/* What a step of this kind on a descriptor orders, without one. */
static inline void pct_order_as(const struct pct_shim_thread *self, enum pct_op op)
{
    if (PCT_UNLIKELY(pct_sched_races(&pct_S) != NULL))
        pct_races_as(pct_sched_races(&pct_S), self->core.id, op);
}

/* The kernel writes to this place, which the target reads as an atomic variable. */
static inline void pct_order_kernels(const volatile void *place)
{
    if (PCT_UNLIKELY(pct_sched_races(&pct_S) != NULL))
        pct_races_kernels(pct_sched_races(&pct_S), (uintptr_t)place);
}

/* The thread takes a robust mutex whose holder has ended with it. */
static inline void pct_order_owner_dead(const struct pct_shim_thread *self, const struct pct_object *mutex)
{
    if (PCT_UNLIKELY(pct_sched_races(&pct_S) != NULL) && mutex->holder != PCT_NO_THREAD)
        pct_races_succeed(pct_sched_races(&pct_S), self->core.id, mutex->holder);
}

#endif
