/* What the race detector keeps: shared by races.c (accesses) and races_order.c (what orders them). */
#ifndef PCT_SCHED_RACES_STATE_H
#define PCT_SCHED_RACES_STATE_H

#include "clocks.h"
#include "internal.h"
#include "memory.h"
#include "races.h"

enum {
    RACES_ENTRIES = 1 << 24, /* accesses kept at a time; beyond, new ones are not kept, and their races not seen */
    RACES_SYNCS = 1 << 20,   /* places in memory that atomic accesses order by; beyond, all others are one: number 0 */
    RACES_CALLS = 1 << 20,   /* call stacks */
    RACES_DEPTH = 256,
    RACES_HELD = 64,
    RACES_SETS_LOG = 16, /* sets of locks that were held at some access; beyond, such an access has none */
    RACES_BENIGN = 64,
    RACES_OBJECT_LOG = 12, /* objects of the scheduler, in chunks */
    RACES_OBJECT_CHUNKS = 1 << (25 - RACES_OBJECT_LOG)
};

/* An access that a later one could race with. */
struct race_entry {
    uintptr_t pc;
    uint64_t step : 44, locks : 20; /* locks: which set its thread held */
    uint32_t clock;                 /* its thread's own */
    uint32_t call;
    uint32_t next;
    uint16_t thread;
    uint8_t mask; /* of the bytes of its location */
    uint8_t kind;
};

/* The locks that a thread held, as far as reports have room for them: the last ones that it took. */
struct race_locks {
    uint32_t lock[PCT_RACE_LOCKS], count; /* count is 0: an empty place in the table */
};

struct race_call {
    uintptr_t pc;
    uint32_t parent, first, sibling;
};

/* What the last release at this place in memory knew. */
struct race_sync {
    struct pct_clock clock;
    uint32_t next; /* in the same location */
    uint32_t head; /* 1 + the thread whose release the last store was, or goes on with; 0: none */
    uint8_t offset;
    bool kernels; /* the kernel writes here, too */
};

/* The same of an object of the scheduler: for those who change it, and for those who only read (rwlocks). Of a barrier:
 * for the round that is not over, and for those that are. */
struct race_object {
    struct pct_clock clock, readers;
};

struct race_thread {
    struct pct_clock now;
    struct pct_clock fence;   /* what relaxed stores release: as of its last release fence */
    struct pct_clock pending; /* what an acquire fence would acquire: what relaxed loads have read from */
    /* Its id may have been others' before: where its own clock began, and how far its creator had seen the clocks of
     * those. 0: it is the first. */
    uint32_t born, seen;
    uint32_t last; /* its clock when it was joined, and `now` forgotten; 0: it was not */
    uint32_t call, depth;
    int ignore;
    uint32_t locks; /* the set of what it holds, while locks_known */
    bool locks_known;
    uint32_t held_count;
    struct {
        uint32_t number;
        bool reads;
    } held[RACES_HELD];
    uintptr_t frames[RACES_DEPTH];
};

struct race_range {
    uintptr_t from, to;
};

struct pct_races {
    struct pct_sched *sched;
    const uint64_t *seen; /* the first record that was not looked at */
    struct pct_clock_memory memory;
    struct race_thread *threads;
    struct race_object **objects; /* by number, in chunks */
    struct pct_clock world;       /* of all that goes through the kernel, and of signals */
    struct pct_clock room;        /* of what was taken out of there */
    void **locations;             /* by address: the number of the newest entry there (uint32_t) */
    void **syncs_at;              /* by address: the number of the first sync in this location */
    struct race_entry *entries;
    struct race_sync *syncs;
    struct race_call *calls;
    struct race_locks *sets; /* open addressing; the first is never used, so that 0 is the empty set */
    uint32_t sets_used;
    uint32_t entries_used, entries_free, syncs_used, syncs_free, calls_used;
    uint32_t benign_count, found_count;
    struct race_range benign[RACES_BENIGN];
    struct pct_snap_race found[PCT_RACES_MOST];
    pct_races_filter *suppresses; /* NULL: nothing is */
    pct_races_watcher *watcher;   /* NULL: nobody */
    uint64_t suppressed;          /* times that it was asked and said yes, */
    uint32_t pairs_count;         /* by this many pairs of places, as far as these are remembered */
    struct race_pair {
        uintptr_t first, second;
    } pairs[PCT_RACES_MOST];
};

/* The set of locks that this thread holds, by its number. */
uint32_t pct_races_locks(struct pct_races *r, struct race_thread *t);

/* Nothing is ordered by these places in memory any more. */
void pct_races_drop_syncs(struct pct_races *r, uintptr_t from, uintptr_t to);

/* The thread has a clock. False: out of memory. */
bool pct_races_know(struct pct_races *r, uint32_t thread);

#endif
