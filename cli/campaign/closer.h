/* Where no rule fits a failure well, and not all accesses to memory were scheduling points: a run that fails in the
 * same way and has them all, diagnosed beside it. */
#ifndef PCT_CLI_CLOSER_H
#define PCT_CLI_CLOSER_H

#include "diagnosing.h"

struct pct_closer {
    struct pct_diagnosing diagnosing; /* of that run */
    bool better;                      /* a rule fits it better, so it is to be told instead */
    char token[PCT_TOKEN_MAX];        /* of that run, if it is */
};

/* Whether there is reason to look, behind pct_diagnosing_run(). */
bool pct_closer_helps(const struct pct_diagnosing *diagnosing);

/* Look for such a run for this many seconds at most, and diagnose it likewise. Returns 0, or an exit status after a
 * message. To be closed in any case. */
int pct_closer_look(struct pct_closer *closer, struct pct_diagnosing *diagnosing, double seconds);
void pct_closer_close(struct pct_closer *closer);

#endif
