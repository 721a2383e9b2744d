/* The failing schedule nearest to one that does not fail any more, because the program has changed since. */
#ifndef PCT_CLI_NEAREST_SCHEDULE_H
#define PCT_CLI_NEAREST_SCHEDULE_H

#include "query_run.h"

/* If the configuration of the runs is of strategy `schedule`: move its switches by a few operations until a run
 * fails, in whichever way. *found: it does now, and the configuration is of that schedule, without a hash. Returns 0,
 * or runs->status. */
int pct_nearest_schedule_find(struct pct_query_runs *runs, bool *found);

#endif
