/* See lock_cycles.h. An edge is a lock that a thread takes while it holds another one; a cycle is two or three edges of
 * as many threads, each of which takes what the next one holds. */
#include "lock_cycles.h"
#include "orderings.h"
#include "orders.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONGEST = 3,   /* edges of a cycle */
    KINDS = 8,     /* cycles of each length that are looked for */
    INSTANCES = 4, /* edges of a thread between the same two locks: the first ones and the last */
    MOST_EDGES = 4096,
    MOST_COMPARED = 1 << 20,
    MOST_STEPS = 1 << 18
};

struct edge {
    uint32_t thread, lockset;
    uint64_t from, to;     /* locks */
    uint32_t held, wanted; /* accesses that took them */
    uint32_t outermost;    /* the one that took the first of all locks that it holds then */
    uint32_t count;        /* of these */
    bool from_shared, to_shared;
};

/* A cycle of the run, once for each try. */
struct attempt {
    struct edge edge[LONGEST];
    unsigned length, rank; /* rank: which try of its cycle it is, from 0 */
    bool meets;            /* the threads first come to where each takes its outermost lock */
};

struct finder {
    const struct pct_trace *trace;
    const struct pct_access *accesses;
    struct pct_orderings orderings;
    struct edge *edge;
    size_t edges;
    struct attempt attempt[PCT_LOCK_CYCLES_MOST];
    size_t attempts;
    unsigned kinds[LONGEST + 1]; /* cycles of this length */
    uint64_t compared;
};

static bool takes(unsigned op)
{
    return op == PCT_OP_MUTEX_LOCK || op == PCT_OP_SPIN_LOCK || op == PCT_OP_RWLOCK_RDLOCK ||
           op == PCT_OP_RWLOCK_WRLOCK;
}

static bool tries(unsigned op)
{
    return op == PCT_OP_MUTEX_TRYLOCK || op == PCT_OP_SPIN_TRYLOCK || op == PCT_OP_RWLOCK_TRYRDLOCK ||
           op == PCT_OP_RWLOCK_TRYWRLOCK;
}

static bool gives(unsigned op)
{
    return op == PCT_OP_MUTEX_UNLOCK || op == PCT_OP_SPIN_UNLOCK || op == PCT_OP_RWLOCK_UNLOCK;
}

bool pct_lock_cycles_may_be(const struct pct_trace *trace)
{
    const bool long_one = trace->count > MOST_STEPS;
    size_t threads = 0;
    for (uint64_t i = 0; !long_one && i < trace->count; i++)
        if (PCT_RECORD_THREAD(trace->records[i]) >= threads)
            threads = (size_t)PCT_RECORD_THREAD(trace->records[i]) + 1;
    uint16_t *held = long_one ? NULL : calloc(threads + 1, sizeof *held); /* by thread */
    bool nested = false;
    for (uint64_t i = 0; held && i < trace->count && !nested; i++) {
        uint16_t *by = &held[PCT_RECORD_THREAD(trace->records[i])];
        unsigned op = PCT_RECORD_OP(trace->records[i]);
        if (gives(op))
            *by -= *by > 0;
        else if ((takes(op) || tries(op)) && !pct_orderings_failed(trace->records[i]))
            nested = (*by)++ && takes(op);
    }
    free(held);
    return nested;
}

/* --- Edges -------------------------------------------------------------------------------------------------------- */

static int by_kind(const struct edge *x, const struct edge *y)
{
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->from_shared != y->from_shared || x->to_shared != y->to_shared)
        return x->from_shared * 2 + x->to_shared - y->from_shared * 2 - y->to_shared;
    return (x->count > y->count) - (x->count < y->count);
}

static int compare(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    int kind = by_kind(x, y);
    return kind ? kind : (x->wanted > y->wanted) - (x->wanted < y->wanted);
}

/* Those of an access, if it may have waited. */
static void add_edges(struct finder *f, size_t at)
{
    const struct pct_access *access = &f->accesses[at];
    const struct pct_lockset *set = &f->orderings.locksets[f->orderings.lockset[at]];
    bool again = !takes(access->op) || pct_orderings_failed(f->trace->records[access->index]);
    for (uint32_t i = 0; i < set->count; i++)
        again = again || set->section[i].lock == access->object;
    for (uint32_t i = 0; i < set->count && !again; i++)
        f->edge[f->edges++] = (struct edge){ .thread = access->thread,
                                             .lockset = f->orderings.lockset[at],
                                             .from = set->section[i].lock,
                                             .to = access->object,
                                             .held = set->section[i].by,
                                             .wanted = (uint32_t)at,
                                             .outermost = set->section[0].by,
                                             .count = set->count,
                                             .from_shared = set->section[i].shared,
                                             .to_shared = access->op == PCT_OP_RWLOCK_RDLOCK };
}

