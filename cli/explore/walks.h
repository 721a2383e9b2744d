/* Random schedules beside the search, which may come soon to failures that it comes to late: for --first from the
 * beginning, else in a long search. They count as no classes and are no part of what is verified; but a class that one
 * of them was of, and that the search was not when it is over, speaks against all of it. Memory from malloc. */
#ifndef PCT_CLI_WALKS_H
#define PCT_CLI_WALKS_H

#include "states.h"
#include <stdbool.h>

/* Begin with zeroes. */
struct pct_walks {
    bool on;              /* there are any; else nothing is noted */
    uint64_t made, named; /* those that were made; and the last one that anybody is to make, from 1 */
    uint64_t failing;
    bool asked; /* the run that is asked for is one of them */
    uint32_t plan;
    struct pct_states classes; /* of the search and of these */
    bool full;                 /* there are too many to be compared */
};

/* How many are to be made before the search makes the next run of its own, behind `runs` of them. first: the first
 * failure is what is wanted. */
uint64_t pct_walks_due(uint64_t runs, bool first);

/* The plan of the one of this number, from 1. */
uint32_t pct_walks_plan(uint64_t number);

/* A run was of this class: one of these (walk), or of the search. Returns 0 or -ENOMEM. */
int pct_walks_note(struct pct_walks *walks, uint64_t class_, bool walk);

/* How many classes these came to and the search did not. */
size_t pct_walks_unmet(const struct pct_walks *walks);

void pct_walks_free(struct pct_walks *walks);

#endif
