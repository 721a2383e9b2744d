/* Which iRoots a run could have exposed and did not need to (Maple, sections 3.3 to 3.5): of two accesses that
 * conflict, both orders, unless something forbids one of them. What forbids it:
 *
 *     happens-before    but for locks (3.3): starts and ends of threads, signals and wakes, posts, barriers, once
 *     mutual exclusion  (3.4): of two accesses under one lock, only the last to the object in the one section can come
 *                       right before the first in the other one; or, as reads do not conflict, the last write before
 *                       any read, and any read before the first write
 *
 * A guess, from one run: what was predicted may be impossible, as programs order their threads in other ways, too.
 * Pure functions, with memory from malloc. */
#ifndef PCT_CLI_PREDICT_H
#define PCT_CLI_PREDICT_H

#include "orderings.h"

/* Take in what this run predicts, whether it has exposed it or not. The accesses are those of the trace (accesses.h).
 * Runs have different numbers, and come in their order. Returns 0, or -ENOMEM. */
int pct_predict_add(struct pct_iroots *predicted, const struct pct_trace *trace, const struct pct_access *accesses,
                    size_t count, uint32_t window, uint64_t run);

/* The same for a caller that has read the orderings of these accesses. */
int pct_predict_ordered(struct pct_iroots *predicted, const struct pct_orderings *orderings,
                        const struct pct_trace *trace, const struct pct_access *accesses, size_t count, uint32_t window,
                        uint64_t run);

#endif
