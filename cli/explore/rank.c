/* RankChecker's tuples: see rank.h. */
#include "rank.h"
#include <pct/operations.h>
#include <pct/random.h>
#include <pct/strategy.h>
#include <stdio.h>
#include <stdlib.h>

enum { TWO = 3 }; /* orders 0 and 1 */

/* --- Orders of priorities ----------------------------------------------------------------------------------------- */

static bool above(const struct pct_rank_orders *orders, uint32_t order, uint32_t a, uint32_t b)
{
    return orders->above[order][b] >> a & 1;
}

static void fill(struct pct_rank_orders *orders, uint32_t order)
{
    for (uint32_t b = 0; b < orders->threads; b++) {
        orders->above[order][b] = 0;
        for (uint32_t a = 0; a < orders->threads; a++)
            if (pct_plan_priority(order, a) > pct_plan_priority(order, b))
                orders->above[order][b] |= UINT64_C(1) << a;
    }
}

/* Note the threads that stand one below the other here. Returns whether any three have not done so before. met: by the
 * second and third: the first. */
static bool meets(const struct pct_rank_orders *orders, uint32_t order, uint64_t *met)
{
    bool fresh = false;
    for (uint32_t third = 0; third < orders->threads; third++)
        for (uint32_t second = 0; second < orders->threads; second++) {
            if (!above(orders, order, second, third))
                continue;
            uint64_t *firsts = &met[second * PCT_RANK_ORDERS + third];
            fresh |= (orders->above[order][second] & ~*firsts) != 0;
            *firsts |= orders->above[order][second];
        }
    return fresh;
}

int pct_rank_choose_orders(struct pct_rank_orders *orders, uint32_t threads)
{
    if (threads > PCT_EXECUTION_SETS)
        threads = PCT_EXECUTION_SETS;
    if (orders->threads >= threads)
        return 0;
    uint64_t *met = calloc((size_t)PCT_RANK_ORDERS * PCT_RANK_ORDERS, sizeof *met);
    if (!met)
        return -1;
    orders->threads = threads;
    orders->three = 0;
    for (uint32_t order = 0; order < PCT_RANK_ORDERS; order++) {
        fill(orders, order);
        if (meets(orders, order, met) || order < 2)
            orders->three |= UINT64_C(1) << order;
    }
    free(met);
    return 0;
}

/* Those of `orders` in which this thread is the first of the set. */
static uint64_t led_by(const struct pct_rank_orders *orders, uint64_t set, uint32_t thread)
{
    uint64_t led = 0;
    if (thread >= orders->threads)
        return 0;
    for (uint32_t order = 0; order < PCT_RANK_ORDERS; order++)
        if (orders->three >> order & 1 && !(orders->above[order][thread] & set))
            led |= UINT64_C(1) << order;
    return led;
}

/* --- Paths -------------------------------------------------------------------------------------------------------- */

struct pct_rank_path pct_rank_begin(const struct pct_rank_orders *orders)
{
    return (struct pct_rank_path){ .tuple = { .t = 2, .l = 1 }, .orders = orders->three };
}

static uint8_t threads_of(const struct pct_rank_path *path)
{
    uint8_t here = path->orders & TWO ? 2 : path->orders ? 3 : PCT_RANK_ANY;
    return here > path->tuple.t ? here : path->tuple.t;
}

/* What the thread was about to do behind the first `at` events. */
static const struct pct_event *pending(const struct pct_execution *x, uint32_t at, uint32_t thread)
{
    for (uint32_t i = at; i < x->count; i++)
        if (x->event[i].thread == thread)
            return &x->event[i];
    return &x->pending[thread].event;
}

static uint64_t object_of(const struct pct_event *event)
{
    return event->own ? event->touch[0].key : 0;
}

static void count_variable(struct pct_rank_path *path, uint64_t key)
{
    for (unsigned i = 0; i < path->tuple.v; i++)
        if (path->variable[i] == key)
            return;
    if (path->tuple.v < PCT_RANK_VARIABLES)
        path->variable[path->tuple.v++] = key;
}

