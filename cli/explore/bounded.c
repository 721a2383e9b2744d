/* Bounded exploration: see bounded.h.
 *
 * A preemption is a switch away from a thread that could go on, unless it yields. The state behind a beginning of a
 * schedule is known by what happened before what in it: the sum of hashes of its events and their clocks. */
#include "bounded.h"
#include "order.h"
#include <errno.h>
#include <pct/strategy.h>
#include <stdlib.h>
#include <string.h>

/* A beginning that is to be gone on with. */
struct item {
    uint32_t *plan;
    uint32_t count;
};

struct stack {
    struct item *item;
    size_t count, room;
};

/* States by hash, open addressing; key 0: none. */
struct table {
    uint64_t *key;
    uint8_t *fewest; /* preemptions with which it was gone on from */
    size_t count, room;
};

struct pct_bounded {
    struct stack waiting[PCT_BOUND_MAX + 1]; /* by preemptions */
    struct table states, classes;
    struct item now;
    unsigned bound, at;
    bool began;
};

struct pct_bounded *pct_bounded_new(unsigned bound)
{
    struct pct_bounded *b = calloc(1, sizeof *b);
    if (b)
        b->bound = bound;
    return b;
}

void pct_bounded_free(struct pct_bounded *b)
{
    if (!b)
        return;
    for (unsigned i = 0; i <= PCT_BOUND_MAX; i++) {
        for (size_t k = 0; k < b->waiting[i].count; k++)
            free(b->waiting[i].item[k].plan);
        free(b->waiting[i].item);
    }
    free(b->states.key);
    free(b->states.fewest);
    free(b->classes.key);
    free(b->classes.fewest);
    free(b->now.plan);
    free(b);
}

uint64_t pct_bounded_open(const struct pct_bounded *b)
{
    uint64_t open = 0;
    for (unsigned i = 0; i <= b->bound; i++)
        open += b->waiting[i].count;
    return open;
}

static size_t place_of(const struct table *t, uint64_t key)
{
    size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (t->room - 1);
    while (t->key[i] && t->key[i] != key)
        i = (i + 1) & (t->room - 1);
    return i;
}

static bool grow(struct table *t)
{
    struct table more = { .room = t->room ? 2 * t->room : 1024, .count = t->count };
    more.key = calloc(more.room, sizeof *more.key);
    more.fewest = calloc(more.room, sizeof *more.fewest);
    if (!more.key || !more.fewest) {
        free(more.key);
        free(more.fewest);
        return false;
    }
    for (size_t i = 0; i < t->room; i++)
        if (t->key[i]) {
            size_t at = place_of(&more, t->key[i]);
            more.key[at] = t->key[i];
            more.fewest[at] = t->fewest[i];
        }
    free(t->key);
    free(t->fewest);
    *t = more;
    return true;
}

/* Note that the state was come to with so many preemptions. Returns 1: never with so few before; 0: it was; -ENOMEM. */
static int note(struct table *t, uint64_t key, unsigned preemptions)
{
    key += !key;
    if (2 * (t->count + 1) > t->room && !grow(t))
        return -ENOMEM;
    size_t at = place_of(t, key);
    if (t->key[at] && t->fewest[at] <= preemptions)
        return 0;
    t->count += !t->key[at];
    t->key[at] = key;
    t->fewest[at] = (uint8_t)preemptions;
    return 1;
}

bool pct_bounded_next(struct pct_bounded *b, const uint32_t **plan, uint32_t *count, unsigned *below)
{
    free(b->now.plan);
    b->now = (struct item){ 0 };
    while (b->began && b->at <= b->bound && !b->waiting[b->at].count)
        b->at++;
    *below = b->at;
    if (b->at > b->bound)
        return false;
    if (b->began)
        b->now = b->waiting[b->at].item[--b->waiting[b->at].count];
    b->began = true;
    *plan = b->now.plan;
    *count = b->now.count;
    return true;
}

/* The run's first `at` events, and then this one. */
static int push(struct pct_bounded *b, const struct pct_execution *x, uint32_t at, uint32_t place, unsigned preemptions)
{
    struct stack *s = &b->waiting[preemptions];
    if (s->count == s->room) {
        size_t room = 2 * s->room + 64;
        struct item *more = realloc(s->item, room * sizeof *more);
        if (!more)
            return -ENOMEM;
        s->item = more;
        s->room = room;
    }
    uint32_t *plan = malloc((at + 1) * sizeof *plan);
    if (!plan)
        return -ENOMEM;
    for (uint32_t i = 0; i < at; i++)
        plan[i] = PCT_PLAN(x->event[i].thread, x->event[i].chosen + 1u);
    plan[at] = place;
    s->item[s->count++] = (struct item){ .plan = plan, .count = at + 1 };
    return 0;
}

/* Whether to let this thread go on behind the first `at` events is a preemption. */
static bool preempts(const struct pct_execution *x, uint32_t at, uint32_t thread)
{
    if (!at || x->event[at - 1].thread == thread || x->event[at - 1].op == PCT_OP_YIELD)
        return false;
    return x->ready[at] >> x->event[at - 1].thread & 1;
}

/* What else could have been done in the place of event `at`, with so many preemptions before. */
static int branch(struct pct_bounded *b, const struct pct_execution *x, uint32_t at, unsigned preemptions)
{
    const struct pct_event *made = &x->event[at];
    int failed = 0;
    for (uint32_t thread = 0; thread < PCT_EXECUTION_SETS && !failed; thread++) {
        unsigned all = preemptions + preempts(x, at, thread);
        if (thread != made->thread && x->enabled[at] >> thread & 1 && all <= b->bound)
            failed = push(b, x, at, PCT_PLAN(thread, 1), all);
    }
    unsigned all = preemptions + preempts(x, at, made->thread);
    for (uint32_t waiter = 0; waiter < made->choices && !failed && all <= b->bound; waiter++)
        if (waiter != made->chosen)
            failed = push(b, x, at, PCT_PLAN(made->thread, waiter + 1), all);
    return failed;
}

static bool begins_alike(const struct item *item, const struct pct_execution *x)
{
    for (uint32_t i = 0; i < item->count; i++)
        if (i >= x->count || x->event[i].thread != PCT_PLAN_THREAD(item->plan[i]))
            return false;
    return true;
}

static int expand(struct pct_bounded *b, const struct pct_execution *x, const struct pct_order *order)
{
    uint64_t state = 0;
    unsigned preemptions = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        uint64_t key = state + (i ? x->event[i - 1].thread + 1u : 0) * UINT64_C(0xd1342543de82ef95);
        int fresh = i < b->now.count ? 1 : note(&b->states, key, preemptions);
        if (fresh <= 0)
            return fresh;
        int failed = i < b->now.count ? 0 : branch(b, x, i, preemptions);
        if (failed)
            return failed;
        preemptions += preempts(x, i, x->event[i].thread);
        state += pct_order_hash(order, i);
    }
    return 0;
}

int pct_bounded_take(struct pct_bounded *b, const struct pct_execution *x, uint64_t *class_)
{
    struct pct_order order;
    if (!begins_alike(&b->now, x))
        return -EINVAL;
    int failed = pct_order_make(&order, x);
    if (failed)
        return failed;
    *class_ = pct_order_class(&order);
    failed = expand(b, x, &order);
    pct_order_free(&order);
    return failed < 0 ? failed : note(&b->classes, *class_, 0);
}
