/* Runs of given tokens, by several workers at once: to calibrate a campaign before its first run, and to confirm a
 * finding. */
#ifndef PCT_CLI_BATCH_H
#define PCT_CLI_BATCH_H

#include <cli/process/launch.h>

/* Called for each run that has ended, in the order in which they end. Returns 0, or an exit status that ends the batch.
 */
typedef int pct_batch_each(void *data, size_t index, struct pct_process *process, struct pct_result *result);

/* Run tokens[0] ... tokens[count - 1] and collect their output. Returns 0, what each() returned, the exit status of a
 * failure to start one (after a message), or 128 + the number of the signal that told us to end. */
int pct_batch_run(struct pct_launch *launch, unsigned jobs, char (*tokens)[PCT_TOKEN_MAX], size_t count,
                  pct_batch_each *each, void *data);

/* The CPU for the targets of this worker, counted from 0: each of several has its own, or there is no gain in more than
 * one at a time. -1: any, for a worker alone. */
int pct_batch_cpu(unsigned jobs, unsigned worker);

#endif
