/* The numbers that a run got from pct_choose(). */
#ifndef PCT_CLI_CHOICES_H
#define PCT_CLI_CHOICES_H

#include "snapshot.h"

/* Whether the program asked for some. */
bool pct_choices_made(const struct pct_trace *trace);

/* Whether each thread got those of the same thread of another run, or more behind them. Out of memory: no. */
bool pct_choices_include(const struct pct_trace *trace, const struct pct_trace *other);

#endif
