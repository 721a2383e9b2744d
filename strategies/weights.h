/* How many events each thread has left, and a choice among threads in proportion: for the strategies that sample
 * interleavings uniformly (urw.c, surw.c). Called by strategies; a member of their state, zeroed at first.
 *
 * What a run will do is not known beforehand; estimates come as parameters, for instance from a run before:
 *
 *     n0=..,n1=.., ... n15=..   events of the thread with this id
 *     n=..                      of those that are not named
 *
 * A thread whose estimate is used up has one event left, for as long as it lives. The events of threads that are named
 * and do not exist yet are those of the main thread, which is taken to create them: a thread that starts others stands
 * for their events, too, or schedules in which they start early would be too frequent.
 *
 * Sums over threads stand in a Fenwick tree: a choice and a change cost as many steps as log2 of the number of threads
 * that ever existed. For changes of many threads at once, it is made anew. */
#ifndef PCT_STRATEGIES_WEIGHTS_H
#define PCT_STRATEGIES_WEIGHTS_H

#include <pct/layout.h>
#include <pct/random.h>
#include <pct/strategy.h>

enum { PCT_NAMED_COUNTS = 16 };

#define PCT_COUNT_MAX UINT64_C(1000000000000)

/* In the table of parameters: the number of `n` is `at`, the others follow. */
#define PCT_COUNT_PARAM(at, i)                                                                                         \
    [(at) + 1 +                                                                                                        \
        (i)] = { .name = "n" #i, .max = PCT_COUNT_MAX, .help = "the same of thread " #i, .zero = "n", .quiet = true }
#define PCT_COUNT_PARAMS(at, what)                                                                                     \
    [at] = { .name = "n", .default_value = 100, .min = 1, .max = PCT_COUNT_MAX, .help = what },                        \
    PCT_COUNT_PARAM(at, 0), PCT_COUNT_PARAM(at, 1), PCT_COUNT_PARAM(at, 2), PCT_COUNT_PARAM(at, 3),                    \
    PCT_COUNT_PARAM(at, 4), PCT_COUNT_PARAM(at, 5), PCT_COUNT_PARAM(at, 6), PCT_COUNT_PARAM(at, 7),                    \
    PCT_COUNT_PARAM(at, 8), PCT_COUNT_PARAM(at, 9), PCT_COUNT_PARAM(at, 10), PCT_COUNT_PARAM(at, 11),                  \
    PCT_COUNT_PARAM(at, 12), PCT_COUNT_PARAM(at, 13), PCT_COUNT_PARAM(at, 14), PCT_COUNT_PARAM(at, 15)

struct pct_weight {
    uint64_t left;
    uint64_t member; /* the weight with which the thread takes part, 0 if it does not */
    bool made;       /* there was a thread of this id */
    uint8_t role;    /* below PCT_WEIGHTS_ROLES */
};

enum { PCT_WEIGHTS_ROLES = PCT_MOST_ROLES + 1 };

struct pct_weights {
    uint64_t share;   /* an estimate is of this many times the events that matter */
    uint64_t to_come; /* events of threads that do not exist yet */
    uint64_t sum;
    uint64_t sums[PCT_WEIGHTS_ROLES];   /* the same of the threads with each role, */
    uint32_t having[PCT_WEIGHTS_ROLES]; /* and how many these are */
    bool stale;                         /* the tree is not that of the weights any more: the next draw makes it anew */
    uint32_t threads;                   /* that there were: their ids are below */
    uint32_t size;                      /* of the tree: a power of two */
    uint64_t *tree;                     /* from 1 */
    struct pct_weight *of;              /* by thread */
    uint64_t counts[1 + PCT_NAMED_COUNTS];
};

static inline uint64_t pct_weights_share(const struct pct_weights *w, uint64_t events)
{
    return (events + w->share - 1) / w->share;
}

/* For this many threads. */
static inline void pct_weights_lay_out(struct pct_weights *w, struct pct_layout *layout, uint32_t threads)
{
    w->tree = pct_layout_take(layout, 2 * threads + 1, sizeof *w->tree); /* its size is below twice their number */
    w->of = pct_layout_take(layout, threads, sizeof *w->of);
}

/* count: the values of the parameters, from that of `n` on. */
static inline void pct_weights_start(struct pct_weights *w, const uint64_t *count, uint64_t share)
{
    w->share = share;
    w->size = 1;
    for (uint32_t i = 0; i < 1 + PCT_NAMED_COUNTS; i++) {
        w->counts[i] = count[i];
        if (i > 1)
            w->to_come += pct_weights_share(w, count[i]);
    }
}

static inline uint64_t pct_weights_of(const struct pct_weights *w, uint32_t thread)
{
    return (w->of[thread].left ? w->of[thread].left : 1) + (thread ? 0 : w->to_come);
}

static inline void pct_weights_set(struct pct_weights *w, uint32_t thread, uint64_t weight)
{
    uint64_t change = weight - w->of[thread].member; /* modulo 2^64 */
    w->of[thread].member = weight;
    w->sum += change;
    w->sums[w->of[thread].role] += change;
    w->having[w->of[thread].role] += (uint32_t) !!weight - (uint32_t) !!(weight - change);
    for (uint32_t at = thread + 1; at <= w->size && !w->stale; at += at & -at)
        w->tree[at] += change;
}

static inline void pct_weights_insert(struct pct_weights *w, uint32_t thread)
{
    pct_weights_set(w, thread, pct_weights_of(w, thread));
}

static inline void pct_weights_remove(struct pct_weights *w, uint32_t thread)
{
    pct_weights_set(w, thread, 0);
}

/* This many threads are about to be inserted or removed. */
static inline void pct_weights_expect(struct pct_weights *w, uint32_t count)
{
    enum { LEAST = 32 };
    w->stale |= count >= LEAST && count >= w->size / LEAST;
}

static inline void pct_weights_build(struct pct_weights *w)
{
    w->stale = false;
    for (uint32_t at = 1; at <= w->size; at++)
        w->tree[at] = at <= w->threads ? w->of[at - 1].member : 0;
    for (uint32_t at = 1; at < w->size; at++)
        w->tree[at + (at & -at)] += w->tree[at];
}

/* A thread exists from now on; it takes no part yet. Whether its events were the main thread's until now. */
static inline bool pct_weights_create(struct pct_weights *w, uint32_t thread)
{
    for (; w->size <= thread; w->size *= 2)
        w->tree[w->size * 2] = w->tree[w->size]; /* the sum of all so far */
    if (w->threads <= thread)
        w->threads = thread + 1;
    bool again = w->of[thread].made, named = !again && thread < PCT_NAMED_COUNTS && w->counts[1 + thread];
    w->of[thread].made = true;
    w->of[thread].left = pct_weights_share(w, w->counts[named ? 1 + thread : 0]);
    if (!named || !thread)
        return false;
    w->to_come -= w->of[thread].left;
    if (w->of[0].member)
        pct_weights_insert(w, 0);
    return true;
}

/* The thread has made one of its events. */
static inline void pct_weights_made(struct pct_weights *w, uint32_t thread)
{
    if (w->of[thread].left)
        w->of[thread].left--;
    if (w->of[thread].member)
        pct_weights_insert(w, thread);
}

/* A thread that takes part, by chance in proportion to its weight. */
static inline uint32_t pct_weights_draw(struct pct_weights *w, uint64_t seed, uint32_t stream, uint64_t place)
{
    if (w->stale)
        pct_weights_build(w);
    uint64_t at = pct_random_below(seed, stream, place, w->sum);
    uint32_t before = 0; /* threads whose weights add up to no more than `at` did at first */
    for (uint32_t width = w->size; width; width >>= 1)
        if (before + width <= w->size && w->tree[before + width] <= at)
            at -= w->tree[before += width];
    return before;
}

/* Before the thread takes part. */
static inline void pct_weights_set_role(struct pct_weights *w, uint32_t thread, uint32_t role)
{
    w->of[thread].role = (uint8_t)role;
}

/* The roles of the threads that take part: a bit for each; 0: no two of these threads have the same one. */
static inline uint32_t pct_weights_roles(const struct pct_weights *w)
{
    uint32_t roles = 0;
    bool shared = false;
    for (uint32_t role = 0; role < PCT_WEIGHTS_ROLES; role++) {
        roles |= w->having[role] ? UINT32_C(1) << role : 0;
        shared |= w->having[role] > 1;
    }
    return shared ? roles : 0;
}

/* pct_weights_draw() among the threads with this role, of which there must be one. Takes as many steps as there are
 * threads. */
static inline uint32_t pct_weights_draw_role(const struct pct_weights *w, uint32_t role, uint64_t seed, uint32_t stream,
                                             uint64_t place)
{
    uint64_t at = pct_random_below(seed, stream, place, w->sums[role]);
    for (uint32_t thread = 0;; thread++) {
        uint64_t weight = w->of[thread].role == role ? w->of[thread].member : 0;
        if (at < weight)
            return thread;
        at -= weight;
    }
}

/* PCT_ENABLE_ALL (base.h) of a state whose member `weights` these are. */
#define PCT_ENABLE_ALL_WEIGHTS                                                                                         \
    static void enable_all(void *state, const uint16_t *threads, uint32_t count)                                       \
    {                                                                                                                  \
        pct_weights_expect(&((struct state *)state)->weights, count);                                                  \
        for (uint32_t i = 0; i < count; i++)                                                                           \
            enable(state, threads[i]);                                                                                 \
    }                                                                                                                  \
    static void disable_all(void *state, const uint16_t *threads, uint32_t count)                                      \
    {                                                                                                                  \
        pct_weights_expect(&((struct state *)state)->weights, count);                                                  \
        for (uint32_t i = 0; i < count; i++)                                                                           \
            disable(state, threads[i]);                                                                                \
    }

#endif
