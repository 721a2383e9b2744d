/* A run that has gone on for long: what is seen of it meanwhile, without a word to it. */
#ifndef PCT_CLI_LONG_RUN_H
#define PCT_CLI_LONG_RUN_H

#include "launch.h"

/* When it is to be said of this one of several runs, on the clock of pct_cli_now(): after some seconds, and where
 * others have ended, not before it takes far longer than these. */
double pct_long_run_due(const struct pct_process *process);

/* Say how long this run has gone on, how far it came, what it probably does, and what ends it. */
void pct_long_run_say(const struct pct_process *process);

/* This one was cut, as it took far longer than the others: say that it is made again. */
void pct_long_run_say_again(const struct pct_process *process);

#endif
