/* Runs of given tokens, by several workers at once: to calibrate a campaign before its first run, and to confirm a
 * finding. */
#ifndef PCT_CLI_BATCH_H
#define PCT_CLI_BATCH_H

#include "engine.h"

/* Called for each run that has ended, in the order of the tokens. Returns as ended() of a source. */
typedef int pct_batch_each(void *data, size_t index, struct pct_process *process, struct pct_result *result);

/* Run tokens[0] ... tokens[count - 1] and collect their output. Returns as pct_engine_run(). */
int pct_batch_run(struct pct_launch *launch, unsigned jobs, char (*tokens)[PCT_TOKEN_MAX], size_t count,
                  pct_batch_each *each, void *data);

#endif
