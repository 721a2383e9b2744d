/* The ways that the choices of a script can go, as a tree of which each run is a leaf: which were gone, and which is
 * next. A way is told by the first choices of a run; the run makes the others itself, and says which it made. */
#ifndef PCT_CLI_SCRIPT_WAYS_H
#define PCT_CLI_SCRIPT_WAYS_H

#include <common/script.h>

enum pct_ways_order {
    PCT_WAYS_DEPTH,   /* the last choice that has a way left goes another one */
    PCT_WAYS_BREADTH, /* the first one */
    PCT_WAYS_RANDOM   /* as a walk would that takes each way of a choice alike often, but none twice */
};

struct pct_ways;

/* NULL: out of memory. seed: of the order RANDOM. */
struct pct_ways *pct_ways_new(enum pct_ways_order order, uint64_t seed);
void pct_ways_free(struct pct_ways *ways);

/* The next way: *count choices, which stand in plan[] from then on. Later ones are not known yet. False: there is none
 * before more runs were added; where none is under way, all were gone. */
bool pct_ways_next(struct pct_ways *ways, struct pct_script_choice plan[PCT_SCRIPT_CHOICES], uint32_t *count);

/* A run has made these choices, the first `planned` of which it was told by plan[]. Returns 0; -EINVAL: it did not keep
 * to them, so it is no leaf of this tree; -ENOMEM. */
int pct_ways_add(struct pct_ways *ways, const struct pct_script_choice *plan, uint32_t planned,
                 const struct pct_script_choice *made, uint32_t count);

/* The share of runs that a walk which takes each way of a choice alike often would find added already: 1 when all
 * were. What is left of it tells how many are (Knuth, Estimating the efficiency of backtrack programs, 1975). */
double pct_ways_share(const struct pct_ways *ways);

#endif
