/* What tells classes that fail from those that pass: see separate.h. Operations are the same in two classes if they are
 * the nth of one thread, of one kind, on one object. Of each class, its operations are kept in their order, as numbers.
 */
#include "separate.h"
#include "dependence.h"
#include <cli/base/grow.h>
#include <cli/base/table.h>
#include <stdlib.h>
#include <string.h>

enum {
    MEMORY = 64 << 20, /* bytes for all classes */
    FAILURES = 64,     /* that are told apart */
    EVENTS = 1024,     /* of a class that fails, at most, to be told from others */
    ORDERS = 1024      /* that are looked at: of operations that are nearest to each other */
};

struct class_ {
    uint64_t failure;
    size_t begin;            /* of `made` */
    uint32_t count;          /* operations that were made */
    struct pct_event *event; /* of the first class that fails like this: those, and the pending ones; else NULL */
    uint32_t events;
};

struct pct_separation {
    struct class_ *class_;
    size_t count, room;
    uint64_t *made; /* by class: what was made, in its order */
    size_t made_count, made_room;
    size_t first[FAILURES]; /* of each failure, the first class that has its events */
    unsigned first_count;
    bool full;
};

struct pct_separation *pct_separation_new(void)
{
    return calloc(1, sizeof(struct pct_separation));
}

void pct_separation_free(struct pct_separation *s)
{
    for (size_t i = 0; s && i < s->count; i++)
        free(s->class_[i].event);
    if (s) {
        free(s->class_);
        free(s->made);
    }
    free(s);
}

/* --- Classes ------------------------------------------------------------------------------------------------------ */

static uint64_t kind_of(const struct pct_event *event)
{
    uint64_t kind = (uint64_t)event->thread << 8 | event->op;
    kind = (kind + 1) * UINT64_C(0x9e3779b97f4a7c15);
    kind ^= event->own ? event->touch[0].key * UINT64_C(0xc2b2ae3d27d4eb4f) : 0;
    return kind ^ kind >> 29;
}

static uint64_t number_of(uint64_t kind, uint32_t nth)
{
    uint64_t number = (kind + nth) * UINT64_C(0x165667b19e3779f9);
    return number ^ number >> 31;
}

/* The numbers of these. False: no memory. */
static bool number_all(const struct pct_event *event, uint32_t count, uint64_t *out)
{
    struct pct_table made = PCT_TABLE(uint32_t); /* by kind: how many so far */
    bool fine = true;
    for (uint32_t i = 0; fine && i < count; i++) {
        const uint64_t kind = kind_of(&event[i]);
        uint32_t *nth = pct_table_add(&made, kind);
        fine = nth;
        if (fine)
            out[i] = number_of(kind, (*nth)++);
    }
    pct_table_free(&made);
    return fine;
}

static bool make_room(struct pct_separation *s, uint32_t count)
{
    if (!PCT_GROW(s->class_, s->count, s->room))
        return false;
    if (s->made_count + count > s->made_room) {
        size_t room = 2 * (s->made_count + count);
        uint64_t *more = room * sizeof *more > MEMORY ? NULL : realloc(s->made, room * sizeof *more);
        if (!more)
            return false;
        s->made = more;
        s->made_room = room;
    }
    return true;
}

static const struct class_ *first_of(const struct pct_separation *s, uint64_t failure)
{
    for (unsigned i = 0; i < s->first_count; i++)
        if (s->class_[s->first[i]].failure == failure)
            return &s->class_[s->first[i]];
    return NULL;
}

/* What was made, and behind it what threads were about to do. */
static bool keep_events(struct class_ *c, const struct pct_execution *x)
{
    c->event = malloc((x->count + (size_t)x->threads + 1) * sizeof *c->event);
    if (!c->event)
        return false;
    memcpy(c->event, x->event, x->count * sizeof *x->event);
    c->events = x->count;
    for (uint32_t i = 0; i < x->threads; i++)
        if (x->pending && x->pending[i].lives)
            c->event[c->events++] = x->pending[i].event;
    return true;
}

