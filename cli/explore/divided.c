/* Dividing a search among shards: see divided.h.
 *
 * Behind a beginning where several threads can go on, each class of schedules has a schedule that goes on with one of
 * them. It belongs to the first of them, in the order of their numbers, with which it could: so behind another one,
 * that one is held, if their events commute. */
#include "divided.h"
#include "dependence.h"
#include "order.h"
#include <errno.h>
#include <pct/strategy.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS_MOST = 1000, RUNS_EACH = 2 /* at most this many runs divide, for each part */ };

struct part {
    struct pct_part at;
    bool whole; /* it cannot be divided */
};

struct pct_divided {
    unsigned shard, of, wanted;   /* this many parts */
    struct pct_search_facts past; /* of the parts that are searched, and of runs that divide */
    struct part *part;
    size_t parts, room;
    bool divided, over;
    /* While it is divided: part[now] is being looked at. */
    size_t now;
    struct pct_event *begin; /* its beginning, continued to where several threads can, and who is held there */
    uint32_t begins;
    struct pct_event *held;
    uint32_t holds;
    uint64_t enabled;       /* these; 0: that is not known yet */
    uint64_t known;         /* of these it is known what they do, */
    struct pct_event *next; /* by thread */
    /* Behind that: part[now] is being searched. */
    struct pct_search *search;
    uint32_t *plan;
    uint32_t plan_room;
};

static void free_part(struct pct_part *part)
{
    free(part->event);
    free(part->held);
    *part = (struct pct_part){ 0 };
}

struct pct_divided *pct_divided_new(unsigned shard, unsigned of, unsigned parts)
{
    struct pct_divided *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->shard = shard;
    d->of = of;
    d->wanted = parts < PARTS_MOST ? parts : PARTS_MOST;
    d->room = 64;
    d->part = calloc(d->room, sizeof *d->part);
    d->next = calloc(PCT_EXECUTION_SETS, sizeof *d->next);
    d->held = calloc(PCT_EXECUTION_SETS, sizeof *d->held);
    if (!d->part || !d->next || !d->held) {
        pct_divided_free(d);
        return NULL;
    }
    d->parts = 1; /* all of it */
    return d;
}

void pct_divided_free(struct pct_divided *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->parts; i++)
        free_part(&d->part[i].at);
    pct_search_free(d->search);
    free(d->part);
    free(d->begin);
    free(d->next);
    free(d->held);
    free(d->plan);
    free(d);
}

/* --- Dividing ----------------------------------------------------------------------------------------------------- */

/* A copy; NULL: no memory. */
static void *copy_of(const struct pct_event *event, uint32_t count)
{
    struct pct_event *copy = calloc(count + 1, sizeof *copy);
    if (copy && count)
        memcpy(copy, event, count * sizeof *copy);
    return copy;
}

static int add_part(struct pct_divided *d, const struct pct_part *part)
{
    if (d->parts == d->room) {
        struct part *more = realloc(d->part, 2 * d->room * sizeof *more);
        if (!more)
            return -ENOMEM;
        d->part = more;
        d->room *= 2;
    }
    d->part[d->parts++] = (struct part){ .at = *part };
    return part->event && part->held ? 0 : -ENOMEM;
}

/* Who of the held still is, behind this event. */
static void pass_held(struct pct_event *held, uint32_t *holds, const struct pct_event *made)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < *holds; i++) {
        struct pct_event event = held[i];
        if (pct_event_passes(&event, made))
            held[count++] = event;
    }
    *holds = count;
}

/* This part is nothing more to divide; with `empty`, no class is in it. */
static void leave(struct pct_divided *d, bool empty)
{
    d->enabled = d->known = 0;
    d->part[d->now].whole = true;
    if (empty) {
        free_part(&d->part[d->now].at);
        d->parts--;
        memmove(&d->part[d->now], &d->part[d->now + 1], (d->parts - d->now) * sizeof *d->part);
    }
}

/* The part that is to be divided next: the one with the fewest events. False: none is. */
static bool find_part(struct pct_divided *d)
{
    bool found = false;
    if (d->parts >= d->wanted || d->past.runs >= (uint64_t)RUNS_EACH * d->wanted + RUNS_EACH)
        return false;
    for (size_t i = 0; i < d->parts; i++)
        if (!d->part[i].whole && (!found || d->part[i].at.count < d->part[d->now].at.count)) {
            d->now = i;
            found = true;
        }
    return found;
}

/* Whoever goes on at this event has no choice of its own, and nothing but itself keeps the others from going on. */
static bool is_plain(const struct pct_execution *x, uint32_t i)
{
    return x->event[i].choices < 2 && !x->event[i].jumped && x->event[i].op != PCT_OP_DEADLINE;
}

