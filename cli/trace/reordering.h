/* How much of a run is left, if its steps are reordered so that it exposes an iRoot: the fewer reads see another write
 * than they did, the likelier it is that the threads come there again. Where none does, the reordered run is possible,
 * as far as what the run tells decides where its threads go. For predict.h. A pure function. */
#ifndef PCT_CLI_REORDERING_H
#define PCT_CLI_REORDERING_H

#include "access_links.h"
#include "orderings.h"
#include "trace_read.h"

enum { PCT_REORDERING_NONE = 255 /* no such order was found, or it is too long to be looked at */ };

struct pct_reordering {
    const struct pct_trace *trace;
    const struct pct_access_links *links;
    const struct pct_orderings *orderings;
    uint32_t left; /* states that may still be looked at: what it takes is bounded */
};

/* The run as it was before its access `from`, and then only the threads of A and B, until these accesses are made (A,
 * B, C, D; NULL: the idiom has no such one). Sets the chance's `changes`, and `segment`. */
void pct_reordering_find(struct pct_reordering *r, uint32_t idiom,
                         const struct pct_access *const made[PCT_IROOT_PLACES], const struct pct_access *from,
                         struct pct_iroot_chance *chance);

#endif
