/* A happens-before race detector over the memory events of a run (sched/memory.h) and the trace of its synchronisation.
 *
 * Vector clocks and epochs as in FastTrack (Flanagan, Freund, "FastTrack: efficient and precise dynamic race
 * detection", 2009): each thread has a vector clock; each access is kept as an epoch, the thread and its own clock at
 * that time, for as long as a later access could race with it and with nothing that came after it. So it is precise: it
 * reports a race if and only if two accesses to the same byte, at least one a write and at least one not atomic, are
 * unordered in the run that was made.
 *
 * What threads do to synchronise is not told to the detector: it reads it from the trace, which has every operation in
 * the order in which they were made, whenever an access comes and before a block of the trace is given up. So programs
 * without a detector pay nothing. Called with the baton, like the scheduler itself. */
#ifndef PCT_SCHED_RACES_H
#define PCT_SCHED_RACES_H

#include "sched.h"

enum { PCT_RACE_FRAMES = 14, PCT_RACE_LOCKS = 4, PCT_RACES_MOST = 64 };

struct pct_races;

/* The detector of this run; it follows the trace from now on. NULL: out of memory. */
struct pct_races *pct_races_start(struct pct_sched *s);

/* Whether a race does not matter to the user. Asked each time that one is met, before it is counted among those found;
 * by the address and the frames of its accesses. */
typedef bool pct_races_filter(const struct pct_snap_race *race);
void pct_races_suppress(struct pct_races *r, pct_races_filter *filter);

/* Tell somebody of each pair of accesses that nothing orders, however often, by their places in the code. */
typedef void pct_races_watcher(uintptr_t first, uintptr_t second);
void pct_races_watch(struct pct_races *r, pct_races_watcher *watcher);

/* How often that was so; *pairs: by how many pairs of places, up to PCT_RACES_MOST. */
uint64_t pct_races_suppressed(const struct pct_races *r, uint32_t *pairs);

/* What is known of an access. Machine code does not say whether a load or store that needs no prefix is meant to be
 * atomic, nor what it orders. So of accesses that were seen there, two that nothing known orders are a race for sure
 * only if one of them cannot be meant to be atomic, and was made while the thread of the other one stood right before
 * its own. Else they are possibly one, or none at all if the place is one that threads synchronise by. */
enum {
    PCT_ACCESS_PLAIN = 1, /* it is not atomic; without KNOWN: perhaps */
    PCT_ACCESS_WRITE = 2,
    PCT_ACCESS_GIVES_UP = 4, /* the memory, by free() and the like */
    PCT_ACCESS_KNOWN = 8,    /* whether it is atomic */
    PCT_ACCESS_TOLD = 16     /* by compiled code, which tells of all that orders it, too */
};
struct pct_access {
    uintptr_t address;
    size_t size; /* bytes, not 0 */
    uintptr_t pc;
    /* The run's steps when the thread came to it, to do nothing else any more; UINT64_MAX: not known. */
    uint64_t arrived;
    uint32_t thread;
    unsigned kind; /* PCT_ACCESS_* */
};

/* An access, when its point was passed. Returns the race that it makes with an earlier one, sure or possible, at the
 * first time that these two places in the code do so, or are sure to, else NULL. With the baton, on the turn of its
 * thread. */
const struct pct_snap_race *pct_races_access(struct pct_races *r, const struct pct_access *access);

/* Whether a race is one; else it is possibly one. */
static inline bool pct_races_sure(const struct pct_snap_race *race)
{
    return race->access[0].atomic != PCT_SNAP_UNTOLD && race->access[1].atomic != PCT_SNAP_UNTOLD;
}

/* Whether threads synchronise by this place in memory, as far as the run has shown: somebody has accessed it
 * atomically, or waited there. */
bool pct_races_synchronises(struct pct_races *r, uintptr_t address);

/* Whether pct_races_access() has nothing to do for this plain access, which stays within one location: the thread has
 * made the same before, has released nothing since (FastTrack's "same epoch"), and nobody else has come here. False
 * also where the trace has more to say than was looked at. kind: PCT_ACCESS_*. Uses general registers only. */
bool pct_races_repeated(struct pct_races *r, uint32_t thread, uintptr_t address, size_t size, unsigned kind);

/* What atomic accesses order (C11, 5.1.2.4 and 7.17.4): what was read or written, with which order. */
enum { PCT_RACES_READ = 1, PCT_RACES_WRITE = 2, PCT_RACES_ACQUIRE = 4, PCT_RACES_RELEASE = 8 };
void pct_races_atomic(struct pct_races *r, uint32_t thread, uintptr_t address, unsigned what);
void pct_races_fence(struct pct_races *r, uint32_t thread, unsigned what);

/* The kernel, too, writes to this place in memory, which the program reads by atomic accesses: who does acquires from
 * the world outside, as by a call. */
void pct_races_kernels(struct pct_races *r, uintptr_t address);

/* The thread acquires from the object of this number, or releases to it, by what is not in the trace, or not there yet.
 */
void pct_races_object(struct pct_races *r, uint32_t thread, uint32_t number, unsigned what);

/* The same with the world outside: the thread goes there, or comes from there. All that is beyond the schedule is one.
 */
void pct_races_world(struct pct_races *r, uint32_t thread, unsigned what);

/* The same as a step of this kind on a descriptor does that has brought something about, without one. */
void pct_races_as(struct pct_races *r, uint32_t thread, enum pct_op op);

/* The thread acquires what every other one has done so far: nobody knows which of them has told it. */
void pct_races_all(struct pct_races *r, uint32_t thread);

/* This thread is the last to arrive at the barrier of this number; its step of arrival is recorded. */
void pct_races_round(struct pct_races *r, uint32_t thread, uint32_t number);

/* This thread goes on with what another one has left, by an operation that is not in the trace. */
void pct_races_succeed(struct pct_races *r, uint32_t thread, uint32_t other);

/* This memory is new to whoever uses it next. */
void pct_races_fresh(struct pct_races *r, uintptr_t from, uintptr_t to);

/* The thread gives this memory up, from this place in the code: a write of all of it, of which the detector keeps the
 * first PCT_RACES_GIVEN bytes, and those that threads have accessed. Returns a race as pct_races_access() does. */
enum { PCT_RACES_GIVEN = 1024 };
const struct pct_snap_race *pct_races_give_up(struct pct_races *r, uint32_t thread, uintptr_t from, uintptr_t to,
                                              uintptr_t pc);

/* The thread calls a function from before pc, or returns from one. frame: of the called function; those below are gone,
 * however that came (a jump, an exception). */
void pct_races_call(struct pct_races *r, uint32_t thread, uintptr_t pc, uintptr_t frame);
void pct_races_return(struct pct_races *r, uint32_t thread);

/* Races of this thread do not matter, counted; nor do any at this place in memory. */
void pct_races_ignore(struct pct_races *r, uint32_t thread, int change);
void pct_races_benign(struct pct_races *r, uintptr_t from, uintptr_t to);

/* For the recorder: the block of the trace is full, and what it says is needed now; the next record goes somewhere
 * else. */
void pct_races_follow(struct pct_sched *s);
void pct_races_turned(struct pct_sched *s);

/* The races found so far; *count: how many, at most PCT_RACES_MOST; *sure: how many of them are not only possible. */
const struct pct_snap_race *pct_races_found(const struct pct_races *r, uint32_t *count, uint32_t *sure);

#endif
