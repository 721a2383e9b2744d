/* Random schedules that keep to a set of ordering constraints: how many of them fail. The query behind the depth of
 * a bug (depth.h), and behind what becomes of it when an ordering is reversed (negated_orders.h). */
#ifndef PCT_CLI_CONSTRAINED_RUNS_H
#define PCT_CLI_CONSTRAINED_RUNS_H

#include <cli/trace/orders.h>
#include <cli/campaign/delta_debugging.h>
#include "query_run.h"

struct pct_constrained {
    struct pct_query_runs *runs;
    const struct pct_orders *orders;
    size_t negated;     /* this one of them the other way round; SIZE_MAX: none */
    size_t fixed;       /* the first this many are not taken away */
    unsigned schedules; /* that a set is judged by; a run that was forced to break a constraint is none of them */
    uint64_t seed;      /* of the next schedule: those of one analysis differ */
    /* A set is not sampled further when this many have passed, or not failed in the way that is looked for; or this
     * many have not passed. */
    unsigned most_passed, most_failed;
    /* Of the last sample: */
    unsigned failed;    /* in the way that is looked for */
    unsigned otherwise; /* in another one */
    unsigned passed;
    unsigned forced; /* runs that broke a constraint, because all who could go on would have */
    /* Told of each run that keeps to the set, or NULL. */
    void (*look)(void *context, const struct pct_query_run *run, bool passes);
    void *context;
    /* Private: */
    const bool *keep;
    struct pct_reduction ahead;
    bool (*enough)(const struct pct_constrained *constrained);
    bool found;
    size_t which;
};

/* Schedules of the last sample. */
unsigned pct_constrained_of(const struct pct_constrained *constrained);

/* Run schedules that keep to those for which keep[] is true. Returns 0, or runs->status. */
int pct_constrained_sample(struct pct_constrained *constrained, const bool *keep);

/* Take away from keep[] (but for those that are fixed) as long as enough() says that a sample will do. Returns 0, or
 * not 0 as pct_delta_debug(); keep[] then is a set that will do all the same. */
int pct_constrained_reduce(struct pct_constrained *constrained, bool *keep,
                           bool (*enough)(const struct pct_constrained *constrained));

#endif
