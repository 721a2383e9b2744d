/* What order.c and reversals.c share: the clocks of events. */
#ifndef PCT_CLI_CLOCKS_H
#define PCT_CLI_CLOCKS_H

#include "order.h"
#include <pct/operations.h>
#include <string.h>

static inline uint32_t *clock_of(const struct pct_order *o, uint32_t event)
{
    return o->clock + (size_t)event * o->threads;
}

static inline uint32_t *before_of(const struct pct_order *o, uint32_t event)
{
    return o->before + (size_t)event * o->threads;
}

static inline void join(const struct pct_order *o, uint32_t *clock, const uint32_t *other)
{
    for (uint32_t t = 0; t < o->threads; t++)
        if (clock[t] < other[t])
            clock[t] = other[t];
}

static inline bool knows(const uint32_t *clock, const struct pct_event *event)
{
    return clock[event->thread] >= event->number;
}

/* An event that is nothing but the end of a wait that began before time went on. */
static inline bool waited_on(const struct pct_event *event)
{
    return (event->waits || event->op == PCT_OP_DEADLINE) && event->own && !event->global;
}

/* For pct_order.uses. Of memory that has more than one location, all bits but the highest. */
static inline uint64_t uses_of(const struct pct_event *event)
{
    enum { BITS = 63 };
    uint64_t uses = (uint64_t)event->global << BITS;
    for (unsigned i = 0; i < event->touches; i++)
        uses |= event->touch[i].more ? UINT64_MAX >> 1
                                     : UINT64_C(1) << (event->touch[i].key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % BITS;
    return uses;
}

/* Whether events of different threads that use these may depend on each other: most pairs do not. */
static inline bool may_depend(uint64_t one, uint64_t other)
{
    return (one & other) | (one | other) >> 63;
}

/* What the event had to come behind. previous: its thread's last event before, plus 1. */
static inline void begin_clock(const struct pct_order *o, uint32_t *clock, const struct pct_event *event,
                               uint32_t previous, const uint32_t *jump)
{
    memset(clock, 0, o->threads * sizeof *clock);
    if (previous)
        join(o, clock, clock_of(o, previous - 1));
    for (unsigned i = 0; i < event->causes; i++)
        join(o, clock, clock_of(o, event->cause[i]));
    for (uint32_t i = 0; i < pct_event_after(event); i++)
        if (!knows(clock, &o->x->event[i]))
            clock[o->x->event[i].thread] = o->x->event[i].number;
    if (!waited_on(event))
        join(o, clock, jump);
}

/* Which ends the process: it goes last. */
static inline bool never_races(const struct pct_event *event)
{
    return event->op == PCT_OP_EXIT_NOW;
}

#endif
