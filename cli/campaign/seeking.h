/* Looking for a failure like one that is known, in runs whose accesses to memory are scheduling points, all of them:
 * the order of calls alone may not tell why it failed. */
#ifndef PCT_CLI_SEEKING_H
#define PCT_CLI_SEEKING_H

#include "diagnosing.h"

/* Run the program of this run, which was made again (diagnosing.h), until it fails in the same way: by random walks and
 * PCT by turns, at most this many seconds. *found: the token of that run is there. Returns 0, or an exit status after a
 * message; where a signal has told us to end, diagnosing->interrupted says which. */
int pct_seeking_run(struct pct_diagnosing *diagnosing, double seconds, char *token, size_t size, bool *found);

#endif
