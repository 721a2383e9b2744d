/* The wakes of a run that could have been others: see alternative_wakes.h. */
#include "alternative_wakes.h"
#include <cli/base/grow.h>
#include "events.h"
#include <common/bisect.h>
#include <errno.h>
#include <pct/strategy.h>
#include <stdlib.h>

static bool append(struct pct_alternative_wakes *wakes, size_t *room, const struct pct_event *event)
{
    if (!PCT_GROW(wakes->item, wakes->count, *room))
        return false;
    wakes->item[wakes->count++] = (struct pct_wake){ event->index, event->woken };
    return true;
}

int pct_alternative_wakes_from_trace(struct pct_alternative_wakes *wakes, const struct pct_trace *trace)
{
    static const struct pct_snapshot no_snapshot;
    struct pct_events *events = pct_events_open(trace, &no_snapshot);
    struct pct_event event;
    size_t room = 0;
    bool fine = events != NULL;
    *wakes = (struct pct_alternative_wakes){ 0 };
    while (fine && pct_events_next(events, &event))
        if (event.woken != PCT_NO_THREAD && event.waiters > 1)
            fine = append(wakes, &room, &event);
    pct_events_close(events);
    if (!fine)
        pct_alternative_wakes_free(wakes);
    return fine ? 0 : -ENOMEM;
}

void pct_alternative_wakes_free(struct pct_alternative_wakes *wakes)
{
    free(wakes->item);
    *wakes = (struct pct_alternative_wakes){ 0 };
}

uint32_t pct_alternative_wakes_find(const struct pct_alternative_wakes *wakes, uint64_t step)
{
    const size_t found = PCT_BISECT(i, 0, wakes->count, wakes->item[i].step < step);
    return found < wakes->count && wakes->item[found].step == step ? wakes->item[found].woken : PCT_NO_THREAD;
}
