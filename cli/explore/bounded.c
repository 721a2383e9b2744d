/* Bounded exploration: see bounded.h.
 *
 * A preemption is a switch away from a thread that could go on, unless it yields. The state behind a beginning of a
 * schedule is known by what happened before what in it: the sum of hashes of its events and their clocks. */
#include "bounded.h"
#include "order.h"
#include "polling.h"
#include "states.h"
#include "waiting.h"
#include <pct/operations.h>
#include <errno.h>
#include <pct/strategy.h>
#include <stdlib.h>
#include <string.h>

struct pct_bounded {
    struct pct_waiting waiting;
    uint64_t by_preemptions[PCT_BOUND_MAX + 1]; /* how many wait */
    struct pct_states states;                   /* each with the fewest preemptions with which it was gone on from */
    struct pct_states classes;
    struct pct_beginning now;
    struct pct_rank_orders orders;
    struct pct_tuple tuple; /* of the last run */
    int64_t pushed;
    struct pct_endless endless;
    uint64_t untried; /* one more round of a loop that has any number of them, */
    uint32_t loop;    /* which is here in the code */
    unsigned bound;
    bool began, by_rank;
};

struct pct_bounded *pct_bounded_new(unsigned bound, bool by_rank)
{
    struct pct_bounded *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->bound = bound;
    b->by_rank = by_rank;
    return b;
}

void pct_bounded_free(struct pct_bounded *b)
{
    if (!b)
        return;
    pct_waiting_free(&b->waiting);
    pct_states_free(&b->states);
    pct_states_free(&b->classes);
    free(b->now.plan);
    free(b);
}

uint64_t pct_bounded_open(const struct pct_bounded *b)
{
    return b->waiting.count;
}

struct pct_tuple pct_bounded_tuple(const struct pct_bounded *b)
{
    return b->tuple;
}

uint64_t pct_bounded_untried(const struct pct_bounded *b, uint32_t *loop)
{
    *loop = b->loop;
    return b->untried;
}

/* How the run goes on behind its beginning stands behind that. Returns how much both are. */
static uint32_t complete(const struct pct_beginning *item)
{
    if (!item->order && !item->lowest)
        return item->count;
    item->plan[item->count] = PCT_PLAN_THEN(item->order, item->lowest);
    return item->count + 1;
}

bool pct_bounded_next(struct pct_bounded *b, const uint32_t **plan, uint32_t *count, unsigned *below)
{
    free(b->now.plan);
    b->now = (struct pct_beginning){ 0 };
    *below = 0;
    while (b->began && *below <= b->bound && !b->by_preemptions[*below])
        ++*below;
    if (b->began && !b->waiting.count)
        return false;
    if (b->began) {
        b->now = pct_waiting_pop(&b->waiting);
        b->by_preemptions[b->now.preemptions]--;
    }
    b->began = true;
    *plan = b->now.plan;
    *count = complete(&b->now);
    return true;
}

bool pct_bounded_ahead(struct pct_bounded *b, const uint32_t **plan, uint32_t *count)
{
    for (size_t i = 0; i < b->waiting.count; i++) {
        struct pct_beginning *item = &b->waiting.at[i];
        if (item->ahead)
            continue;
        item->ahead = true;
        *plan = item->plan;
        *count = complete(item);
        return true;
    }
    return false;
}

/* When the beginning comes: by preemptions, the last one found first; or by its tuple, those without a preemption more
 * than this run first. */
static void place(struct pct_bounded *b, struct pct_beginning *item, const struct pct_rank_path *path, bool preempts)
{
    b->pushed++;
    item->tier = item->preemptions;
    item->place = -b->pushed;
    if (!b->by_rank)
        return;
    item->tier = pct_rank_tier(pct_rank_tuple(path));
    item->place = preempts ? b->pushed : b->pushed - INT64_MAX / 2;
    item->order = pct_rank_order(path, b->now.order);
    item->lowest = path->lowest;
}

/* The run's first `at` events, and then this one; path: led to there. */
static int push(struct pct_bounded *b, const struct pct_execution *x, uint32_t at, uint32_t next, bool preempts,
                const struct pct_rank_path *path, unsigned preemptions)
{
    struct pct_rank_path here = *path;
    struct pct_beginning item = { .count = at + 1, .preemptions = preemptions };
    pct_rank_step(&here, &b->orders, x, at, PCT_PLAN_THREAD(next), preempts);
    if (PCT_PLAN_WAITER(next) > 1 && here.tuple.t < 3)
        here.tuple.t = 3; /* who signals, and two that wait */
    place(b, &item, &here, preempts);
    item.plan = malloc((at + 2) * sizeof *item.plan);
    if (!item.plan)
        return -ENOMEM;
    for (uint32_t i = 0; i < at; i++)
        item.plan[i] = PCT_PLAN(x->event[i].thread, x->event[i].chosen + 1u);
    item.plan[at] = next;
    int failed = pct_waiting_push(&b->waiting, &item);
    b->by_preemptions[preemptions] += !failed;
    return failed;
}

