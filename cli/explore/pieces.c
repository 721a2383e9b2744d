/* Steps that are taken as one, and are several: see pieces.h. */
#include "pieces.h"
#include "dependence.h"
#include <errno.h>
#include <stdlib.h>

unsigned pct_area_of(uint64_t key)
{
    unsigned area = (unsigned)((key - PCT_KEY_HIDDEN) >> 56);
    bool other = key < PCT_KEY_HIDDEN || key == PCT_KEY_TIME || key == PCT_KEY_END;
    return other || area > PCT_AREAS ? PCT_AREAS : area;
}

/* Whether another thread's event does not commute with the event's operation, and may come before or behind it. */
static bool is_disputed(const struct pct_execution *x, const struct pct_event *event)
{
    if (event->op == PCT_OP_THREAD_START)
        return false; /* behind its creation, always */
    struct pct_event operation = *event;
    operation.touches = event->own;
    for (uint32_t i = 0; i < x->count; i++)
        if (x->event[i].thread != event->thread && !x->event[i].crashed && pct_events_depend(&operation, &x->event[i]))
            return true;
    return false;
}

/* What a thread does with what is used between scheduling points: plus 1, the last event that uses it, and that changes
 * it. */
struct uses {
    uint32_t made; /* the event that makes the thread; 0: it was there */
    uint32_t used[PCT_AREAS], changed[PCT_AREAS];
};

/* The thread makes this event. */
static void note_uses(const struct pct_event *event, uint32_t at, struct uses *u)
{
    for (unsigned t = 0; t < event->touches; t++) {
        unsigned area = pct_area_of(event->touch[t].key);
        if (area == PCT_AREAS)
            continue;
        u->used[area] = at + 1;
        if (event->touch[t].use != PCT_USE_READS)
            u->changed[area] = at + 1;
    }
}

/* Whether another thread may use the area while the event does, and one of the two changes it. before, all: what was
 * done before the event, and in the whole run. Who is made behind a use comes behind it in all schedules, or another
 * one shows that it need not; what a step uses, it uses behind its operation. */
static bool is_contended(const struct uses *before, const struct uses *all, uint32_t threads, uint32_t at,
                         const struct pct_event *event, unsigned area)
{
    const struct uses *own = &all[event->thread];
    struct uses mine = { 0 };
    note_uses(event, at, &mine);
    for (uint32_t u = 0; u < threads; u++) {
        if (u == event->thread)
            continue;
        uint32_t earlier = mine.changed[area] ? before[u].used[area] : before[u].changed[area];
        uint32_t later = mine.changed[area] ? all[u].used[area] : all[u].changed[area];
        if ((earlier && earlier >= own->made) || (later > at + 1 && all[u].made <= at + 1))
            return true;
    }
    return false;
}

/* Whether threads could come in between in this step in more ways than have been tried: it uses something that others
 * may use meanwhile, and some change, between scheduling points, and something else before. All of it is taken as one.
 */
static bool is_piece(const struct pct_execution *x, const struct uses *before, const struct uses *all, uint32_t threads,
                     uint32_t at)
{
    const struct pct_event *event = &x->event[at];
    unsigned uses = 0;
    for (unsigned area = 0; area < PCT_AREAS; area++)
        if ((event->hidden >> 2 * area & 3) && is_contended(before, all, threads, at, event, area))
            uses += event->hidden >> 2 * area & 3;
    return uses > 1 || (uses && is_disputed(x, event));
}

int pct_pieces_find(const struct pct_execution *x, uint32_t threads, bool *pieces)
{
    struct uses *before = calloc(2 * ((size_t)threads + 1), sizeof *before);
    if (!before)
        return -ENOMEM;
    struct uses *all = before + threads + 1;
    for (uint32_t i = 0; i < x->count; i++) {
        const struct pct_event *event = &x->event[i];
        note_uses(event, i, &all[event->thread]);
        for (unsigned t = 0; event->op == PCT_OP_THREAD_CREATE && t < event->touches; t++) {
            uint64_t made = event->touch[t].key & ((UINT64_C(1) << 56) - 1);
            if (event->touch[t].key >> 56 == PCT_CLASS_THREAD && made < threads)
                all[made].made = i + 1;
        }
    }
    for (uint32_t i = 0; i < x->count && !*pieces; i++) {
        *pieces = is_piece(x, before, all, threads, i);
        note_uses(&x->event[i], i, &before[x->event[i].thread]);
    }
    free(before);
    return 0;
}
