/* What a directed campaign knows: see directed.h. For its own files. */
#ifndef PCT_CLI_DIRECTED_STATE_H
#define PCT_CLI_DIRECTED_STATE_H

#include "iroot_sets.h"

/* An iRoot that was predicted: the one of this index in `sets.predicted`. */
struct pct_candidate {
    uint32_t tries, tried;                     /* runs that were to force it, and of these such as were looked at */
    const struct pct_iroot *exposed, *reverse; /* as far as it was, and (idiom 1) the other order; NULL: not so far */
};

struct pct_directed {
    struct pct_iroot_sets sets;
    struct pct_candidate *candidate;
    size_t candidates; /* there is room for */
    uint64_t taken;    /* runs that were looked at */
    size_t *upto;      /* of run n, from 1: so many were predicted by it and the runs before it */
    uint64_t room;
    size_t *forces;  /* of each run that was decided, from 0: its candidate; SIZE_MAX: it is a profile run */
    uint64_t shared; /* accesses in all runs to what threads can share */
};

#endif
