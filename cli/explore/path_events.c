/* The events along the path of the search: see path_events.h. */
#include "path_events.h"
#include <stdlib.h>

enum { UNIT = 8 };
_Static_assert(offsetof(struct pct_event, touch) % UNIT == 0 && sizeof(struct pct_touch) % UNIT == 0,
               "the end of an event is the end of a unit");

struct pct_event *pct_path_event(const struct pct_path_events *events, uint32_t place)
{
    return (struct pct_event *)(void *)(events->bytes + (size_t)place * UNIT);
}

bool pct_path_set(struct pct_path_events *events, uint32_t place, const struct pct_event *event)
{
    uint32_t end = place + (uint32_t)(pct_event_size(event) / UNIT);
    if (end > events->room) {
        uint32_t room = 2 * end + 1024;
        unsigned char *bytes = realloc(events->bytes, (size_t)room * UNIT);
        if (!bytes)
            return false;
        events->bytes = bytes;
        events->room = room;
    }
    events->end = end;
    pct_event_copy(pct_path_event(events, place), event);
    return true;
}

void pct_path_free(struct pct_path_events *events)
{
    free(events->bytes);
    *events = (struct pct_path_events){ 0 };
}
