/* The orderings that a bug needs, each reversed: does the failure go away? */
#ifndef PCT_CLI_NEGATED_ORDERS_H
#define PCT_CLI_NEGATED_ORDERS_H

#include "depth.h"

/* Turn each of depth->needs round, under schedules that keep to the others, and fill in what became of them. Where some
 * fail all the same, the ordering is replaced by a weaker one that still forces the failure, if the other way round of
 * that is better; and what else has to be held is looked for. depth->failed and depth->of are then those of the set as
 * it is. candidates, trace: the orderings of the failing run, and the run. seed: of the next schedule. Returns 0, or
 * runs->status, or -ENOMEM. */
int pct_negated_orders_measure(struct pct_depth *depth, struct pct_query_runs *runs,
                               const struct pct_orders *candidates, const struct pct_trace *trace, uint64_t *seed);

/* Schedules of a tally. */
unsigned pct_tally_of(const struct pct_tally *tally);

#endif
