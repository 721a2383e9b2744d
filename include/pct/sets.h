/* Sets of threads for strategies: by rank, dense, and by time.
 *
 * Header only, without allocation or libc: a set is a member of the strategy's state, and zeroed memory is the empty
 * set. The tables by thread of the latter two come from the state, too (<pct/layout.h>), when they are started. Called
 * by strategies, on the turn of the thread that holds the baton. All of these are deterministic: the same calls in the
 * same order give the same results.
 *
 *     pct_rank_set   up to 2^18 ranks; highest, lowest, next above in O(1)   priorities; thread ids in order
 *     pct_dense_set  thread ids; the i-th member in O(1)                     uniform choice
 *     pct_calendar   thread ids by a tick within a window; earliest in O(1)  times
 */
#ifndef PCT_SETS_H
#define PCT_SETS_H

#include <pct/layout.h>
#include <pct/strategy.h>
#include <stdbool.h>
#include <stdint.h>

/* A set of small numbers as three levels of bits, 64 to a word: a bit of an upper level says whether the word below it
 * has any. 33 KiB, of which only what is used is ever touched. */
#define PCT_RANKS (1u << 18)
#define PCT_NO_RANK UINT32_MAX

struct pct_rank_set {
    uint64_t top;
    uint64_t middle[64];
    uint64_t bottom[64 * 64];
};

/* rank < PCT_RANKS in all of these. */
static inline bool pct_rank_set_has(const struct pct_rank_set *set, uint32_t rank)
{
    return set->bottom[rank >> 6] >> (rank & 63) & 1;
}

/* Inserting a member again changes nothing. */
static inline void pct_rank_set_insert(struct pct_rank_set *set, uint32_t rank)
{
    set->bottom[rank >> 6] |= UINT64_C(1) << (rank & 63);
    set->middle[rank >> 12] |= UINT64_C(1) << (rank >> 6 & 63);
    set->top |= UINT64_C(1) << (rank >> 12);
}

/* Removing what is no member changes nothing. */
static inline void pct_rank_set_remove(struct pct_rank_set *set, uint32_t rank)
{
    set->bottom[rank >> 6] &= ~(UINT64_C(1) << (rank & 63));
    if (set->bottom[rank >> 6])
        return;
    set->middle[rank >> 12] &= ~(UINT64_C(1) << (rank >> 6 & 63));
    if (!set->middle[rank >> 12])
        set->top &= ~(UINT64_C(1) << (rank >> 12));
}

/* The highest member; PCT_NO_RANK if there is none. */
static inline uint32_t pct_rank_set_highest(const struct pct_rank_set *set)
{
    if (!set->top)
        return PCT_NO_RANK;
    uint32_t i = 63u - (uint32_t)__builtin_clzll(set->top);
    i = i << 6 | (63u - (uint32_t)__builtin_clzll(set->middle[i]));
    return i << 6 | (63u - (uint32_t)__builtin_clzll(set->bottom[i]));
}

/* The lowest member; PCT_NO_RANK if there is none. */
static inline uint32_t pct_rank_set_lowest(const struct pct_rank_set *set)
{
    if (!set->top)
        return PCT_NO_RANK;
    uint32_t i = (uint32_t)__builtin_ctzll(set->top);
    i = i << 6 | (uint32_t)__builtin_ctzll(set->middle[i]);
    return i << 6 | (uint32_t)__builtin_ctzll(set->bottom[i]);
}

/* The bits of a word above this one. */
static inline uint64_t pct_bits_above(uint64_t word, uint32_t bit)
{
    return bit == 63 ? 0 : word >> (bit + 1) << (bit + 1);
}

/* The lowest member above `rank`; PCT_NO_RANK if there is none. */
static inline uint32_t pct_rank_set_above(const struct pct_rank_set *set, uint32_t rank)
{
    uint32_t i = rank >> 6;
    uint64_t bits = pct_bits_above(set->bottom[i], rank & 63);
    if (!bits) {
        uint32_t j = rank >> 12;
        bits = pct_bits_above(set->middle[j], i & 63);
        if (!bits) {
            bits = pct_bits_above(set->top, j);
            if (!bits)
                return PCT_NO_RANK;
            j = (uint32_t)__builtin_ctzll(bits);
            bits = set->middle[j];
        }
        i = j << 6 | (uint32_t)__builtin_ctzll(bits);
        bits = set->bottom[i];
    }
    return i << 6 | (uint32_t)__builtin_ctzll(bits);
}

/* The next member after `rank` in the ring of ids: the lowest above it, or else the lowest of all (possibly itself);
 * PCT_NO_RANK if the set is empty. */
static inline uint32_t pct_rank_set_after(const struct pct_rank_set *set, uint32_t rank)
{
    uint32_t next = pct_rank_set_above(set, rank);
    return next == PCT_NO_RANK ? pct_rank_set_lowest(set) : next;
}

/* A set of thread ids whose members stand in an array without gaps. Their order depends on the history of insertions
 * and removals (the last member takes the place of a removed one), and on nothing else. */
struct pct_dense_entry {
    uint16_t member; /* by index: the id */
    uint16_t place;  /* by id: the index, plus 1; 0: no member */
};

