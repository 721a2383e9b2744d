/* What a run says about the parameters that the next ones should have: for campaigns. */
#ifndef PCT_CLI_EVENT_COUNTS_H
#define PCT_CLI_EVENT_COUNTS_H

#include <cli/trace/trace_read.h>
#include <common/config.h>

/* For the parameters n, n0, n1, ...: the numbers of steps of threads. Those that the user gave, or that the strategy
 * has not, are left alone. */
void pct_event_counts_counts(struct pct_config *config, const struct pct_strategy *strategy,
                             const struct pct_trace *trace);

#endif