static void preempt(struct pct_rank_path *path, const struct pct_rank_orders *orders, const struct pct_execution *x,
                    uint32_t at)
{
    uint32_t thread = x->event[at - 1].thread, times = 1;
    const struct pct_event *next = pending(x, at, thread);
    for (uint32_t i = 0; i < at && times < UINT8_MAX; i++)
        times += x->event[i].thread == thread && x->event[i].op == next->op && x->event[i].place == next->place &&
                 object_of(&x->event[i]) == object_of(next);
    path->tuple.t = threads_of(path);
    path->tuple.c++;
    if (path->tuple.l < times)
        path->tuple.l = (uint8_t)times;
    if (pct_operation_accesses(next->op))
        count_variable(path, object_of(next));
    path->orders = orders->three;
    path->lowest = thread + 1;
}

void pct_rank_step(struct pct_rank_path *path, const struct pct_rank_orders *orders, const struct pct_execution *x,
                   uint32_t at, uint32_t thread, bool preempts)
{
    uint32_t running = at ? x->event[at - 1].thread : thread;
    if (thread == running)
        return;
    if (preempts)
        preempt(path, orders, x, at);
    uint64_t set = x->ready[at] & ~(UINT64_C(1) << running), bit = UINT64_C(1) << thread;
    uint64_t others = path->lowest ? set & ~(UINT64_C(1) << (path->lowest - 1)) : set;
    if (!(set & bit))
        return; /* its deadline comes */
    if (others & bit)
        path->orders &= led_by(orders, others, thread);
    else if (others)
        path->orders = 0;
}

struct pct_tuple pct_rank_tuple(const struct pct_rank_path *path)
{
    struct pct_tuple tuple = path->tuple;
    tuple.t = threads_of(path);
    return tuple;
}

uint32_t pct_rank_order(const struct pct_rank_path *path, uint32_t order)
{
    uint64_t of_two = path->orders & TWO ? path->orders & TWO : path->orders;
    if (!of_two || of_two >> order & 1)
        return order;
    return (uint32_t)__builtin_ctzll(of_two);
}

/* --- Tiers -------------------------------------------------------------------------------------------------------- */

enum { ALL = 255, LEVEL = 64, LATER = 16, NO_ORDER = 32 };

/* The first of the sequence that allows so much. */
static uint32_t find(const uint8_t (*sequence)[3], uint32_t count, unsigned c, unsigned v, unsigned t)
{
    uint32_t i = 0;
    while (i < count && (sequence[i][0] < c || sequence[i][1] < v || sequence[i][2] < t))
        i++;
    return i;
}

uint32_t pct_rank_tier(struct pct_tuple tuple)
{
    static const uint8_t papers[][3] = { { 0, 0, 2 },   { 1, 0, 2 }, { 1, 1, 2 },  { 1, ALL, 2 },
                                         { 2, 0, 2 },   { 2, 1, 2 }, { 0, 0, 3 },  { 1, ALL, 3 },
                                         { 2, ALL, 2 }, { 2, 1, 3 }, { 2, ALL, 3 } };
    static const uint8_t more[][3] = { { 3, 0, 2 }, { 3, 1, 2 }, { 3, ALL, 2 }, { 3, 1, 3 }, { 3, ALL, 3 } };
    bool any = tuple.t == PCT_RANK_ANY, few = tuple.c <= 2;
    unsigned t = any ? 3 : tuple.t;
    uint32_t level = (few ? 0 : tuple.c - 2u) + tuple.l - 1u;
    uint32_t place = few ? find(papers, sizeof papers / sizeof *papers, tuple.c, tuple.v, t)
                         : find(more, sizeof more / sizeof *more, 3, tuple.v, t);
    place += few && tuple.l > 1 ? LATER : 0;
    return level * LEVEL + place + (any ? NO_ORDER : 0);
}

void pct_rank_format(char *text, size_t size, struct pct_tuple tuple)
{
    if (tuple.t == PCT_RANK_ANY)
        snprintf(text, size, "(%u, %u, any, %u)", tuple.c, tuple.v, tuple.l);
    else
        snprintf(text, size, "(%u, %u, %u, %u)", tuple.c, tuple.v, tuple.t, tuple.l);
}
