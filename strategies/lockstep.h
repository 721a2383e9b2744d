/* Threads in lockstep, for strategies that are without chance once their drawn steps are past, where a thread that
 * fails a try hands on its turn: each of several threads may take a lock, find the one that it tries taken by the
 * last, hand on, and give its own back just too late for the next one (std::lock of three threads or more), for ever.
 * Natively no such dance lasts.
 *
 * So after this many spins in a run, every other one, by chance, hands on nothing, and turns are not all of one length.
 * The chance does not depend on the seed: what was the same under all seeds still is. What a spin is, the scheduler
 * says (sched/progress.h); these thresholds are of what two strategies do about it, and strategies know nothing of
 * sched/. */
#ifndef PCT_STRATEGIES_LOCKSTEP_H
#define PCT_STRATEGIES_LOCKSTEP_H

#include <pct/random.h>
#include <stdbool.h>

enum { PCT_LOCKSTEP_SPINS = 4096, PCT_LOCKSTEP_TURN = 16 };

/* A thread spins. spins: in the run so far, zero at first. Whether it keeps its turn all the same. */
static inline bool pct_lockstep_keeps(uint64_t *spins)
{
    return ++*spins > PCT_LOCKSTEP_SPINS && pct_random_below(0, PCT_STREAM_SPIN, *spins, 2);
}

/* The steps of the turn that begins at this step. usual: if threads do not spin. */
static inline uint64_t pct_lockstep_turn(uint64_t spins, uint64_t step, uint64_t usual)
{
    if (spins <= PCT_LOCKSTEP_SPINS)
        return usual;
    uint64_t drawn = 1 + pct_random_below(0, PCT_STREAM_PICK, step, PCT_LOCKSTEP_TURN);
    return drawn > usual ? drawn : usual;
}

#endif