/* Of many edges of a kind, few are enough. */
static void thin_out(struct finder *f)
{
    size_t kept = 0;
    qsort(f->edge, f->edges, sizeof *f->edge, compare);
    for (size_t i = 0, same = 0; i < f->edges && kept < MOST_EDGES; i++) {
        same = i && !by_kind(&f->edge[i - 1], &f->edge[i]) ? same + 1 : 0;
        if (same < INSTANCES)
            f->edge[kept++] = f->edge[i];
        else
            f->edge[kept - 1] = f->edge[i];
    }
    f->edges = kept;
}

/* Whether the thread of one waits for what the other holds. */
static bool waits_for(const struct edge *e, const struct edge *other)
{
    return e->to == other->from && !(e->to_shared && other->from_shared);
}

/* Whether one has taken its second lock before the other can take its first, whatever the schedule is. */
static bool is_before(const struct finder *f, const struct edge *e, const struct edge *other)
{
    return pct_orderings_before(&f->orderings, e->thread, f->accesses[e->wanted].number,
                                f->orderings.clock[other->held]);
}

static bool can_meet(const struct finder *f, const struct edge *a, const struct edge *b)
{
    const struct pct_lockset *sets = f->orderings.locksets;
    return a->thread != b->thread && !pct_locksets_exclude(&sets[a->lockset], &sets[b->lockset]) &&
           !is_before(f, a, b) && !is_before(f, b, a);
}

/* --- Cycles ------------------------------------------------------------------------------------------------------- */

static bool is_same(const struct attempt *a, const struct attempt *b, bool threads)
{
    bool same = false;
    for (unsigned turn = 0; turn < a->length && a->length == b->length && !same; turn++) {
        same = true;
        for (unsigned i = 0; i < a->length; i++) {
            const struct edge *x = &a->edge[i], *y = &b->edge[(i + turn) % a->length];
            same = same && x->from == y->from && (!threads || x->thread == y->thread);
        }
    }
    return same;
}

/* Whether the same threads take these locks at the same steps. */
static bool is_at_same(const struct attempt *a, const struct attempt *b)
{
    bool same = is_same(a, b, true);
    for (unsigned i = 0; i < a->length && same; i++)
        same = a->edge[i].held == b->edge[i].held && a->edge[i].wanted == b->edge[i].wanted;
    return same;
}

/* One more way to force a cycle. At first, other threads are wanted of each; then other places of the same ones. */
static void add(struct finder *f, struct attempt attempt, bool same_threads)
{
    for (size_t i = 0; i < f->attempts; i++) {
        attempt.rank += is_same(&f->attempt[i], &attempt, false);
        if (same_threads ? is_at_same(&f->attempt[i], &attempt) : is_same(&f->attempt[i], &attempt, true))
            return;
    }
    if (attempt.rank >= PCT_LOCK_CYCLE_TRIES || f->attempts == PCT_LOCK_CYCLES_MOST ||
        (!attempt.rank && f->kinds[attempt.length] == KINDS))
        return;
    f->kinds[attempt.length] += !attempt.rank;
    f->attempt[f->attempts++] = attempt;
}

static void find(struct finder *f, bool same_threads, unsigned length)
{
    for (size_t i = 0; i < f->edges; i++) {
        const struct edge *a = &f->edge[i];
        for (size_t j = 0; j < f->edges && f->compared < MOST_COMPARED; j++, f->compared++) {
            const struct edge *b = &f->edge[j];
            if (b->thread <= a->thread || !waits_for(a, b) || !can_meet(f, a, b))
                continue;
            if (length == 2 && waits_for(b, a))
                add(f, (struct attempt){ .edge = { *a, *b }, .length = 2, .meets = true }, same_threads);
            for (size_t k = 0; length == 3 && k < f->edges; k++, f->compared++) {
                const struct edge *c = &f->edge[k];
                if (c->thread > a->thread && waits_for(b, c) && waits_for(c, a) && can_meet(f, b, c) &&
                    can_meet(f, c, a))
                    add(f, (struct attempt){ .edge = { *a, *b, *c }, .length = 3, .meets = true }, same_threads);
            }
        }
    }
}