void pct_separation_add(struct pct_separation *s, const struct pct_execution *x, uint64_t failure)
{
    struct class_ c = { .failure = failure, .begin = s->made_count, .count = x->count };
    if (s->full || !make_room(s, x->count) || !number_all(x->event, x->count, s->made + s->made_count)) {
        s->full = true;
        return;
    }
    if (failure && !first_of(s, failure) && s->first_count < FAILURES && x->count < EVENTS) {
        if (!keep_events(&c, x)) {
            s->full = true;
            return;
        }
        s->first[s->first_count++] = s->count;
    }
    s->made_count += x->count;
    s->class_[s->count++] = c;
}

void pct_separation_drop(struct pct_separation *s)
{
    if (s->full || !s->count)
        return;
    struct class_ *c = &s->class_[--s->count];
    s->made_count = c->begin;
    s->first_count -= c->event != NULL;
    free(c->event);
}

/* --- Orderings ---------------------------------------------------------------------------------------------------- */

/* Orderings of the failing class, and which classes have them. */
struct orders {
    const struct pct_separation *s;
    const struct class_ *base;
    uint64_t *number; /* of the operations of the base */
    uint32_t first[ORDERS], then[ORDERS];
    unsigned count;
    size_t words;      /* of a set of classes */
    uint64_t *has;     /* by ordering: the classes that have it */
    uint64_t *passing; /* the classes that pass */
    uint64_t *failing; /* and those that fail like the base */
    struct pct_table
        at; /* by number of an operation: where the class that is looked at made it, from 1; 0: it has not */
};

/* What gives a lock back, and no more, is ordered as what takes it is. */
static bool gives(const struct pct_event *event)
{
    bool all = event->own;
    for (unsigned i = 0; i < event->own && all; i++)
        all = event->touch[i].use == PCT_USE_GIVES || event->touch[i].use == PCT_USE_PARTS;
    return all;
}

static void list_orders(struct orders *o)
{
    const struct class_ *b = o->base;
    for (uint32_t apart = 1; apart < b->events; apart++)
        for (uint32_t i = 0; i < b->count && i + apart < b->events && o->count < ORDERS; i++) {
            const struct pct_event *first = &b->event[i], *then = &b->event[i + apart];
            if (first->thread == then->thread || gives(first) || gives(then) || !pct_events_meet(first, then) ||
                !pct_events_depend(first, then))
                continue;
            o->first[o->count] = i;
            o->then[o->count++] = i + apart;
        }
}

static void mark(uint64_t *set, size_t i)
{
    set[i / 64] |= UINT64_C(1) << i % 64;
}

/* Where the class made this operation of the base. */
static uint32_t place_of(const struct orders *o, uint32_t event)
{
    return *(const uint32_t *)pct_table_find(&o->at, o->number[event]);
}

/* Which orderings this class has. */
static void look_at_class(struct orders *o, size_t number)
{
    const struct class_ *c = &o->s->class_[number];
    uint32_t *at;
    for (size_t i = 0; (at = pct_table_next(&o->at, &i, NULL));)
        *at = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        at = pct_table_find(&o->at, o->s->made[c->begin + i]);
        if (at)
            *at = i + 1;
    }
    for (unsigned i = 0; i < o->count; i++) {
        const uint32_t first = place_of(o, o->first[i]), then = place_of(o, o->then[i]);
        if (first && (!then || first < then))
            mark(o->has + i * o->words, number);
    }
}

static bool open_orders(struct orders *o)
{
    const struct class_ *b = o->base;
    o->words = (o->s->count + 63) / 64;
    o->number = malloc(b->events * sizeof *o->number);
    o->has = calloc(ORDERS * o->words, sizeof *o->has);
    o->passing = calloc(o->words, sizeof *o->passing);
    o->failing = calloc(o->words, sizeof *o->failing);
    if (!o->number || !o->has || !o->passing || !o->failing || !number_all(b->event, b->events, o->number))
        return false;
    list_orders(o);
    o->at = PCT_TABLE(uint32_t);
    for (unsigned i = 0; i < o->count; i++)
        if (!pct_table_add(&o->at, o->number[o->first[i]]) || !pct_table_add(&o->at, o->number[o->then[i]]))
            return false;
    for (size_t i = 0; i < o->s->count; i++) {
        const struct class_ *c = &o->s->class_[i];
        look_at_class(o, i);
        if (!c->failure)
            mark(o->passing, i);
        else if (c->failure == b->failure)
            mark(o->failing, i);
    }
    return true;
}

