/* How many are to arrive at a barrier, where event i of a run, and what depends on it, comes later: the events kept[]
 * come in its place. Pure. */
#ifndef PCT_CLI_ARRIVALS_H
#define PCT_CLI_ARRIVALS_H

#include "execution.h"

/* The touch of another operation, which comes behind these: whether it is the last to arrive, as far as that is known.
 * Of what is no arrival, it stays as it is. */
void pct_arrivals_place(const struct pct_execution *x, const uint32_t *kept, uint32_t count, uint32_t i, enum pct_op op,
                        struct pct_touch *touch);

/* The kept events, as they are then. */
void pct_arrivals_reorder(const struct pct_execution *x, const uint32_t *kept, uint32_t count, uint32_t i,
                          struct pct_event *sequence);

#endif
