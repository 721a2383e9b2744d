/* Priorities of threads, as figure 7 of Burckhardt et al., ASPLOS 2010, uses them: shared by the strategies that run
 * the enabled thread of the highest priority.
 *
 * Called by strategies; a member of their state, zeroed at first. Priorities are ranks, higher runs first:
 *
 *     PCT_RANK_INITIAL + 0 .. 65535   initial priorities
 *     PCT_RANK_CHANGE + 1 .. 63       those that priority change points give
 *     PCT_RANK_LAST - 1 down to 0     threads that were put below all others (section 4.1, "starvation free"; section
 *                                     4.2, "Final Wait"): each new one gets the next rank below; when these run out,
 *                                     the ranks in use move up again in their order
 *
 * Ranks stand in blocks of 64, and a block exists while a thread has one of its ranks: there are never more of them
 * than threads. Two levels of bits over the blocks say which have enabled threads, so the highest is found in O(1), and
 * a pick costs the same among 10,000 threads as among ten. */
#ifndef PCT_STRATEGIES_PRIORITIES_H
#define PCT_STRATEGIES_PRIORITIES_H

#include "base.h"
#include "depth_param.h"

enum {
    PCT_RANK_LAST = 1 << 16, /* twice as many as there can be threads, so that moving up is seldom */
    PCT_RANK_CHANGE = PCT_RANK_LAST,
    PCT_RANK_INITIAL = PCT_RANK_CHANGE + PCT_MAX_DEPTH,
    PCT_INITIAL_RANKS = 1 << 16,
    PCT_PRIORITY_RANKS = PCT_RANK_INITIAL + PCT_INITIAL_RANKS,
    PCT_RANK_BLOCKS = PCT_PRIORITY_RANKS / 64
};
_Static_assert(PCT_PRIORITY_RANKS % 64 == 0, "ranks fill their blocks");
_Static_assert(PCT_RANK_BLOCKS <= 64 * 64, "two levels of bits are enough");
_Static_assert(PCT_MAX_THREADS < PCT_RANK_LAST, "moving up always frees ranks");

/* "Lowers their priorities with a small probability" (section 4.1): one spin in this many puts the thread below all
 * others. The paper names no number. A thread that spins goes below others after 16 spins on average; a thread that
 * fails to take a lock a few times on its way keeps its priority in most runs, and with it the guarantee. */
#define PCT_SPIN_INVERSE 16u

/* Bits, of the ranks of a block: what is looked at for each of thousands of threads stands together. */
struct pct_rank_block {
    uint64_t enabled; /* ranks of enabled threads */
    uint64_t held;    /* ranks that a thread has */
};

struct pct_rank_holders {
    uint16_t thread[64]; /* by rank that is held; of a free block, the first is the next free block, plus 1 */
};

struct pct_priority {
    uint32_t rank;  /* plus 1; 0: none */
    uint32_t block; /* of that rank */
    uint32_t spins; /* in the whole run */
};

struct pct_priorities {
    uint32_t put_last; /* the thread that pct_priorities_settle() will put below all others, plus 1 */
    uint32_t lows;     /* ranks below PCT_RANK_LAST that were given out since the last moving up: the lowest in use */
    uint32_t blocks;   /* that exist or are free */
    uint32_t free;     /* the first free one, plus 1 */
    uint64_t top;      /* a bit for each word of `any` that is not 0 */
    uint64_t any[64];  /* a bit for each place: the block there has enabled threads */
    struct pct_priority *of; /* by thread */
    struct pct_rank_block *block;
    struct pct_rank_holders *holders; /* by block */
    uint16_t *block_at;               /* by place, which is a rank / 64: the block, plus 1; 0: none */
};

/* For this many threads. */
static inline void pct_priorities_lay_out(struct pct_priorities *p, struct pct_layout *layout, uint32_t threads)
{
    p->block_at = pct_layout_take(layout, PCT_RANK_BLOCKS, sizeof *p->block_at);
    p->of = pct_layout_take(layout, threads, sizeof *p->of);
    p->block = pct_layout_take(layout, threads, sizeof *p->block);
    p->holders = pct_layout_take(layout, threads, sizeof *p->holders);
}

/* A permutation of 0 .. 65535, keyed by the seed, another one for each round.
 *
 * Threads appear one by one and their number is not known beforehand; only the order of the images matters. A Feistel
 * network with r rounds over 8-bit halves of truly random functions differs from a random permutation, for a few
 * threads, by about 2^(-4r): 2^-32 here. */
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

static inline uint32_t pct_priorities_rank(const struct pct_priorities *p, uint32_t thread)
{
    return p->of[thread].rank - 1;
}

/* The thread that has this rank; PCT_NO_THREAD. */
static inline uint32_t pct_priorities_holder(const struct pct_priorities *p, uint32_t rank)
{
    uint32_t at = p->block_at[rank >> 6];
    if (!at || !(p->block[at - 1].held >> (rank & 63) & 1))
        return PCT_NO_THREAD;
    return p->holders[at - 1].thread[rank & 63];
}

static inline void pct_priorities_enable(struct pct_priorities *p, uint32_t thread)
{
    uint32_t rank = pct_priorities_rank(p, thread), place = rank >> 6;
    p->block[p->of[thread].block].enabled |= UINT64_C(1) << (rank & 63);
    p->any[place >> 6] |= UINT64_C(1) << (place & 63);
    p->top |= UINT64_C(1) << (place >> 6);
}

