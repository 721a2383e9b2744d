/* What tells the classes of schedules that fail from those that pass: orderings of two operations that a failing class
 * has, and no passing one has all of. It is exact where all classes were added, and only there. Pure; memory from
 * malloc. */
#ifndef PCT_CLI_SEPARATE_H
#define PCT_CLI_SEPARATE_H

#include "execution.h"

enum { PCT_SEPARATION_ORDERS = 6 };

/* An operation of a class that fails: the nth, from 0, of this operation by its thread; or what that was about to do.
 */
struct pct_separated {
    uint16_t thread;
    uint8_t op; /* enum pct_op */
    bool pending;
    uint32_t nth;
};

/* One operation came before another one, which came later or never. */
struct pct_separating_order {
    struct pct_separated first, then;
};

/* All classes that have these orderings fail. */
struct pct_separating {
    struct pct_separating_order order[PCT_SEPARATION_ORDERS];
    unsigned orders;
    uint64_t classes; /* that fail like this and have them, */
    uint64_t failing; /* of this many; */
    uint64_t passing; /* none of this many that pass has */
};

struct pct_separation;

/* NULL: no memory. */
struct pct_separation *pct_separation_new(void);
void pct_separation_free(struct pct_separation *separation);

/* One more class, which is copied. failure: how it failed; 0: it passes. Where there is no memory for all of them,
 * nothing is found. */
void pct_separation_add(struct pct_separation *separation, const struct pct_execution *execution, uint64_t failure);

/* Forget the class that was added last: it turned out to be one that is known, or none. */
void pct_separation_drop(struct pct_separation *separation);

/* Orderings that the first class has that fails like this, and no class that passes has all of: one, or two, if that
 * does, and those that most of the failing ones have. False: a few orderings do not tell it from all that pass, or
 * there was no memory. */
bool pct_separation_find(const struct pct_separation *separation, uint64_t failure, struct pct_separating *found);

#endif