/* Whether to let this thread go on behind the first `at` events is a preemption. */
static bool preempts(const struct pct_execution *x, uint32_t at, uint32_t thread)
{
    if (!at || x->event[at - 1].thread == thread || x->event[at - 1].op == PCT_OP_YIELD)
        return false;
    return x->ready[at] >> x->event[at - 1].thread & 1;
}

/* Whether this event, behind the first `at`, is one more round of an endless loop that counts them, or tries again what
 * its thread has tried in vain so often. */
static bool is_round(const struct pct_bounded *b, const struct pct_execution *x, uint32_t at,
                     const struct pct_event *event)
{
    uint32_t rounds = 0;
    bool more = pct_operation_tries(event->op);
    while (more && at--)
        more = pct_polling_back(&x->event[at], event, &rounds);
    return rounds == PCT_POLLING_FOLLOWED || pct_endless_has(&b->endless, event);
}

/* What this thread would have done in the place of event `at` is such a round, or comes in between those: that is not
 * tried. */
static bool is_cut(struct pct_bounded *b, const struct pct_execution *x, uint32_t at, uint32_t thread)
{
    uint32_t next = at;
    while (next < x->count && x->event[next].thread != thread)
        next++;
    const struct pct_event *event = next < x->count ? &x->event[next] : &x->pending[thread].event;
    const struct pct_event *loop = is_round(b, x, at, event) ? event : &x->event[at];
    if (loop != event && !is_round(b, x, at, loop))
        return false;
    b->untried++;
    b->loop = loop->place;
    return true;
}

/* What else could have been done in the place of event `at`, with this many preemptions before. */
static int branch(struct pct_bounded *b, const struct pct_execution *x, uint32_t at, const struct pct_rank_path *path,
                  unsigned preemptions)
{
    const struct pct_event *made = &x->event[at];
    int failed = 0;
    for (uint32_t thread = 0; thread < PCT_EXECUTION_SETS && !failed; thread++) {
        bool preempted = preempts(x, at, thread);
        if (thread != made->thread && x->enabled[at] >> thread & 1 && preemptions + preempted <= b->bound &&
            !is_cut(b, x, at, thread))
            failed = push(b, x, at, PCT_PLAN(thread, 1), preempted, path, preemptions + preempted);
    }
    bool preempted = preempts(x, at, made->thread);
    for (uint32_t waiter = 0; waiter < made->choices && !failed && preemptions + preempted <= b->bound; waiter++)
        if (waiter != made->chosen)
            failed = push(b, x, at, PCT_PLAN(made->thread, waiter + 1), preempted, path, preemptions + preempted);
    return failed;
}

static bool begins_alike(const struct pct_beginning *item, const struct pct_execution *x)
{
    for (uint32_t i = 0; i < item->count; i++)
        if (i >= x->count || x->event[i].thread != PCT_PLAN_THREAD(item->plan[i]))
            return false;
    return true;
}

static int expand(struct pct_bounded *b, const struct pct_execution *x, const struct pct_order *order)
{
    struct pct_rank_path path = pct_rank_begin(&b->orders);
    uint64_t state = 0;
    unsigned preemptions = 0;
    bool known = false;
    for (uint32_t i = 0; i < x->count; i++) {
        uint64_t key = state + (i ? x->event[i - 1].thread + 1u : 0) * UINT64_C(0xd1342543de82ef95);
        int fresh = i < b->now.count || known ? 1 : pct_states_note(&b->states, key, preemptions);
        if (fresh < 0)
            return fresh;
        known |= !fresh;
        int failed = i < b->now.count || known ? 0 : branch(b, x, i, &path, preemptions);
        if (failed)
            return failed;
        bool preempted = preempts(x, i, x->event[i].thread);
        pct_rank_step(&path, &b->orders, x, i, x->event[i].thread, preempted);
        if (x->event[i].chosen && path.tuple.t < 3)
            path.tuple.t = 3;
        preemptions += preempted;
        state += pct_order_hash(order, i);
    }
    b->tuple = pct_rank_tuple(&path);
    return 0;
}

int pct_bounded_take(struct pct_bounded *b, struct pct_execution *x, uint64_t *class_)
{
    struct pct_order order;
    if (!begins_alike(&b->now, x))
        return -EINVAL;
    if (pct_rank_choose_orders(&b->orders, x->threads))
        return -ENOMEM;
    int failed = pct_order_make(&order, x);
    if (failed)
        return failed;
    x->doubts |= (uint32_t)order.freed_early << PCT_DOUBT_FREED;
    *class_ = pct_order_class(&order);
    pct_endless_note(&b->endless, x);
    failed = expand(b, x, &order);
    pct_order_free(&order);
    return failed < 0 ? failed : pct_states_note(&b->classes, *class_, 0);
}