/* Who can go on at this event, but for those that are held. */
static uint64_t free_threads(const struct pct_divided *d, const struct pct_execution *x, uint32_t at)
{
    uint64_t threads = x->enabled[at];
    for (uint32_t i = 0; i < d->holds; i++)
        threads &= ~(UINT64_C(1) << d->held[i].thread);
    return threads;
}

/* The run that shows where this part goes on: as far as one thread alone can. Returns 0 or -ENOMEM. */
static int look_at_part(struct pct_divided *d, const struct pct_execution *x)
{
    const struct pct_part *part = &d->part[d->now].at;
    uint32_t at = part->count;
    d->holds = part->held_count;
    if (d->holds)
        memcpy(d->held, part->held, d->holds * sizeof *d->held);
    while (at < x->count && is_plain(x, at) && free_threads(d, x, at) == UINT64_C(1) << x->event[at].thread)
        pass_held(d->held, &d->holds, &x->event[at++]);
    if (at == x->count || !is_plain(x, at) || x->threads > PCT_EXECUTION_SETS) {
        leave(d, false);
        return 0;
    }
    if (!free_threads(d, x, at)) { /* what others wait for cannot come any more */
        leave(d, true);
        return 0;
    }
    free(d->begin);
    d->begin = copy_of(x->event, at);
    d->begins = at;
    d->enabled = free_threads(d, x, at);
    d->known = UINT64_C(1) << x->event[at].thread;
    d->next[x->event[at].thread] = x->event[at];
    return d->begin ? 0 : -ENOMEM;
}

/* It is known what all do that can go on: a part for each of them. */
static int divide_part(struct pct_divided *d)
{
    struct pct_event held[PCT_EXECUTION_SETS];
    uint32_t holds = d->holds;
    int failed = 0;
    memcpy(held, d->held, holds * sizeof *held);
    for (uint32_t t = 0; t < PCT_EXECUTION_SETS && !failed; t++) {
        if (!(d->enabled >> t & 1))
            continue;
        struct pct_part child = { .event = copy_of(d->begin, d->begins),
                                  .count = d->begins + 1,
                                  .held = copy_of(held, holds),
                                  .held_count = holds };
        if (child.event && child.held) {
            child.event[d->begins] = d->next[t];
            pass_held(child.held, &child.held_count, &d->next[t]);
        }
        failed = add_part(d, &child);
        held[holds++] = d->next[t];
    }
    if (!failed)
        leave(d, true);
    return failed;
}

static bool begins_so(const struct pct_divided *d, const struct pct_execution *x)
{
    const struct pct_part *part = &d->part[d->now].at;
    uint32_t count = d->enabled ? d->begins : part->count;
    const struct pct_event *event = d->enabled ? d->begin : part->event;
    if (x->count < count + (d->enabled ? 1 : 0))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (event[i].thread != x->event[i].thread || event[i].op != x->event[i].op)
            return false;
    return true;
}

static uint32_t unknown_thread(const struct pct_divided *d)
{
    uint64_t unknown = d->enabled & ~d->known;
    return unknown ? (uint32_t)__builtin_ctzll(unknown) : PCT_EXECUTION_SETS;
}

/* A run that divides. Returns 0 or -ENOMEM. */
static int take_dividing(struct pct_divided *d, const struct pct_execution *x)
{
    struct pct_search_facts *facts = &d->past;
    facts->runs++;
    facts->redundant++;
    facts->foreign++;
    facts->early |= x->timeds > 0;
    pct_facts_doubt(facts, x->doubts, x->place);
    facts->unknown = x->unknown ? x->unknown : facts->unknown;
    facts->depth = x->count > facts->depth ? x->count : facts->depth;
    if (!begins_so(d, x)) {
        facts->unrepeatable = d->over = true;
        return 0;
    }
    if (!d->enabled) {
        int failed = look_at_part(d, x);
        if (failed || !d->enabled)
            return failed;
    } else {
        uint32_t thread = unknown_thread(d);
        const struct pct_event *event = &x->event[d->begins];
        if (event->thread != thread) {
            facts->unrepeatable = d->over = true;
            return 0;
        }
        if (!is_plain(x, d->begins)) {
            leave(d, false);
            return 0;
        }
        d->next[thread] = *event;
        d->known |= UINT64_C(1) << thread;
    }
    return unknown_thread(d) == PCT_EXECUTION_SETS ? divide_part(d) : 0;
}