/* Where a cycle has tries left, the first of it without a meeting: its threads may not come there together. */
static void add_direct(struct finder *f)
{
    size_t found = f->attempts;
    for (size_t i = 0; i < found && f->attempts < PCT_LOCK_CYCLES_MOST; i++) {
        struct attempt direct = f->attempt[i];
        if (direct.rank)
            continue;
        direct.meets = false;
        for (size_t j = 0; j < f->attempts; j++)
            direct.rank += is_same(&f->attempt[j], &direct, false);
        if (direct.rank < PCT_LOCK_CYCLE_TRIES)
            f->attempt[f->attempts++] = direct;
    }
}

/* --- As lists ----------------------------------------------------------------------------------------------------- */

/* The operation of this record, as `order` counts it. */
static struct pct_event event_at(const struct pct_trace *trace, uint64_t index)
{
    uint64_t record = trace->records[index];
    struct pct_event event = { .thread = PCT_RECORD_THREAD(record), .op = PCT_RECORD_OP(record) };
    for (uint64_t i = 0; i <= index; i++)
        event.count +=
            PCT_RECORD_THREAD(trace->records[i]) == event.thread && PCT_RECORD_OP(trace->records[i]) == event.op;
    return event;
}

/* The one that its thread makes before this; op 0: none. */
static struct pct_event event_before(const struct pct_trace *trace, uint64_t index)
{
    uint32_t thread = PCT_RECORD_THREAD(trace->records[index]);
    while (index--) {
        uint64_t record = trace->records[index];
        if (PCT_RECORD_THREAD(record) == thread && !PCT_RECORD_HAS_TIME(record) &&
            PCT_RECORD_OP(record) != PCT_OP_STUCK)
            return event_at(trace, index);
    }
    return (struct pct_event){ .thread = thread };
}

static char *format(const struct finder *f, const struct attempt *a)
{
    struct pct_order item[LONGEST * LONGEST];
    struct pct_orders orders = { .item = item };
    bool keep[LONGEST * LONGEST];
    memset(keep, true, sizeof keep);
    for (unsigned i = 0; i < a->length; i++)
        for (unsigned j = 0; a->meets && j < a->length; j++) {
            struct pct_event there = event_before(f->trace, f->accesses[a->edge[i].outermost].index);
            if (i != j && there.op)
                item[orders.count++] =
                    (struct pct_order){ .first = there,
                                        .then = event_at(f->trace, f->accesses[a->edge[j].outermost].index) };
        }
    for (unsigned i = 0; i < a->length; i++)
        item[orders.count++] = (struct pct_order){
            .first = event_at(f->trace, f->accesses[a->edge[(i + 1) % a->length].held].index),
            .then = event_at(f->trace, f->accesses[a->edge[i].wanted].index),
        };
    return pct_orders_format(&orders, keep, SIZE_MAX);
}

static int print(const struct finder *f, struct pct_lock_cycles *cycles)
{
    for (unsigned rank = 0; rank < PCT_LOCK_CYCLE_TRIES; rank++)
        for (size_t i = 0; i < f->attempts; i++) {
            if (f->attempt[i].rank != rank)
                continue;
            char *list = format(f, &f->attempt[i]);
            if (!list)
                return -ENOMEM;
            cycles->list[cycles->count++] = list;
        }
    return 0;
}

int pct_lock_cycles_find(struct pct_lock_cycles *cycles, const struct pct_trace *trace,
                         const struct pct_access *accesses, size_t count)
{
    *cycles = (struct pct_lock_cycles){ .count = 0 };
    struct finder *f = calloc(1, sizeof *f);
    if (!f)
        return -ENOMEM;
    f->trace = trace;
    f->accesses = accesses;
    f->edge = calloc(count * PCT_SECTIONS_MOST + 1, sizeof *f->edge);
    int failed = f->edge ? pct_orderings_read(&f->orderings, trace, accesses, count) : -ENOMEM;
    for (size_t i = 0; i < count && !failed; i++)
        add_edges(f, i);
    if (!failed)
        thin_out(f);
    for (unsigned length = 2; length <= LONGEST && !failed; length++) {
        find(f, false, length);
        find(f, true, length);
    }
    if (!failed) {
        add_direct(f);
        failed = print(f, cycles);
    }
    pct_orderings_free(&f->orderings);
    free(f->edge);
    free(f);
    if (failed)
        pct_lock_cycles_free(cycles);
    return failed;
}

void pct_lock_cycles_free(struct pct_lock_cycles *cycles)
{
    for (size_t i = 0; i < cycles->count; i++)
        free(cycles->list[i]);
    *cycles = (struct pct_lock_cycles){ .count = 0 };
}