static void close_orders(struct orders *o)
{
    free(o->number);
    free(o->has);
    free(o->passing);
    free(o->failing);
    pct_table_free(&o->at);
    free(o);
}

/* How many classes of this set have all of these. */
static uint64_t have(const struct orders *o, const uint64_t *set, const unsigned *order, unsigned count)
{
    uint64_t sum = 0;
    for (size_t word = 0; word < o->words; word++) {
        uint64_t left = set[word];
        for (unsigned i = 0; i < count; i++)
            left &= o->has[order[i] * o->words + word];
        sum += (uint64_t)__builtin_popcountll(left);
    }
    return sum;
}

/* The best one or two that no class has that passes: those that most have that fail. Returns how many; 0: none do. */
static unsigned find_few(const struct orders *o, unsigned *order)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < o->count; i++) {
        uint64_t classes = have(o, o->passing, &i, 1) ? 0 : have(o, o->failing, &i, 1);
        if (classes > most) {
            most = classes;
            order[0] = i;
        }
    }
    if (most)
        return 1;
    for (unsigned i = 0; i < o->count; i++)
        for (unsigned j = i + 1; j < o->count; j++) {
            unsigned both[2] = { i, j };
            uint64_t classes = have(o, o->passing, both, 2) ? 0 : have(o, o->failing, both, 2);
            if (classes > most) {
                most = classes;
                memcpy(order, both, sizeof both);
            }
        }
    return most ? 2 : 0;
}

/* More than two, each the one that leaves the fewest of those that pass. */
static unsigned find_more(const struct orders *o, unsigned *order)
{
    unsigned count = 0;
    uint64_t left = have(o, o->passing, order, 0);
    while (left && count < PCT_SEPARATION_ORDERS) {
        uint64_t before = left;
        for (unsigned i = 0; i < o->count; i++) {
            unsigned tried[PCT_SEPARATION_ORDERS];
            memcpy(tried, order, count * sizeof *order);
            tried[count] = i;
            uint64_t leaves = have(o, o->passing, tried, count + 1);
            if (leaves < left) {
                left = leaves;
                order[count] = i;
            }
        }
        if (left == before)
            return 0;
        count++;
    }
    return left ? 0 : count;
}

static struct pct_separated describe(const struct class_ *c, uint32_t event)
{
    const struct pct_event *e = &c->event[event];
    struct pct_separated d = { .thread = e->thread, .op = e->op, .pending = event >= c->count };
    for (uint32_t i = 0; i < event; i++)
        d.nth += c->event[i].thread == e->thread && c->event[i].op == e->op;
    return d;
}

bool pct_separation_find(const struct pct_separation *s, uint64_t failure, struct pct_separating *found)
{
    const struct class_ *base = s->full ? NULL : first_of(s, failure);
    struct orders *o = base ? calloc(1, sizeof *o) : NULL;
    *found = (struct pct_separating){ 0 };
    if (!o)
        return false;
    unsigned order[PCT_SEPARATION_ORDERS] = { 0 };
    o->s = s;
    o->base = base;
    if (open_orders(o)) {
        found->orders = find_few(o, order);
        if (!found->orders)
            found->orders = find_more(o, order);
        found->classes = have(o, o->failing, order, found->orders);
        found->failing = have(o, o->failing, order, 0);
        found->passing = have(o, o->passing, order, 0);
    }
    for (unsigned i = 0; i < found->orders; i++)
        found->order[i] =
            (struct pct_separating_order){ describe(base, o->first[order[i]]), describe(base, o->then[order[i]]) };
    close_orders(o);
    return found->orders && found->passing;
}
