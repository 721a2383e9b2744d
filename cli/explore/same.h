/* Whether an event of a run is the one that was seen in another. Pure. */
#ifndef PCT_CLI_SAME_H
#define PCT_CLI_SAME_H

#include "execution.h"

/* They do the same to the same objects. */
bool pct_same_objects(const struct pct_event *a, const struct pct_event *b);

/* The same, but for what was used between scheduling points: what an event finds decides what it goes on to. */
bool pct_same_operation(const struct pct_event *a, const struct pct_event *b);

/* Of plain accesses: they go over the same memory. How far strlen() and its like go depends on what stands there. */
bool pct_same_extent(const struct pct_event *a, const struct pct_event *b);

/* They are of the same thread, and do and find the same. */
bool pct_same_event(const struct pct_event *a, const struct pct_event *b);

#endif
