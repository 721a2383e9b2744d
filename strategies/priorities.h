/* Priorities of threads, as figure 7 of Burckhardt et al., ASPLOS 2010, uses them: shared by the strategies that run the
 * enabled thread of the highest priority.
 *
 * Called by strategies; a member of their state, zeroed at first. Priorities are ranks, higher runs first:
 *
 *     PCT_RANK_INITIAL + 0 .. 65535   initial priorities
 *     PCT_RANK_CHANGE + 1 .. 63       those that priority change points give
 *     PCT_RANK_LAST - 1 down to 0     threads that were put below all others (section 4.1, "starvation free"; section 4.2,
 *                                     "Final Wait"): each new one gets the next rank below; when these run out, the ranks in
 *                                     use move up again in their order
 *
 * Enabled threads stand in a set of ranks whose highest member is found in O(1), so a pick costs the same among 10,000
 * threads as among ten. */
#ifndef PCT_STRATEGIES_PRIORITIES_H
#define PCT_STRATEGIES_PRIORITIES_H

#include <pct/random.h>
#include <pct/sets.h>

enum {
    PCT_MAX_DEPTH = 64,
    PCT_RANK_LAST = 1 << 16, /* twice as many as there can be threads, so that moving up is seldom */
    PCT_RANK_CHANGE = PCT_RANK_LAST,
    PCT_RANK_INITIAL = PCT_RANK_CHANGE + PCT_MAX_DEPTH,
    PCT_INITIAL_RANKS = 1 << 16,
    PCT_PRIORITY_RANKS = PCT_RANK_INITIAL + PCT_INITIAL_RANKS
};
_Static_assert(PCT_PRIORITY_RANKS <= PCT_RANKS, "all ranks fit in the set");
_Static_assert(PCT_MAX_THREADS < PCT_RANK_LAST, "moving up always frees ranks");

/* "Lowers their priorities with a small probability" (section 4.1): one spin in this many puts the thread below all
 * others. The paper names no number. A thread that spins is overtaken after 16 spins on average; a thread that tries in
 * vain a few times on its way keeps its priority in most runs, and with it the guarantee. */
#define PCT_SPIN_INVERSE 16u

struct pct_priorities {
    uint32_t put_last; /* the thread that pct_priorities_settle() will put below all others, plus 1 */
    uint32_t lows;     /* ranks below PCT_RANK_LAST that were given out since the last moving up: the lowest in use */
    struct pct_rank_set enabled;            /* ranks of the enabled threads */
    uint32_t rank_of[PCT_MAX_THREADS];      /* by thread, plus 1; 0: none */
    uint32_t spins[PCT_MAX_THREADS];        /* by thread: spins in the whole run */
    uint16_t thread_at[PCT_PRIORITY_RANKS]; /* by rank: the thread, plus 1 */
};

/* A permutation of 0 .. 65535, keyed by the seed, another one for each round.
 *
 * Threads appear one by one and their number is not known beforehand; only the order of the images matters. A Feistel
 * network with r rounds over 8-bit halves of truly random functions differs from a random permutation, for a few threads,
 * by about 2^(-4r): 2^-32 here. */
static inline uint32_t pct_priorities_permute(uint64_t seed, uint64_t round, uint32_t value)
{
    enum { FEISTEL = 8 };
    uint32_t left = value >> 8, right = value & 0xff;
    for (uint32_t i = 0; i < FEISTEL; i++) {
        uint64_t place = round << 16 | i << 8 | right;
        uint32_t mixed = left ^ (uint32_t)(pct_random(seed, PCT_STREAM_PRIORITY, place) & 0xff);
        left = right;
        right = mixed;
    }
    return left << 8 | right;
}

/* A thread that had the rank before, and is not enabled, is left without one. */
static inline void pct_priorities_set(struct pct_priorities *p, uint32_t thread, uint32_t rank)
{
    uint32_t old = p->rank_of[thread];
    bool enabled = old && pct_rank_set_has(&p->enabled, old - 1);
    if (enabled)
        pct_rank_set_remove(&p->enabled, old - 1);
    if (old)
        p->thread_at[old - 1] = 0;
    if (p->thread_at[rank])
        p->rank_of[p->thread_at[rank] - 1] = 0;
    p->rank_of[thread] = rank + 1;
    p->thread_at[rank] = (uint16_t)(thread + 1);
    if (enabled)
        pct_rank_set_insert(&p->enabled, rank);
}

static inline uint32_t pct_priorities_rank(const struct pct_priorities *p, uint32_t thread)
{
    return p->rank_of[thread] - 1;
}

static inline void pct_priorities_enable(struct pct_priorities *p, uint32_t thread)
{
    pct_rank_set_insert(&p->enabled, pct_priorities_rank(p, thread));
}

static inline void pct_priorities_disable(struct pct_priorities *p, uint32_t thread)
{
    pct_rank_set_remove(&p->enabled, pct_priorities_rank(p, thread));
}

/* The enabled thread of the highest priority. There must be one. */
static inline uint32_t pct_priorities_highest(const struct pct_priorities *p)
{
    return p->thread_at[pct_rank_set_highest(&p->enabled)] - 1u;
}

/* The ranks below PCT_RANK_LAST are used up: move those in use to the top of that region, in their order. */
static inline void pct_priorities_move_up(struct pct_priorities *p)
{
    uint32_t to = PCT_RANK_LAST;
    for (uint32_t rank = PCT_RANK_LAST; rank-- > 0;) {
        uint32_t holder = p->thread_at[rank];
        if (holder && --to != rank)
            pct_priorities_set(p, holder - 1, to);
    }
    p->lows = PCT_RANK_LAST - to;
}

/* Put this thread below all others. */
static inline void pct_priorities_put_last(struct pct_priorities *p, uint32_t thread)
{
    if (p->lows && pct_priorities_rank(p, thread) == PCT_RANK_LAST - p->lows)
        return; /* is last already: nothing was ever put below it */
    if (p->lows == PCT_RANK_LAST)
        pct_priorities_move_up(p);
    pct_priorities_set(p, thread, PCT_RANK_LAST - ++p->lows);
}

/* Put this thread last when the next pick has dealt with the change points: it may just have executed step k_i. */
static inline void pct_priorities_put_last_later(struct pct_priorities *p, uint32_t thread)
{
    if (p->put_last)
        pct_priorities_put_last(p, p->put_last - 1);
    p->put_last = thread + 1;
}

/* In every pick, when change points are dealt with. */
static inline void pct_priorities_settle(struct pct_priorities *p)
{
    if (p->put_last)
        pct_priorities_put_last(p, p->put_last - 1);
    p->put_last = 0;
}

/* The thread spins: once in `inverse` spins (0: never) put it last. */
static inline void pct_priorities_spin(struct pct_priorities *p, uint64_t seed, uint32_t thread, uint64_t inverse)
{
    /* Not by the spins since it last blocked: they begin anew, and the draws would repeat themselves. */
    uint64_t place = (uint64_t)thread << 32 | p->spins[thread]++;
    if (inverse && pct_random_below(seed, PCT_STREAM_SPIN, place, inverse) == 0)
        pct_priorities_put_last_later(p, thread);
}

#endif
