/* What a directed campaign knows: see directed.h. For its own files. */
#ifndef PCT_CLI_DIRECTED_STATE_H
#define PCT_CLI_DIRECTED_STATE_H

#include "iroot_sets.h"
#include "memo.h"
#include <common/config.h>

/* An iRoot that was predicted: the one of this index in `sets.predicted`. */
struct pct_candidate {
    uint32_t tries, tried; /* runs that were to force it, and of these such as were looked at */
    enum { PCT_CANDIDATE_NEW, PCT_CANDIDATE_OPEN, PCT_CANDIDATE_KNOWN /* by the memo */ } state;
    const struct pct_iroot *exposed, *reverse; /* as far as it was, and (idiom 1) the other order; NULL: not so far */
};

struct pct_directed {
    struct pct_iroot_sets sets;
    struct pct_memo memo;
    struct pct_candidate *candidate;
    size_t candidates; /* there is room for */
    uint64_t taken;    /* runs that were looked at */
    size_t *upto;      /* of run n, from 1: so many were predicted by it and the runs before it */
    uint64_t room;
    size_t *forces;  /* of each run that was decided, from 0: its candidate; SIZE_MAX: it is a profile run */
    uint64_t shared; /* accesses in all runs to what threads can share */
};

enum { PCT_DIRECTED_TEXT = 64 };

/* An iRoot as tokens have it: the idiom, and operation and place of each access. Returns `text`, of PCT_DIRECTED_TEXT
 * bytes. */
const char *pct_directed_format(char *text, const struct pct_iroot_sets *sets, const struct pct_iroot *root);

/* Make this the configuration of a run that is to force the iRoot, which was tried so often before. */
void pct_directed_force(struct pct_config *config, const struct pct_iroot_sets *sets, const struct pct_iroot *root,
                        uint32_t tries);

/* So many runs were made, and what they have predicted and exposed is in the sets, and the memo that they had: find out
 * what they were. Returns 0 or -ENOMEM. */
int pct_directed_replay(struct pct_directed *d, uint64_t runs);

/* What d has, but for itself. */
void pct_directed_close(struct pct_directed *d);

#endif
