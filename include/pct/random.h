/* Random numbers as a pure function of (seed, stream, counter): no hidden state, so a number does not depend on when it
 * was drawn, and two uses never disturb each other. For the scheduler and for strategies; needs nothing but xxhash. */
#ifndef PCT_RANDOM_H
#define PCT_RANDOM_H

#define XXH_INLINE_ALL
#include <stdint.h>
#include <xxhash.h>

/* Streams below 256 belong to pct itself; strategies of others begin at PCT_STREAM_USER. */
enum {
    PCT_STREAM_PRIORITY = 1,  /* by thread */
    PCT_STREAM_CHANGE = 2,    /* by change point */
    PCT_STREAM_PICK = 3,      /* by step */
    PCT_STREAM_CHOOSE = 4,    /* by step */
    PCT_STREAM_SPIN = 5,      /* by thread and count */
    PCT_STREAM_DELAY = 6,     /* by thread and step */
    PCT_STREAM_CHILD = 7,     /* seeds of child processes, by ordinal */
    PCT_STREAM_TARGET = 8,    /* what the target reads from getrandom and its like */
    PCT_STREAM_EVENT = 9,     /* by thread and count */
    PCT_STREAM_OBJECT = 10,   /* by object */
    PCT_STREAM_INTEND = 11,   /* by step */
    PCT_STREAM_SLACK = 12,    /* by thread and count of its timed waits; the last one: of the run */
    PCT_STREAM_SITES = 15,    /* by place in the target's code */
    PCT_STREAM_END = 16,      /* which end a run has */
    PCT_STREAM_SCALE = 17,    /* of k, where nobody knows it */
    PCT_STREAM_MEMBER = 18,   /* of the mixture, by group of seeds */
    PCT_STREAM_POINTS = 19,   /* whether a run has other scheduling points than the campaign's */
    PCT_STREAM_SPURIOUS = 20, /* by thread and count of its waits for condition variables */
    PCT_STREAM_ORDER = 21,    /* by thread: of orders of priorities that `pct explore` tries */
    PCT_STREAM_ROLE = 22,     /* by step */
    PCT_STREAM_USER = 256
};

/* 64 uniform bits for this place. The seed is hashed along with the place, not given as XXH3's seed: that one is only
 * added to the words of so short an input, and stream 2 of seed 5 would be stream 1 of seed 4 over again. */
static inline uint64_t pct_random(uint64_t seed, uint32_t stream, uint64_t counter)
{
    uint64_t place[3] = { seed, stream, counter };
    return XXH3_64bits(place, sizeof place);
}

/* Uniform over 0 .. bound-1 (bound > 0), without bias worth naming: the multiply-shift of a 64-bit number, whose
 * deviation is below bound / 2^64. */
static inline uint64_t pct_random_below(uint64_t seed, uint32_t stream, uint64_t counter, uint64_t bound)
{
    return (uint64_t)(((unsigned __int128)pct_random(seed, stream, counter) * bound) >> 64);
}

/* Which of `waiters` a signal wakes, for strategies that leave it to chance: uniform. One step may choose several
 * times, among ever fewer waiters. */
static inline uint32_t pct_random_waiter(uint64_t seed, uint32_t waiters, uint64_t step)
{
    return (uint32_t)pct_random_below(seed, PCT_STREAM_CHOOSE, step << 16 | waiters, waiters);
}

/* The priority of a thread in one of the orders in which `pct explore` lets threads go on: 0: the lowest id is the
 * highest; 1: the other way round; others: drawn. */
static inline uint64_t pct_plan_priority(uint32_t order, uint32_t thread)
{
    return order == 0 ? UINT32_MAX - thread : order == 1 ? thread : pct_random(order, PCT_STREAM_ORDER, thread);
}

#endif
