/* Atomic variables on which threads of a run meet. */
#ifndef PCT_CLI_CONTENDED_H
#define PCT_CLI_CONTENDED_H

#include "trace_read.h"

/* How many variables that somebody accesses atomically two threads access, one of them writing, in an order that
 * depends on the schedule: neither comes before the other whatever that is, and no lock keeps them apart. Of a run
 * that had points at memory accesses. 0 if there was no memory to find out. */
size_t pct_contended_atomics(const struct pct_trace *trace);

#endif
