/* Sequences of calls that others may make. */
#ifndef PCT_DEMON_SEQUENCE_H
#define PCT_DEMON_SEQUENCE_H

#include "query.h"

struct demon_sequences {
    const struct demon_model *model;
    const struct demon_state *state; /* whose objects these are */
    int longest;                     /* calls, at most DEMON_LONGEST */
    /* Called with each; whoever solves it fills in the values of scalars. False: no more are wanted. */
    bool (*take)(void *context, struct demon_call *calls, int count);
    void *context;
};

/* All, the shortest first: of each procedure that acts, with each known object for each parameter that is one.
 * What has several names has the first. */
void demon_sequences_run(const struct demon_sequences *sequences);

#endif