struct pct_dense_set {
    uint32_t size;
    struct pct_dense_entry *entry;
};

/* For this many threads. */
static inline void pct_dense_set_start(struct pct_dense_set *set, struct pct_layout *layout, uint32_t threads)
{
    set->entry = pct_layout_take(layout, threads, sizeof *set->entry);
}

static inline bool pct_dense_set_has(const struct pct_dense_set *set, uint32_t thread)
{
    return set->entry[thread].place != 0;
}

static inline uint32_t pct_dense_set_size(const struct pct_dense_set *set)
{
    return set->size;
}

/* The member at index i, below the size. */
static inline uint32_t pct_dense_set_at(const struct pct_dense_set *set, uint32_t i)
{
    return set->entry[i].member;
}

static inline void pct_dense_set_insert(struct pct_dense_set *set, uint32_t thread)
{
    if (set->entry[thread].place)
        return;
    set->entry[set->size].member = (uint16_t)thread;
    set->entry[thread].place = (uint16_t)++set->size;
}

static inline void pct_dense_set_remove(struct pct_dense_set *set, uint32_t thread)
{
    uint32_t place = set->entry[thread].place;
    if (!place)
        return;
    uint32_t last = set->entry[--set->size].member;
    set->entry[place - 1].member = (uint16_t)last;
    set->entry[last].place = (uint16_t)place;
    set->entry[thread].place = 0;
}

/* Threads by the tick of a clock at which they are due: a calendar queue. A ring of ticks is as long as the window in
 * which all members lie, each tick has a list of its threads, and a set of bits says which ticks have any. The clock
 * may go on for ever, and memory is touched only for the window and for the threads that there are. */
struct pct_calendar_entry {
    uint32_t place;          /* plus 1; 0: no member */
    uint16_t next, previous; /* at the same place: thread, plus 1; 0: none */
};

struct pct_calendar {
    uint32_t mask;                    /* ticks in the ring, a power of two, minus 1 */
    struct pct_rank_set used;         /* places in the ring that have threads */
    uint16_t *first;                  /* by place: the thread that was inserted last, plus 1; 0: none */
    struct pct_calendar_entry *entry; /* by thread */
};

/* All members will always lie within this many consecutive ticks: 1 to PCT_RANKS. */
static inline void pct_calendar_start(struct pct_calendar *calendar, struct pct_layout *layout, uint32_t threads,
                                      uint32_t window)
{
    calendar->mask = window > 1 ? UINT32_MAX >> __builtin_clz(window - 1) : 0;
    calendar->first = pct_layout_take(layout, calendar->mask + 1, sizeof *calendar->first);
    calendar->entry = pct_layout_take(layout, threads, sizeof *calendar->entry);
}

static inline bool pct_calendar_has(const struct pct_calendar *calendar, uint32_t thread)
{
    return calendar->entry[thread].place != 0;
}

/* The thread must not be a member. */
static inline void pct_calendar_insert(struct pct_calendar *calendar, uint32_t thread, uint64_t tick)
{
    uint32_t place = (uint32_t)tick & calendar->mask;
    uint16_t next = calendar->first[place];
    calendar->entry[thread] = (struct pct_calendar_entry){ .place = place + 1, .next = next };
    calendar->first[place] = (uint16_t)(thread + 1);
    if (next)
        calendar->entry[next - 1].previous = (uint16_t)(thread + 1);
    else
        pct_rank_set_insert(&calendar->used, place);
}

/* Removing what is no member changes nothing. */
static inline void pct_calendar_remove(struct pct_calendar *calendar, uint32_t thread)
{
    struct pct_calendar_entry entry = calendar->entry[thread];
    if (!entry.place)
        return;
    calendar->entry[thread].place = 0;
    if (entry.next)
        calendar->entry[entry.next - 1].previous = entry.previous;
    if (entry.previous)
        calendar->entry[entry.previous - 1].next = entry.next;
    else if (!(calendar->first[entry.place - 1] = entry.next))
        pct_rank_set_remove(&calendar->used, entry.place - 1);
}

#define PCT_NO_TICK UINT64_MAX

/* The earliest tick that has threads; PCT_NO_TICK if there are no members. from: no member is due before this tick, nor
 * a window or more after it. */
static inline uint64_t pct_calendar_earliest(const struct pct_calendar *calendar, uint64_t from)
{
    uint32_t start = (uint32_t)from & calendar->mask;
    uint32_t place = pct_rank_set_after(&calendar->used, (start - 1) & calendar->mask);
    return place == PCT_NO_RANK ? PCT_NO_TICK : from + ((place - start) & calendar->mask);
}

/* Remove a thread of this tick, the one that was inserted last, and return it; PCT_NO_THREAD if the tick has none. */
static inline uint32_t pct_calendar_take(struct pct_calendar *calendar, uint64_t tick)
{
    uint32_t thread = calendar->first[tick & calendar->mask];
    if (!thread)
        return PCT_NO_THREAD;
    pct_calendar_remove(calendar, thread - 1);
    return thread - 1;
}

#endif
