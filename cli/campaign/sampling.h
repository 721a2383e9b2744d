/* The sample of places in the code (--memory-sample): when it switches itself on, in `pct run` and, before the first
 * run, in `pct campaign` (calibrate.h); and the k of runs of `pct run` that have one.
 *
 * A few places in the code make most of the accesses. Where these are not drawn, a run is short, and a change point
 * falls near a rare access as often as it does in a small program; that is what a sample is good for. So k must be that
 * of the run's own sample, and not the most that any sample has: PCT_SAMPLING_GROUP runs with consecutive seeds have
 * the same one, and the first of them measures k. */
#ifndef PCT_CLI_SAMPLING_H
#define PCT_CLI_SAMPLING_H

#include "campaign.h"

/* With more plain accesses to memory among the points of a run, `pct run` takes a sample by itself, in which about so
 * many are left. */
#define PCT_SAMPLING_TOO_MANY UINT64_C(100000)
#define PCT_SAMPLING_WANTED UINT64_C(10000)

enum { PCT_SAMPLING_GROUP = 16 };

/* The plain accesses among the steps of a run, if they are too many; else 0. */
uint64_t pct_sampling_count(const struct pct_trace *trace);

/* The percentage for runs with this many plain accesses, 0: none is needed. */
unsigned pct_sampling_percent(uint64_t plain);

/* Switch the sample on if it may (c->may_sample) and runs with this many plain accesses want it; says so. Returns
 * whether it did. */
bool pct_sampling_switch_on(struct pct_campaign *c, uint64_t plain);

/* Whether the campaign's runs have a k for each sample. */
bool pct_sampling_groups(const struct pct_campaign *c);

/* Whether the run with this index is the one that measures k for its group. */
bool pct_sampling_measures(const struct pct_campaign *c, uint64_t index);

/* For the token of the run with this index: its sample, and k. */
void pct_sampling_configure(const struct pct_campaign *c, uint64_t index, struct pct_config *config);

#endif
