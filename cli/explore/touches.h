/* What an event uses, as it becomes known. Pure. */
#ifndef PCT_CLI_TOUCHES_H
#define PCT_CLI_TOUCHES_H

#include "execution.h"

/* The event uses this object, too; if it does already, in any way that is not both. */
void pct_event_touch(struct pct_event *event, uint64_t key, enum pct_use use);

/* This location in memory, and `more` behind it: those that follow each other are one touch. */
void pct_event_touch_range(struct pct_event *event, uint64_t key, uint32_t more, enum pct_use use);

/* It has used what has this key between scheduling points: event->hidden has two bits for each area, 2 for twice or
 * more often. */
void pct_event_count_hidden(struct pct_event *event, uint64_t key);

/* First what its operation used. */
void pct_event_sort_touches(struct pct_event *event);

#endif
