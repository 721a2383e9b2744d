/* Happens-before of a run: see order.h.
 *
 * An event is ordered behind what its thread did, who ended its wait, what it does not commute with, and, when time
 * went on between them, everything. */
#include "order.h"
#include "clocks.h"
#include "dependence.h"
#include <pct/operations.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What the event depends on. Of each thread, the newest such event, as it has come behind all older ones. */
static void join_dependent(const struct pct_order *o, uint32_t j, uint32_t *clock)
{
    const struct pct_execution *x = o->x;
    const struct pct_event *event = &x->event[j];
    struct pct_users_left left = pct_users_before(&o->users, j, event->thread, o->uses[j], clock);
    for (uint32_t i; (i = pct_users_next(&left));)
        if (!knows(clock, &x->event[i - 1]) && pct_events_depend(&x->event[i - 1], event)) {
            join(o, clock, clock_of(o, i - 1));
            pct_users_pass(&left, clock);
        }
}

/* Whether one frees a block of memory that a lock, or the like, of the other one stands in. */
static bool frees_object(const struct pct_event *frees, const struct pct_event *uses)
{
    const uint64_t address = (UINT64_C(1) << 56) - 1;
    for (unsigned i = 0; i < frees->touches; i++)
        for (unsigned j = 0; frees->touch[i].use == PCT_USE_FREES && j < uses->touches; j++) {
            uint64_t class_ = uses->touch[j].key >> 56;
            uint64_t offset = (uses->touch[j].key & address) - (frees->touch[i].key & address);
            if (class_ >= PCT_CLASS_MUTEX && class_ <= PCT_CLASS_FUTEX && offset / 8 <= frees->touch[i].more)
                return true;
        }
    return false;
}

/* A block is freed behind an operation, and no point comes before that: if nothing else orders that with what another
 * thread does there, that one may come in between. What has been done to a lock in it does not order a later use of
 * that. previous: the last event of each thread so far, plus 1; older: of each event, its thread's one before, plus 1.
 */
static bool is_freed_early(const struct pct_order *o, uint32_t j, const uint32_t *before, uint32_t *clock,
                           const uint32_t *previous, const uint32_t *older)
{
    const struct pct_execution *x = o->x;
    memcpy(clock, before, o->threads * sizeof *clock);
    for (unsigned round = 0; round < 2; round++)
        for (uint32_t t = 0; t < o->threads; t++)
            for (uint32_t i = t == x->event[j].thread ? 0 : previous[t]; i && !knows(clock, &x->event[i - 1]);
                 i = older[i - 1]) {
                const struct pct_event *one = &x->event[i - 1], *other = &x->event[j];
                bool freed = x->frees_told && frees_object(one, other);
                if (!round && !freed && pct_operations_depend(one, other))
                    join(o, clock, clock_of(o, i - 1));
                else if (round &&
                         (freed || pct_events_depend(one, other) || (x->frees_told && frees_object(other, one))))
                    return true;
            }
    return false;
}

static void fill(struct pct_order *o, uint32_t *jump, uint32_t *previous, uint32_t *work, uint32_t *older)
{
    const struct pct_execution *x = o->x;
    for (uint32_t j = 0; j < x->count; j++) {
        const struct pct_event *event = &x->event[j];
        if (event->jumped)
            for (uint32_t i = 0; i < j; i++)
                jump[x->event[i].thread] = x->event[i].number;
        begin_clock(o, before_of(o, j), event, previous[event->thread], jump);
        uint32_t *clock = clock_of(o, j);
        memcpy(clock, before_of(o, j), o->threads * sizeof *clock);
        join(o, clock, jump);
        o->uses[j] = uses_of(event);
        o->freed_early |= x->frees && is_freed_early(o, j, clock, work, previous, older);
        join_dependent(o, j, clock);
        pct_users_add(&o->users, j, event->thread, o->uses[j]);
        clock[event->thread] = event->number;
        older[j] = previous[event->thread];
        previous[event->thread] = j + 1;
    }
}

int pct_order_make(struct pct_order *o, const struct pct_execution *x)
{
    *o = (struct pct_order){ .x = x, .threads = x->threads };
    size_t room = (size_t)(x->count + 1) * x->threads;
    o->clock = malloc(room * sizeof *o->clock);
    o->before = malloc(room * sizeof *o->before);
    o->uses = malloc(((size_t)x->count + 1) * sizeof *o->uses);
    uint32_t *work = calloc(3 * (size_t)x->threads + x->count + 1, sizeof *work);
    bool failed = pct_users_open(&o->users, x) || !o->clock || !o->before || !o->uses || !work;
    if (failed)
        pct_order_free(o);
    else
        fill(o, work, work + x->threads, work + 2 * (size_t)x->threads, work + 3 * (size_t)x->threads);
    free(work);
    return failed ? -ENOMEM : 0;
}

void pct_order_free(struct pct_order *o)
{
    free(o->clock);
    free(o->before);
    free(o->uses);
    pct_users_close(&o->users);
    *o = (struct pct_order){ 0 };
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

uint64_t pct_order_hash(const struct pct_order *o, uint32_t j)
{
    const struct pct_event *event = &o->x->event[j];
    uint64_t hash = mix(mix(mix(event->thread, event->number), event->op), event->chosen);
    for (uint32_t t = 0; t < o->threads; t++)
        hash = mix(hash, clock_of(o, j)[t]);
    return mix(hash, 1);
}

uint64_t pct_order_class(const struct pct_order *o)
{
    const struct pct_execution *x = o->x;
    uint64_t sum = 0;
    const struct pct_event *last = x->count ? &x->event[x->count - 1] : NULL;
    bool others = false;
    for (uint32_t j = 0; j < x->count; j++)
        sum += never_races(&x->event[j]) ? 0 : pct_order_hash(o, j);
    /* Who ends the process counts where several could; where no other thread is left, there is no such event. */
    for (uint32_t t = 0; last && never_races(last) && t < x->threads; t++)
        others |= t != last->thread && x->pending[t].lives && never_races(&x->pending[t].event);
    return sum + (others ? mix(last->thread, 2) : 0);
}
