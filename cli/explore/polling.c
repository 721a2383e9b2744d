/* Loops with any number of rounds: see polling.h. */
#include "polling.h"

/* Whether it may stand between two tries of a loop that waits: a yield, or a sleep. */
static bool pauses(const struct pct_event *event)
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

static bool is_round(const struct pct_event *event, const struct pct_event *tries)
{
    return event->op == tries->op && event->place == tries->place && event->own && tries->own &&
           event->touch[0].key == tries->touch[0].key &&
           (event->touch[0].use == PCT_USE_BUSY || event->touch[0].use == PCT_USE_EMPTY);
}

bool pct_polling_back(const struct pct_event *before, const struct pct_event *tries, uint32_t *rounds)
{
    if (before->thread != tries->thread || pauses(before))
        return true;
    if (!is_round(before, tries))
        return false;
    return ++*rounds < PCT_POLLING_FOLLOWED;
}

static void note(struct pct_endless *endless, const struct pct_event *event)
{
    uint32_t i = 0;
    if (event->again != PCT_AGAIN_ENDLESS)
        return;
    while (i < endless->count && endless->place[i] != event->place)
        i++;
    if (i == endless->count && i < PCT_ENDLESS_MOST)
        endless->place[endless->count++] = event->place;
}

void pct_endless_note(struct pct_endless *endless, const struct pct_execution *x)
{
    if (!x->again)
        return;
    for (uint32_t i = 0; i < x->count; i++)
        note(endless, &x->event[i]);
    for (uint32_t id = 0; id < x->threads; id++)
        note(endless, &x->pending[id].event);
}

bool pct_endless_has(const struct pct_endless *endless, const struct pct_event *event)
{
    bool known = event->again == PCT_AGAIN_ENDLESS || endless->count == PCT_ENDLESS_MOST;
    for (uint32_t i = 0; i < endless->count && !known; i++)
        known = endless->place[i] == event->place;
    return known && event->again;
}
