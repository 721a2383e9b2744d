/* Cycles of locks: threads that, in a run, each took a lock while holding the one that another of them took, so that in
 * another schedule each may hold one and wait for the next (Havelund, Goodlock; Joshi, Park, Sen, Naik: DeadlockFuzzer,
 * PLDI 2009). Whether there is such a schedule, only a run shows: a cycle alone is no finding.
 *
 * A cycle has two or three threads. There is none where two of them hold a common lock meanwhile, where both only read,
 * or where one is done before another begins whatever the schedule is; what takes a lock only if it is free ends no
 * cycle. Pure functions, with memory from malloc. */
#ifndef PCT_CLI_LOCK_CYCLES_H
#define PCT_CLI_LOCK_CYCLES_H

#include "iroots.h"
#include "trace_read.h"

enum { PCT_LOCK_CYCLES_MOST = 48, PCT_LOCK_CYCLE_TRIES = 3 };

struct pct_lock_cycles {
    /* Each is a list of the strategy `order`, after which all threads of a cycle hold their first locks before any asks
     * for its second. First one of each cycle, then second ones. */
    char *list[PCT_LOCK_CYCLES_MOST];
    size_t count;
};

/* The cycles of a run, of which `accesses` are all accesses (pct_accesses_read()); at most PCT_LOCK_CYCLE_TRIES lists
 * for each. To be freed. Returns 0 or -ENOMEM. */
int pct_lock_cycles_find(struct pct_lock_cycles *cycles, const struct pct_trace *trace,
                         const struct pct_access *accesses, size_t count);
void pct_lock_cycles_free(struct pct_lock_cycles *cycles);

/* Whether some thread of the run waited for a lock while holding another: else there is no cycle. One pass. */
bool pct_lock_cycles_may_be(const struct pct_trace *trace);

#endif
