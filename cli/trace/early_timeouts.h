/* Waits that timed out early: while other threads could run, which is what slack lets happen (docs/TIME.md). Of a
 * trace, for reports and for the campaign's k. */
#ifndef PCT_CLI_EARLY_TIMEOUTS_H
#define PCT_CLI_EARLY_TIMEOUTS_H

#include "trace_read.h"
#include <stdio.h>

/* How what is said of them begins, on a line of its own; the lines about each begin with four spaces. */
#define PCT_EARLY_TIMEOUTS_BEGINS "deadlines that came while other threads could run, as on a machine under load"

/* How many of them there are in what is recorded. */
uint64_t pct_early_timeouts_count(const struct pct_trace *trace);

/* Say which: the thread, the wait, by how much; and how to do without. Nothing if there are none. */
void pct_early_timeouts_print(FILE *out, const struct pct_trace *trace);

#endif
