/* The depth of a bug, measured: the fewest ordering constraints under which every schedule fails. */
#ifndef PCT_CLI_DEPTH_H
#define PCT_CLI_DEPTH_H

#include "orders.h"
#include "switches.h"
#include "trial.h"

/* Schedules that decide whether a set of constraints is enough: while looking, and for the result. */
enum { PCT_DEPTH_SEARCH = 16, PCT_DEPTH_CONFIRM = 24 };

/* A constraint that is necessary. */
struct pct_need {
    struct pct_order order;
    unsigned passed, of; /* with it the other way round: so many schedules passed, of so many that kept to all */
};

struct pct_depth {
    struct pct_need *needs;
    size_t count;                 /* the depth; 0 with `always`: the default order fails, and so does every other */
    bool measured;                /* false: not even all constraints together decide it */
    unsigned failed, of;          /* schedules that kept to the constraints */
    size_t candidates;            /* orderings that the failing run had */
    struct pct_switches simplest; /* the schedule with the fewest preemptions, and switches, among those that failed */
    uint64_t simplest_preemptions, simplest_switches;
};

/* Measure it, from a failing run and one that passes (or NULL). Returns 0, or trials->status. */
int pct_depth_measure(struct pct_depth *depth, struct pct_trials *trials, const struct pct_run_view *failing,
                      const struct pct_run_view *passing);
void pct_depth_free(struct pct_depth *depth);

#endif
