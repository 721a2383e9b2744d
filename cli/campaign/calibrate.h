/* What a campaign finds out before its first run, from runs that do not count: k, whether the schedule decides all, and
 * what the right output is. It depends on the target and the seed alone, so that all shards of a campaign find the
 * same. */
#ifndef PCT_CLI_CALIBRATE_H
#define PCT_CLI_CALIBRATE_H

#include "campaign.h"
#include "oracle.h"

/* How many runs measure k at most. */
enum { PCT_CALIBRATION_RUNS = 16 };

/* Without change points, runs with the first seeds measure k, if it is to be learned: then it is the most steps seen,
 * and the range of them on top. If too many of their points are plain accesses to memory (sampling.h), and
 * c->may_sample, all runs of the campaign get a sample, in c->config, which is said; then k is measured anew, with it.
 * The first of them is repeated at the end, and must do the same, or *differs. With --expect-same, the output of the
 * first one that does not fail becomes the reference. A run that takes far longer than the others is cut, after five
 * seconds at most, and after two such there are no more. Of runs that fail the tokens are kept, in c->failing. Returns
 * 0 or an exit status, after a message. */
int pct_calibrate(struct pct_campaign *c, struct pct_oracle *oracle, bool *differs);

/* Before a campaign goes on: the first of those runs, c->origin, once more. If it takes other steps than it did then,
 * say so, and set c->differs. Returns 0 or an exit status, after a message. */
int pct_calibrate_again(struct pct_campaign *c);

#endif
