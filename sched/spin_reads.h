/* Loops that wait for another thread by reading memory, or by PAUSE: which of their rounds are steps, and how many are
 * a spin. The thresholds stand in progress.h. Inline, for code that uses general registers only. On the turn of the
 * thread whose reads they are. */
#ifndef PCT_SCHED_SPIN_READS_H
#define PCT_SCHED_SPIN_READS_H

#include "sched.h"

/* One more read of such a loop, of this value at this address: whether it makes no progress. As long as nobody has made
 * a step, but for the reads of this thread, it sees what the last one at this place saw. That one was an access at
 * which others could go first; this one is none, as nothing could come of it that could not come of that. */
static inline bool pct_spin_read_no_progress(const struct pct_sched *s, struct pct_spin_reads *reads, uint64_t address,
                                             uint64_t value)
{
    uint64_t step = pct_steps(s), seen = address ^ value * UINT64_C(0x9e3779b97f4a7c15);
    if (reads->step != step)
        for (unsigned i = 0; i < sizeof reads->seen / sizeof *reads->seen; i++)
            reads->seen[i] = 0;
    bool again = reads->seen[0] == seen || reads->seen[1] == seen || reads->seen[2] == seen || reads->seen[3] == seen;
    if (!again)
        reads->seen[reads->next++ % 4] = seen;
    reads->count = again ? reads->count + 1 : 0;
    reads->step = step;
    return again;
}

/* It made no progress: whether that is a spin by now. Not where nobody else could change what is read. */
static inline bool pct_spin_reads_wait(const struct pct_sched *s, struct pct_spin_reads *reads)
{
    if (reads->count < PCT_MEMORY_SPIN || (pct_sched_alone(s) && !s->timers_count))
        return false;
    reads->count = 0;
    return true;
}

/* A read was a step itself, and nobody has gone first: that does not matter to those that follow. */
static inline void pct_spin_reads_go_on(const struct pct_sched *s, struct pct_spin_reads *reads)
{
    reads->step = pct_steps(s);
}

/* A PAUSE. Locks pause a hundred times before they sleep: while nobody makes a step in between, nothing could come of a
 * switch at the next one that could not come of one at the last. Whether this one makes no progress either: of
 * PCT_MEMORY_SPIN, one is a step, behind which pct_spin_paused() is called. */
static inline bool pct_spin_pause_no_progress(const struct pct_sched *s, struct pct_spin_reads *reads)
{
    return reads->paused == pct_steps(s) && ++reads->pauses < PCT_MEMORY_SPIN;
}

static inline void pct_spin_paused(const struct pct_sched *s, struct pct_spin_reads *reads)
{
    reads->pauses = 0;
    reads->paused = pct_steps(s);
}

#endif