/* The plan of the next of these runs. */
static bool plan_dividing(struct pct_divided *d, const uint32_t **plan, uint32_t *count)
{
    const struct pct_part *part = &d->part[d->now].at;
    const struct pct_event *event = d->enabled ? d->begin : part->event;
    uint32_t events = d->enabled ? d->begins : part->count;
    if (events + 1 > d->plan_room) {
        uint32_t *more = realloc(d->plan, (events + 64) * sizeof *more);
        if (!more)
            return false;
        d->plan = more;
        d->plan_room = events + 64;
    }
    for (uint32_t i = 0; i < events; i++)
        d->plan[i] = PCT_PLAN(event[i].thread, event[i].chosen + 1u);
    if (d->enabled)
        d->plan[events++] = PCT_PLAN(unknown_thread(d), 0);
    *plan = d->plan;
    *count = events;
    return true;
}

/* --- Searching ---------------------------------------------------------------------------------------------------- */

static void add_facts(struct pct_search_facts *all, const struct pct_search_facts *more)
{
    all->runs += more->runs;
    all->classes += more->classes;
    all->redundant += more->redundant;
    all->foreign += more->foreign;
    all->early |= more->early;
    all->awaited += more->awaited;
    all->unplanned += more->unplanned;
    all->moved_at = all->moved ? all->moved_at : more->moved_at;
    all->moved += more->moved;
    all->strayed |= more->strayed;
    all->open += more->open;
    all->untried += more->untried;
    all->loop = more->untried ? more->loop : all->loop;
    all->depth = more->depth > all->depth ? more->depth : all->depth;
    pct_facts_doubt(all, more->doubts, more->place);
    all->unknown = more->unknown ? more->unknown : all->unknown;
    all->unrepeatable |= more->unrepeatable;
    all->no_memory |= more->no_memory;
    all->undivided |= more->undivided;
    all->uneven |= more->uneven;
}

static void tell_facts(const struct pct_divided *d, struct pct_search_facts *facts)
{
    *facts = d->past;
    if (d->search)
        add_facts(facts, pct_search_facts(d->search));
    if (d->divided)
        facts->parts = (uint32_t)d->parts;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t mix_event(uint64_t hash, const struct pct_event *event)
{
    hash = mix(mix(mix(hash, event->thread), event->op), event->chosen);
    for (unsigned i = 0; i < event->touches; i++)
        hash = mix(mix(hash, event->touch[i].key), event->touch[i].use);
    return hash;
}

static void end_dividing(struct pct_divided *d)
{
    uint64_t hash = d->of;
    for (size_t i = 0; i < d->parts; i++) {
        const struct pct_part *part = &d->part[i].at;
        hash = mix(mix(hash, part->count), part->held_count);
        for (uint32_t k = 0; k < part->count; k++)
            hash = mix_event(hash, &part->event[k]);
        for (uint32_t k = 0; k < part->held_count; k++)
            hash = mix_event(hash, &part->held[k]);
    }
    d->past.division = hash;
    d->divided = true;
    d->now = d->shard - 1;
}

bool pct_divided_next(struct pct_divided *d, const uint32_t **plan, uint32_t *count, struct pct_search_facts *facts)
{
    bool more = false;
    if (!d->divided && !d->over && !d->enabled && !find_part(d))
        end_dividing(d);
    if (!d->divided && !d->over) {
        more = plan_dividing(d, plan, count);
        d->over = d->past.no_memory = !more;
    }
    for (; d->divided && !d->over && !more && d->now < d->parts; d->now += more ? 0 : d->of) {
        if (!d->search)
            d->search = pct_search_new_part(&d->part[d->now].at);
        d->over = d->past.no_memory = !d->search;
        more = d->search && pct_search_next(d->search, plan, count);
        if (more || !d->search)
            break;
        d->over = pct_search_facts(d->search)->unrepeatable || pct_search_facts(d->search)->no_memory;
        add_facts(&d->past, pct_search_facts(d->search));
        pct_search_free(d->search);
        d->search = NULL;
    }
    tell_facts(d, facts);
    return more;
}

bool pct_divided_ahead(struct pct_divided *d, const uint32_t **plan, uint32_t *count)
{
    return d->search && pct_search_ahead(d->search, plan, count);
}

int pct_divided_take(struct pct_divided *d, struct pct_execution *x, uint64_t *class_, struct pct_search_facts *facts)
{
    int failed;
    if (x->threads > PCT_EXECUTION_SETS)
        d->past.undivided = true;
    if (d->search) {
        failed = pct_search_take(d->search, x, class_);
    } else {
        failed = take_dividing(d, x);
        pct_execution_free(x);
    }
    tell_facts(d, facts);
    return failed;
}
