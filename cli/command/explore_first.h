/* `pct explore` with the options of `pct run` and `pct campaign`: with --explore before them, for a while; else behind
 * the first runs, for some. A program that has few enough classes of schedules needs no random schedules then. */
#ifndef PCT_CLI_EXPLORE_FIRST_H
#define PCT_CLI_EXPLORE_FIRST_H

#include "configure.h"
#include <cli/campaign/oracle.h>

enum { PCT_EXPLORE_FIRST_SECONDS = 10 };

struct pct_explore_first {
    struct pct_campaign *campaign; /* its command, jobs and ok; before pct_configure() */
    const struct pct_run_options *schedules;
    const struct pct_oracle *oracle; /* NULL: there is none */
    const char *path;                /* the exploration's file; NULL: it has none */
    const char *trace;               /* --trace, or NULL */
    bool resumes;                    /* it is there */
    double seconds;                  /* more than 0: at most so long */
    bool quiet;
    /* What came of it. */
    bool complete; /* all was explored: the file is there, and *status is to be the command's */
    int status;    /* 0: verified; 1: there are findings */
};

/* Explore; says on standard error what came of that. Returns 0, or an exit status after a message. Where not all was
 * explored, there is no file but one that was there. */
int pct_explore_first(struct pct_explore_first *first);

/* Without --explore: whether a campaign of this many runs, which is configured, explores behind its first ones, and how
 * (campaign/exploring.h). *first has to stay. */
void pct_explore_plan(struct pct_explore_first *first, uint64_t runs);

#endif
