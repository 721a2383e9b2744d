/* The depth of a bug, measured: the fewest ordering constraints under which every schedule fails. */
#ifndef PCT_CLI_DEPTH_H
#define PCT_CLI_DEPTH_H

#include <cli/trace/orders.h>
#include <cli/trace/switches.h>
#include "query_run.h"

/* Schedules that decide whether a set of constraints is enough: while looking, and for the result; of each ordering
 * reversed; and how often to look. A set under which 19 of 20 schedules fail passes for enough 44 times of 100
 * while looking, and in the end once of 170. */
enum { PCT_DEPTH_SEARCH = 16, PCT_DEPTH_CONFIRM = 100, PCT_DEPTH_NEGATED = 24, PCT_DEPTH_AGAIN = 3 };

/* What becomes of the schedules that keep to a set of constraints. */
struct pct_tally {
    unsigned failed;    /* in the way that is looked for */
    unsigned otherwise; /* in another one */
    unsigned passed;
};

/* A constraint that is necessary. */
struct pct_need {
    struct pct_order order;
    struct pct_tally negated; /* with it the other way round: schedules that kept to all others */
    /* If some of these fail, the bug has more ways to happen. Constraints with which none of these others is left;
     * none: there are none, or were not found. If `shared`, the failing run kept to them, too: so the failure depends
     * on this ordering alone. */
    struct pct_orders held;
    bool shared;
    struct pct_tally held_negated,
        held_kept; /* with these: with this ordering the other way round; and, if shared, as it was */
};

struct pct_depth {
    struct pct_need *needs;
    size_t count;        /* the depth; 0 with `always`: the default order fails, and so does every other */
    bool measured;       /* false: not even all constraints together decide it */
    unsigned failed, of; /* schedules that kept to the constraints */
    size_t candidates;   /* orderings of the failing run that were looked at */
    size_t left_out;     /* and earlier ones, which were not */
    struct pct_switches
        simplest; /* the smallest schedule among those that failed; of equal ones with fewest preemptions */
    uint64_t simplest_size, simplest_preemptions;
};

/* Whether the failure has to do with it: reversed, it fails less often; or all schedules pass that keep to some
 * more. Also where it could not be reversed. */
bool pct_need_decides(const struct pct_depth *depth, const struct pct_need *need);

/* Measure it, from a failing run and one that passes (or NULL). Returns 0, or runs->status. */
int pct_depth_measure(struct pct_depth *depth, struct pct_query_runs *runs, const struct pct_run_view *failing,
                      const struct pct_run_view *passing);
void pct_depth_free(struct pct_depth *depth);

#endif
