/* The options that `pct run` and `pct campaign` share, beside those of configure.h: how many runs it takes, what is
 * made before them, and of which test cases. */
#ifndef PCT_CLI_RUNS_OPTIONS_H
#define PCT_CLI_RUNS_OPTIONS_H

#include <argp.h>
#include <cli/campaign/campaign.h>

struct pct_runs_options {
    struct pct_campaign *campaign; /* gets confidence and budget */
    double explore;                /* seconds that pct explore may take before, 0: it is not asked, */
    bool explore_said;             /* nor at any other time */
    bool each_test;
    const char *framework; /* what --each-test says */
};

/* Their parser, whose input is a struct pct_runs_options. */
extern const struct argp pct_runs_options_argp;

/* --confidence and --budget, when the strategy is known. counted: -n gave a number, `runs`. most: with --confidence, as
 * many runs as it may be at most; 0 without. Returns 0, or PCT_EXIT_USAGE after a message. */
int pct_runs_options_confidence(struct pct_campaign *c, bool counted, uint64_t runs, uint64_t *most);

#endif