/* Disabling a thread that is not enabled changes nothing. */
static inline void pct_priorities_disable(struct pct_priorities *p, uint32_t thread)
{
    uint32_t rank = pct_priorities_rank(p, thread), place = rank >> 6;
    uint64_t *enabled = &p->block[p->of[thread].block].enabled;
    *enabled &= ~(UINT64_C(1) << (rank & 63));
    if (*enabled)
        return;
    p->any[place >> 6] &= ~(UINT64_C(1) << (place & 63));
    if (!p->any[place >> 6])
        p->top &= ~(UINT64_C(1) << (place >> 6));
}

/* The thread has no rank any more. Whether it was enabled. */
static inline bool pct_priorities_give_up(struct pct_priorities *p, uint32_t thread)
{
    uint32_t rank = pct_priorities_rank(p, thread), at = p->of[thread].block;
    struct pct_rank_block *block = &p->block[at];
    bool enabled = block->enabled >> (rank & 63) & 1;
    if (enabled)
        pct_priorities_disable(p, thread);
    p->of[thread].rank = 0;
    block->held &= ~(UINT64_C(1) << (rank & 63));
    if (!block->held) {
        p->block_at[rank >> 6] = 0;
        p->holders[at].thread[0] = (uint16_t)p->free;
        p->free = at + 1;
    }
    return enabled;
}

/* The block of this rank, which is about to get a thread. */
static inline struct pct_rank_block *pct_priorities_block(struct pct_priorities *p, uint32_t rank)
{
    uint16_t *at = &p->block_at[rank >> 6];
    if (!*at && p->free) {
        *at = (uint16_t)p->free;
        p->free = p->holders[*at - 1].thread[0];
    } else if (!*at) {
        *at = (uint16_t)++p->blocks;
    }
    return &p->block[*at - 1];
}

/* A thread that had the rank before, and is not enabled, is left without one. */
static inline void pct_priorities_set(struct pct_priorities *p, uint32_t thread, uint32_t rank)
{
    bool enabled = p->of[thread].rank && pct_priorities_give_up(p, thread);
    uint32_t before = pct_priorities_holder(p, rank);
    if (before != PCT_NO_THREAD)
        pct_priorities_give_up(p, before);
    struct pct_rank_block *block = pct_priorities_block(p, rank);
    block->held |= UINT64_C(1) << (rank & 63);
    p->of[thread].rank = rank + 1;
    p->of[thread].block = (uint32_t)(block - p->block);
    p->holders[block - p->block].thread[rank & 63] = (uint16_t)thread;
    if (enabled)
        pct_priorities_enable(p, thread);
}

/* Give the thread an initial priority: the rank at this place, or the next that no other thread has. */
static inline void pct_priorities_begin(struct pct_priorities *p, uint32_t thread, uint32_t place)
{
    uint32_t holder;
    while ((holder = pct_priorities_holder(p, PCT_RANK_INITIAL + place)) != PCT_NO_THREAD && holder != thread)
        place = (place + 1) % PCT_INITIAL_RANKS;
    pct_priorities_set(p, thread, PCT_RANK_INITIAL + place);
}

/* The enabled thread of the highest priority. There must be one. */
static inline uint32_t pct_priorities_highest(const struct pct_priorities *p)
{
    uint32_t place = 63u - (uint32_t)__builtin_clzll(p->top);
    place = place << 6 | (63u - (uint32_t)__builtin_clzll(p->any[place]));
    uint32_t at = p->block_at[place] - 1u;
    return p->holders[at].thread[63 - __builtin_clzll(p->block[at].enabled)];
}

/* The ranks below PCT_RANK_LAST are used up: move those in use to the top of that region, in their order. */
static inline void pct_priorities_move_up(struct pct_priorities *p)
{
    uint32_t to = PCT_RANK_LAST;
    for (uint32_t rank = PCT_RANK_LAST; rank-- > 0;) {
        uint32_t holder = pct_priorities_holder(p, rank);
        if (holder != PCT_NO_THREAD && --to != rank)
            pct_priorities_set(p, holder, to);
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
    uint64_t place = (uint64_t)thread << 32 | p->of[thread].spins++;
    if (inverse && pct_random_below(seed, PCT_STREAM_SPIN, place, inverse) == 0)
        pct_priorities_put_last_later(p, thread);
}

/* enable(), disable() of a state whose member `priorities` these are. */
#define PCT_ENABLED_PRIORITIES                                                                                         \
    static void enable(void *state, uint32_t thread)                                                                   \
    {                                                                                                                  \
        pct_priorities_enable(&((struct state *)state)->priorities, thread);                                           \
    }                                                                                                                  \
    static void disable(void *state, uint32_t thread)                                                                  \
    {                                                                                                                  \
        pct_priorities_disable(&((struct state *)state)->priorities, thread);                                          \
    }                                                                                                                  \
    PCT_ENABLE_ALL

/* spinning(), final_wait(): such a thread is put last, the first by chance. */
#define PCT_LAST_PRIORITIES                                                                                            \
    static void spinning(void *state, uint32_t thread, uint64_t spins)                                                 \
    {                                                                                                                  \
        (void)spins;                                                                                                   \
        struct state *s = state;                                                                                       \
        pct_priorities_spin(&s->priorities, s->seed, thread, PCT_SPIN_INVERSE);                                        \
    }                                                                                                                  \
    static void final_wait(void *state, uint32_t thread)                                                               \
    {                                                                                                                  \
        pct_priorities_put_last_later(&((struct state *)state)->priorities, thread);                                   \
    }

#endif
