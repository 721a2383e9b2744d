/* Clocks and locks of a run: see orderings.h. One pass over its events. */
#include "orderings.h"
#include "events.h"
#include <cli/base/grow.h>
#include <cli/base/cli.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More entries of clocks than this are not kept: what comes behind counts as less ordered than it is. */
enum { MOST_CLOCKS = 1 << 24 };

struct thread {
    uint32_t made;            /* steps */
    uint32_t clock, lockset;  /* numbers */
    struct pct_section given; /* what its condition wait gave up */
};

struct reader {
    struct pct_orderings *o;
    const struct pct_trace *trace;
    struct thread *thread;
    uint32_t *number, *clock; /* by record: the step of its thread, and the clock that this had */
    uint32_t sections;
    size_t at; /* the next access */
};

static uint32_t *clock_of(const struct pct_orderings *o, uint32_t clock)
{
    return &o->clocks[(size_t)clock * o->threads];
}

/* A clock like this one, or the first; its number. False: there is no memory. */
static bool add_clock(struct pct_orderings *o, uint32_t like, uint32_t *added)
{
    if (o->clock_count == o->clock_room) {
        uint32_t room = o->clock_room ? 2 * o->clock_room : 16;
        uint32_t *more = realloc(o->clocks, (size_t)room * o->threads * sizeof *more);
        if (!more)
            return false;
        o->clocks = more;
        o->clock_room = room;
    }
    *added = o->clock_count++;
    if (*added)
        memcpy(clock_of(o, *added), clock_of(o, like), o->threads * sizeof *o->clocks);
    else
        memset(clock_of(o, *added), 0, o->threads * sizeof *o->clocks);
    return true;
}

/* A lockset like this one; NULL: there is no memory. */
static struct pct_lockset *add_lockset(struct pct_orderings *o, uint32_t like, uint32_t *added)
{
    if (!PCT_GROW(o->locksets, o->lockset_count, o->lockset_room))
        return NULL;
    *added = o->lockset_count++;
    struct pct_lockset *set = &o->locksets[*added];
    if (*added)
        *set = o->locksets[like];
    else
        set->count = 0;
    return set;
}

/* --- Locks -------------------------------------------------------------------------------------------------------- */

static bool take(struct reader *r, struct thread *t, struct pct_section section)
{
    struct pct_lockset *set = add_lockset(r->o, t->lockset, &t->lockset);
    if (!set)
        return false;
    if (set->count == PCT_SECTIONS_MOST)
        memmove(&set->section[0], &set->section[1], --set->count * sizeof *set->section);
    section.id = ++r->sections;
    section.by = (uint32_t)r->at;
    set->section[set->count++] = section;
    return true;
}

static bool give(struct reader *r, struct thread *t, uint64_t lock, struct pct_section *given)
{
    const struct pct_lockset *now = &r->o->locksets[t->lockset];
    uint32_t i = now->count;
    while (i && now->section[i - 1].lock != lock)
        i--;
    if (!i)
        return true;
    struct pct_lockset *set = add_lockset(r->o, t->lockset, &t->lockset);
    if (!set)
        return false;
    if (given)
        *given = set->section[i - 1];
    memmove(&set->section[i - 1], &set->section[i], (set->count - i) * sizeof *set->section);
    set->count--;
    return true;
}

static bool follow_wait(struct reader *r, struct thread *t, uint32_t op)
{
    const struct pct_lockset *set = &r->o->locksets[t->lockset];
    if (op == PCT_OP_COND_WAKE)
        return !t->given.id || take(r, t, t->given);
    t->given.id = 0;
    return !set->count || give(r, t, set->section[set->count - 1].lock, &t->given);
}

bool pct_orderings_failed(uint64_t record)
{
    uint32_t argument = PCT_RECORD_ARG(record);
    return argument == PCT_ARG_BUSY || argument == PCT_ARG_TIMEOUT || argument == PCT_ARG_ERROR;
}

bool pct_locksets_exclude(const struct pct_lockset *a, const struct pct_lockset *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < b->count; j++)
            if (a->section[i].lock == b->section[j].lock && !(a->section[i].shared && b->section[j].shared))
                return true;
    return false;
}

