/* Failing runs by chance, from which a smaller schedule may come than from the one that is known: delta debugging takes
 * nothing away from before the place where that failed, though the program may fail in the same way long before. */
#ifndef PCT_CLI_OTHER_FAILURES_H
#define PCT_CLI_OTHER_FAILURES_H

#include "shrink.h"

/* Behind pct_shrink_run(): make some runs by random schedules, and what the smallest one that fails in the same way,
 * with the same stacks, becomes when it is made small is the smallest schedule from now on, if it is smaller. Returns
 * 0, or an exit status after a message. */
int pct_other_failures_try(struct pct_shrink *shrink);

#endif
