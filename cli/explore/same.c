/* Whether an event came as it was seen elsewhere: see same.h. */
#include "same.h"
#include "dependence.h"
#include <string.h>

/* Which id that gets depends on who makes one first. */
static bool is_new_thread(const struct pct_event *event, unsigned touch)
{
    return event->op == PCT_OP_THREAD_CREATE && event->touch[touch].key >> 56 == PCT_CLASS_THREAD;
}

bool pct_same_objects(const struct pct_event *a, const struct pct_event *b)
{
    if (a->op != b->op || a->touches != b->touches)
        return false;
    for (unsigned i = 0; i < a->touches; i++)
        if (a->touch[i].key != b->touch[i].key && !(is_new_thread(a, i) && is_new_thread(b, i)))
            return false;
    return true;
}

bool pct_same_operation(const struct pct_event *a, const struct pct_event *b)
{
    struct pct_event bare[2];
    /* Whether it gets what it waits for by then, or times out, and whom else a deadline wakes, shows when it comes. */
    if (a->op == PCT_OP_DEADLINE || b->op == PCT_OP_DEADLINE)
        return true;
    pct_event_copy(&bare[0], a);
    pct_event_copy(&bare[1], b);
    for (unsigned n = 0; n < 2; n++)
        bare[n].touches = bare[n].own;
    /* It may have been pending at the end of a run, where it is not known all that it uses (the second futex of a
     * requeue, the thread of a try to join), or may use nothing any more (a futex, once it is woken). And how far an
     * access to memory goes may depend on what is there: strlen() and its like. */
    if (a->op != b->op)
        return false;
    return a->global || b->global || !a->own || !b->own || pct_events_meet(&bare[0], &bare[1]);
}

/* The next memory, from touch *at on, that the event's own operation goes over; NULL: there is none. */
static const struct pct_touch *next_memory(const struct pct_event *event, unsigned *at)
{
    while (*at < event->own) {
        const struct pct_touch *t = &event->touch[(*at)++];
        if (pct_touch_is_memory(t->key))
            return t;
    }
    return NULL;
}

bool pct_same_extent(const struct pct_event *a, const struct pct_event *b)
{
    const struct pct_touch *one, *other;
    unsigned i = 0, j = 0;
    if (a->op != b->op || (a->op != PCT_OP_LOAD && a->op != PCT_OP_STORE) || a->crashed || b->crashed)
        return true; /* behind a crash nothing is verified anyway */
    if (a->global || b->global)
        return a->global && b->global;
    do {
        one = next_memory(a, &i);
        other = next_memory(b, &j);
        if (!one || !other)
            return one == other;
    } while (one->key == other->key && one->more == other->more && one->use == other->use);
    return false;
}

bool pct_same_event(const struct pct_event *a, const struct pct_event *b)
{
    if (a->thread != b->thread || a->chosen != b->chosen || !pct_same_objects(a, b))
        return false;
    for (unsigned i = 0; i < a->touches; i++)
        if (a->touch[i].use != b->touch[i].use)
            return false;
    return true;
}
