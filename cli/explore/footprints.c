/* What events use behind their operation: see footprints.h. */
#include "footprints.h"
#include "touches.h"
#include <errno.h>
#include <stdlib.h>

struct pct_footprint {
    bool varies;
    uint16_t thread;
    uint32_t count;
    uint32_t known; /* the first of these were known when the search began */
    struct pct_touch touch[];
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Where half of an event's hash stands, or is to stand. */
static uint32_t *seen_at(const struct pct_footprints *f, uint32_t half)
{
    size_t i = half & (f->seen_room - 1);
    while (f->seen[i] && f->seen[i] != half)
        i = (i + 1) & (f->seen_room - 1);
    return &f->seen[i];
}

static int grow_seen(struct pct_footprints *f)
{
    struct pct_footprints more = *f;
    more.seen_room = f->seen_room ? 2 * f->seen_room : 1024;
    more.seen = calloc(more.seen_room, sizeof *more.seen);
    if (!more.seen)
        return -ENOMEM;
    for (size_t i = 0; i < f->seen_room; i++)
        if (f->seen[i])
            *seen_at(&more, f->seen[i]) = f->seen[i];
    free(f->seen);
    *f = more;
    return 0;
}

/* The event is seen. Returns 1: for the first time; 0; or -ENOMEM. */
static int see(struct pct_footprints *f, uint64_t event)
{
    uint32_t half = (uint32_t)(event >> 32);
    half += !half;
    if (4 * (f->seen_count + 1) > 3 * f->seen_room && grow_seen(f))
        return -ENOMEM;
    uint32_t *at = seen_at(f, half);
    bool first = !*at;
    f->seen_count += first;
    *at = half;
    return first;
}

static bool has(const struct pct_footprint *used, const struct pct_touch *touch)
{
    for (uint32_t i = 0; used && i < used->count; i++)
        if (used->touch[i].key == touch->key && used->touch[i].use == touch->use)
            return true;
    return false;
}

static int add(struct pct_footprint **used, const struct pct_touch *touch)
{
    uint32_t count = *used ? (*used)->count : 0;
    struct pct_footprint *more = realloc(*used, sizeof *more + (count + 1) * sizeof *more->touch);
    if (!more)
        return -ENOMEM;
    if (!count)
        *more = (struct pct_footprint){ 0 };
    more->touch[count] = *touch;
    more->count = count + 1;
    *used = more;
    return 0;
}

/* The first thing that the event uses behind its operation, from touch i on; event->touches: there is none. What is
 * freed is none: operations order it with all that others do there (order.h). */
static unsigned next_used(const struct pct_event *event, unsigned i)
{
    while (i < event->touches && event->touch[i].use == PCT_USE_FREES)
        i++;
    return i;
}

/* What the event, which is seen for the first time or not, has used in this run, in this order: first the operation's
 * own. */
static int note(struct pct_footprint **used, const struct pct_event *event, bool first)
{
    bool more = false;
    uint32_t count = 0;
    for (unsigned i = event->own; (i = next_used(event, i)) < event->touches; i++) {
        count++;
        if (has(*used, &event->touch[i]))
            continue;
        if (add(used, &event->touch[i]))
            return -ENOMEM;
        more = true;
    }
    (*used)->thread = event->thread;
    (*used)->varies |= !first && (more || count != (*used)->count);
    return 0;
}

/* The kind of it; or as many as there are: it is none of these. */
static unsigned kind_of(uint64_t key)
{
    return key >= PCT_KEY_HIDDEN ? (unsigned)((key - PCT_KEY_HIDDEN) >> 56) : PCT_FOOTPRINT_KINDS;
}

/* Who uses what, also by operations. */
static void note_users(struct pct_footprints *f, const struct pct_event *event)
{
    uint64_t bit = UINT64_C(1) << event->thread % 64;
    for (unsigned i = 0; i < event->touches; i++) {
        unsigned kind = kind_of(event->touch[i].key);
        if (kind == PCT_FOOTPRINT_KINDS)
            continue;
        f->users[kind] |= bit;
        f->writers[kind] |= event->touch[i].use == PCT_USE_READS ? 0 : bit;
    }
}

static void widen(struct pct_event *event, const struct pct_footprint *used)
{
    for (uint32_t i = 0; used && i < used->known; i++)
        pct_event_touch(event, used->touch[i].key, (enum pct_use)used->touch[i].use);
}

/* The past of an event's thread behind it: what it did, and what came of it. */
static uint64_t past_of(uint64_t past, const struct pct_event *event)
{
    past = mix(mix(past, event->op), event->place);
    past = mix(past, (uint64_t)event->chosen << 1 | event->timed_out);
    for (unsigned i = 0; i < event->own; i++)
        past = mix(past, event->touch[i].use);
    return past;
}

static uint64_t identity(uint64_t past, const struct pct_event *event)
{
    return mix(mix(mix(past, event->thread), event->op), event->place);
}

/* What the events of this identity have used, with what this one does. Returns 0 or -ENOMEM. */
static int take(struct pct_footprints *f, struct pct_event *event, uint64_t id)
{
    bool uses = next_used(event, event->own) < event->touches;
    int first = see(f, id);
    struct pct_footprint **used = uses ? pct_table_add(&f->used, id) : pct_table_find(&f->used, id);
    if (first < 0 || (uses && !used))
        return -ENOMEM;
    if (!used)
        return 0;
    int failed = note(used, event, first);
    widen(event, *used);
    return failed;
}

int pct_footprints_take(struct pct_footprints *f, struct pct_execution *x)
{
    uint64_t *past = calloc((size_t)x->threads + 1, sizeof *past);
    int failed = past ? 0 : -ENOMEM;
    f->used.size = sizeof(struct pct_footprint *);
    for (uint32_t i = 0; i < x->count && !failed; i++) {
        struct pct_event *event = &x->event[i];
        uint64_t id = identity(past[event->thread], event);
        past[event->thread] = past_of(past[event->thread], event);
        note_users(f, event);
        if (!event->global) /* that depends on everything; a crash may have cut it short */
            failed = take(f, event, id);
    }
    for (uint32_t t = 0; t < x->threads && !failed; t++) {
        struct pct_event *event = &x->pending[t].event;
        struct pct_footprint **used = x->pending[t].lives ? pct_table_find(&f->used, identity(past[t], event)) : NULL;
        widen(event, used ? *used : NULL);
    }
    free(past);
    return failed;
}

/* Whether another thread than this one may use it in a way that does not commute. */
static bool matters(const struct pct_footprints *f, uint16_t thread, const struct pct_touch *touch)
{
    unsigned kind = kind_of(touch->key);
    if (kind == PCT_FOOTPRINT_KINDS)
        return true;
    return (touch->use == PCT_USE_READS ? f->writers[kind] : f->users[kind]) & ~(UINT64_C(1) << thread % 64);
}

bool pct_footprints_begin(struct pct_footprints *f)
{
    bool again = false;
    struct pct_footprint **each;
    for (size_t at = 0; (each = pct_table_next(&f->used, &at, NULL));) {
        struct pct_footprint *used = *each;
        for (uint32_t k = used->known; used->varies && k < used->count; k++)
            again |= matters(f, used->thread, &used->touch[k]);
        if (used->varies)
            used->known = used->count;
    }
    return again;
}

void pct_footprints_free(struct pct_footprints *f)
{
    struct pct_footprint **each;
    for (size_t at = 0; (each = pct_table_next(&f->used, &at, NULL));)
        free(*each);
    pct_table_free(&f->used);
    free(f->seen);
    *f = (struct pct_footprints){ 0 };
}
