/* Loops that wait by calls: see polling.h. */
#include "polling.h"

bool pct_polling_tries(const struct pct_event *event)
{
    switch ((enum pct_op)event->op) {
    case PCT_OP_MUTEX_TRYLOCK:
    case PCT_OP_SPIN_TRYLOCK:
    case PCT_OP_RWLOCK_TRYRDLOCK:
    case PCT_OP_RWLOCK_TRYWRLOCK:
    case PCT_OP_SEM_TRYWAIT:
        return true;
    default:
        return false;
    }
}

bool pct_polling_pauses(const struct pct_event *event)
{
    switch ((enum pct_op)event->op) {
    case PCT_OP_YIELD:
    case PCT_OP_SLEEP:
    case PCT_OP_AWAKE:
    case PCT_OP_DEADLINE:
        return true;
    default:
        return false;
    }
}

bool pct_polling_is_round(const struct pct_event *event, const struct pct_event *tries)
{
    return event->op == tries->op && event->place == tries->place && event->own && tries->own &&
           event->touch[0].key == tries->touch[0].key &&
           (event->touch[0].use == PCT_USE_BUSY || event->touch[0].use == PCT_USE_EMPTY);
}