static bool follow_locks(struct reader *r, struct thread *t, uint64_t record, uint64_t object)
{
    uint32_t op = PCT_RECORD_OP(record);
    if (op == PCT_OP_COND_WAIT || op == PCT_OP_COND_WAKE)
        return follow_wait(r, t, op);
    if (pct_orderings_failed(record))
        return true;
    switch (op) {
    case PCT_OP_MUTEX_LOCK:
    case PCT_OP_MUTEX_TRYLOCK:
    case PCT_OP_SPIN_LOCK:
    case PCT_OP_SPIN_TRYLOCK:
    case PCT_OP_RWLOCK_WRLOCK:
    case PCT_OP_RWLOCK_TRYWRLOCK:
        return take(r, t, (struct pct_section){ .lock = object });
    case PCT_OP_RWLOCK_RDLOCK:
    case PCT_OP_RWLOCK_TRYRDLOCK:
        return take(r, t, (struct pct_section){ .lock = object, .shared = true });
    case PCT_OP_MUTEX_UNLOCK:
    case PCT_OP_SPIN_UNLOCK:
    case PCT_OP_RWLOCK_UNLOCK:
        return give(r, t, object, NULL);
    default:
        return true;
    }
}

/* --- Clocks ------------------------------------------------------------------------------------------------------- */

/* This step comes after the one that it had to wait for, and all that was before that. */
static bool follow_link(struct reader *r, struct thread *t, const struct pct_event *event)
{
    struct pct_orderings *o = r->o;
    uint64_t from = event->from - 1 - r->trace->first;
    if (event->link == PCT_LINK_NONE || event->link == PCT_LINK_RELEASE || event->from <= r->trace->first ||
        from >= event->index || event->from_thread >= o->threads || (uint64_t)o->clock_count * o->threads > MOST_CLOCKS)
        return true;
    if (!add_clock(o, t->clock, &t->clock))
        return false;
    uint32_t *to = clock_of(o, t->clock);
    const uint32_t *other = clock_of(o, r->clock[from]);
    for (uint32_t i = 0; i < o->threads; i++)
        to[i] = to[i] < other[i] ? other[i] : to[i];
    if (to[event->from_thread] < r->number[from])
        to[event->from_thread] = r->number[from];
    return true;
}

bool pct_orderings_before(const struct pct_orderings *o, uint32_t thread, uint32_t number, uint32_t clock)
{
    return clock_of(o, clock)[thread] >= number;
}

static bool read_all(struct reader *r, struct pct_events *events, const struct pct_access *accesses, size_t count)
{
    struct pct_event event;
    while (pct_events_next(events, &event)) {
        struct thread *t = &r->thread[event.thread];
        r->number[event.index] = ++t->made;
        if (!follow_link(r, t, &event))
            return false;
        r->clock[event.index] = t->clock;
        if (r->at >= count || accesses[r->at].index != event.index)
            continue;
        r->o->clock[r->at] = t->clock;
        r->o->lockset[r->at] = t->lockset;
        if (!follow_locks(r, t, event.record, accesses[r->at].object))
            return false;
        r->at++;
    }
    return true;
}

int pct_orderings_read(struct pct_orderings *o, const struct pct_trace *trace, const struct pct_access *accesses,
                       size_t count)
{
    const struct pct_snapshot empty = { .maps = NULL };
    struct reader r = { .o = o, .trace = trace };
    struct pct_events *events = pct_events_open(trace, &empty);
    uint32_t none;
    *o = (struct pct_orderings){ .threads = 1 };
    for (uint64_t i = 0; i < trace->count; i++)
        o->threads =
            PCT_RECORD_THREAD(trace->records[i]) >= o->threads ? PCT_RECORD_THREAD(trace->records[i]) + 1 : o->threads;
    r.thread = calloc(o->threads, sizeof *r.thread);
    r.number = calloc(trace->count + 1, sizeof *r.number);
    r.clock = calloc(trace->count + 1, sizeof *r.clock);
    o->clock = calloc(count + 1, sizeof *o->clock);
    o->lockset = calloc(count + 1, sizeof *o->lockset);
    bool fine = events && r.thread && r.number && r.clock && o->clock && o->lockset && add_clock(o, 0, &none) &&
                add_lockset(o, 0, &none) && read_all(&r, events, accesses, count);
    pct_events_close(events);
    free(r.thread);
    free(r.number);
    free(r.clock);
    if (!fine)
        pct_orderings_free(o);
    return fine ? 0 : -ENOMEM;
}

void pct_orderings_free(struct pct_orderings *o)
{
    free(o->clock);
    free(o->lockset);
    free(o->clocks);
    free(o->locksets);
    *o = (struct pct_orderings){ .threads = 0 };
}
