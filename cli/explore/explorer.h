/* The runs of `pct explore`: a campaign whose observer tells each run how to begin, and looks at what came of it. What
 * it can say at the end: verdict.c. */
#ifndef PCT_CLI_EXPLORER_H
#define PCT_CLI_EXPLORER_H

#include "search.h"
#include <cli/campaign/campaign.h>

struct pct_finding {
    uint64_t hash;  /* of its signature */
    uint64_t count; /* classes that fail like that */
    char title[512];
    char token[PCT_TOKEN_MAX]; /* "": its schedule is too long for one */
    uint64_t run;              /* the first that failed so, from 1 */
    struct pct_tuple tuple;    /* its, with a bound */
    bool replayed;             /* the token was, and the run failed alike */
};

struct pct_explorer {
    struct pct_campaign_observer observer; /* first */
    /* What to do. */
    bool first;    /* stop at the first finding */
    bool progress; /* draw the progress line */
    bool quiet;
    int bound; /* at most this many preemptions; PCT_UNBOUNDED */
    enum pct_search_order order;
    double budget;  /* seconds, 0: no bound */
    uint64_t limit; /* runs, 0: no bound */
    /* What came of it. */
    struct pct_search *search;
    struct pct_finding *finding;
    size_t findings;
    uint64_t failing; /* classes */
    uint64_t cut;     /* runs that a bound or a time limit has ended */
    uint64_t passed;  /* runs that neither failed nor were cut off */
    bool complete;    /* the search is over */
    bool used_up;     /* the budget is, or the runs are */
    bool unreadable;  /* a run left no log, or one that does not fit its trace */
    bool children;    /* a run has started programs, or become another one */
    bool memory;      /* accesses to memory were scheduling points */
    bool deadlines;   /* there were waits with a deadline */
    bool timers;      /* that the outside may end, or timers */
    bool handlers;    /* points were passed over */
    bool differs;     /* runs without a plan were not all the same */
    uint32_t assumes; /* of all runs: bit i: enum pct_assumption i */
    uint32_t threads;
    double seconds;
    /* Of its own. */
    double began;
    struct pct_execution plain; /* of the first run without a plan; count 0: none */
    unsigned again;             /* such runs made behind the search, to compare */
    int channel_file;
    char channel_path[64];
    struct pct_channel *channel;
    struct pct_process *failed; /* a run whose finding is to be replayed; */
    struct pct_execution execution;
    bool read; /* `execution` is that of the run that is looked at */
};

/* Prepare. Returns 0, or an exit status after a message. */
int pct_explorer_open(struct pct_explorer *explorer, struct pct_campaign *campaign);
void pct_explorer_close(struct pct_explorer *explorer);

/* Explore. Returns as pct_campaign_run(). */
int pct_explorer_run(struct pct_explorer *explorer, struct pct_campaign *campaign);

/* verdict.c: say on standard error what is known now, the last line first in importance. Returns the exit status: 0
 * verified, 1 found, PCT_EXIT_CONFIDENCE not verified. interrupted: by this signal, 0: not. */
int pct_explorer_verdict(const struct pct_explorer *explorer, const struct pct_campaign *campaign, int interrupted);

/* token.c: the token of a run's schedule, with which it replays without us. False: it is too long for one. */
bool pct_explorer_token(const struct pct_trace *trace, char *token, size_t size);

#endif
