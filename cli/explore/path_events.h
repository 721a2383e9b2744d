/* The events along the path of the search, one behind the other, each up to its last touch: most have one touch, and
 * paths are long. Memory from malloc. */
#ifndef PCT_CLI_PATH_EVENTS_H
#define PCT_CLI_PATH_EVENTS_H

#include "execution.h"

struct pct_path_events {
    unsigned char *bytes;
    uint32_t end, room; /* in units of 8 bytes, as all places here: where the next event is to stand */
};

/* The event at this place. Valid until another one is set. */
struct pct_event *pct_path_event(const struct pct_path_events *events, uint32_t place);

/* Let this event, which is copied, be the last one, at this place: the end, or where the last one is. False: no memory.
 */
bool pct_path_set(struct pct_path_events *events, uint32_t place, const struct pct_event *event);

void pct_path_free(struct pct_path_events *events);

#endif
