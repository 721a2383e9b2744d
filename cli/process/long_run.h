/* A run that has gone on for long: what is seen of it meanwhile, without a word to it. */
#ifndef PCT_CLI_LONG_RUN_H
#define PCT_CLI_LONG_RUN_H

#include "launch.h"

/* Of the first of several runs, it is said after this many seconds. */
#define PCT_LONG_RUN_SECONDS 10.0

/* Say how long this run has gone on, how far it came, what it probably does, and what ends it. */
void pct_long_run_say(const struct pct_process *process);

#endif
