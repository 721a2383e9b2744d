/* Arrivals at barriers in another order: see arrivals.h. */
#include "arrivals.h"
#include "dependence.h"

/* Kept ones are of event i's round: its last one depends on event i, and the next round on that. */
static uint32_t count_left(const struct pct_execution *x, const uint32_t *kept, uint32_t count, uint32_t i,
                           uint64_t key)
{
    const struct pct_touch *first = pct_event_find_touch(&x->event[i], key);
    if (!first || first->use != PCT_USE_ARRIVES || !first->counted)
        return 0;
    uint32_t left = first->before;
    for (uint32_t k = 0; k < count && left; k++) {
        const struct pct_touch *t = pct_event_find_touch(&x->event[kept[k]], key);
        if (t)
            left = t->use == PCT_USE_ARRIVES ? left - 1 : 0;
    }
    return left;
}

void pct_arrivals_place(const struct pct_execution *x, const uint32_t *kept, uint32_t count, uint32_t i, enum pct_op op,
                        struct pct_touch *touch)
{
    if (op != PCT_OP_BARRIER_ARRIVE)
        return;
    touch->before = count_left(x, kept, count, i, touch->key);
    touch->counted = touch->before;
    touch->use = touch->counted ? PCT_USE_ARRIVES : PCT_USE_ANY;
}

/* How many have arrived at the barrier, in this round, between event i and the one that is kept at this place, and are
 * not kept. */
static uint32_t count_dropped(const struct pct_execution *x, const uint32_t *kept, uint32_t place, uint32_t i,
                              uint64_t key)
{
    uint32_t dropped = 0, next = 0;
    for (uint32_t d = i; d < kept[place]; d++) {
        const bool stays = kept[next] == d;
        const struct pct_touch *t = pct_event_find_touch(&x->event[d], key);
        next += stays;
        if (t)
            dropped = t->use == PCT_USE_ARRIVES ? dropped + !stays : 0;
    }
    return dropped;
}

void pct_arrivals_reorder(const struct pct_execution *x, const uint32_t *kept, uint32_t count, uint32_t i,
                          struct pct_event *sequence)
{
    for (uint32_t k = 0; k < count; k++) {
        sequence[k] = x->event[kept[k]];
        for (unsigned n = 0; n < sequence[k].touches; n++) {
            struct pct_touch *t = &sequence[k].touch[n];
            if (t->use == PCT_USE_ARRIVES && t->counted)
                t->before += count_dropped(x, kept, k, i, t->key);
        }
    }
}
