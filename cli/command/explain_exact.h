/* Of a small program, what tells the classes of schedules that fail from those that pass, for `pct explain`: exact,
 * where rules and orderings are but likely. */
#ifndef PCT_CLI_EXPLAIN_EXACT_H
#define PCT_CLI_EXPLAIN_EXACT_H

#include <cli/campaign/diagnosing.h>

/* Explore all schedules of the program of this run, which was diagnosed, in at most this many seconds, and write what
 * tells those that fail as it does from all that pass. Nothing, where that takes longer, or the run has other
 * scheduling points than calls. Returns 0, or an exit status after a message. */
int pct_explain_exact(FILE *out, const struct pct_diagnosing *diagnosing, double seconds);

#endif
