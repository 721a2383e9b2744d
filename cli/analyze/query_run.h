/* Runs that queries make of a failing target under schedules of our own making, each judged against the failure that is
 * looked for. For minimize and explain, on the command's only thread. */
#ifndef PCT_CLI_QUERY_RUN_H
#define PCT_CLI_QUERY_RUN_H

#include <cli/base/cli.h>
#include <cli/campaign/engine.h>

/* A way to fail. Two runs fail in the same way if these are equal: a crash by the same signal, the same assertion, ...
 */
struct pct_failure {
    enum pct_ending ending;
    int code;           /* as of struct pct_result */
    char message[1024]; /* an assertion's text */
};

/* How far it all is, for who waits. */
struct pct_query_progress {
    const char *what;       /* is being done in this step; NULL: nothing was begun */
    double begun, drawn;    /* when the step began, and when it was last said: on the clock of pct_cli_now() */
    uint64_t runs, answers; /* of this step */
    uint64_t left;          /* queries of this step that are still to come, at most; 0: not known */
    uint64_t preemptions;   /* of the smallest schedule so far */
    bool known;             /* whether there is one */
    bool quiet;
};

/* What all runs of queries have in common. */
struct pct_query_runs {
    struct pct_launch launch;
    struct pct_config config;   /* of the run that failed: seed, kind of time, step bound are those of all runs */
    char *list;                 /* its strategy's, where that is too long for it; NULL: it has it */
    struct pct_failure failure; /* what is looked for */
    unsigned jobs;              /* this many runs at a time; no answer depends on it */
    unsigned width;             /* of these CPUs; jobs may be fewer for a while */
    uint64_t made;              /* so far, that were looked at */
    uint64_t vain;              /* and others, that were started early and turned out not to be needed */
    double begun;               /* on the clock of pct_cli_now() */
    double seconds;             /* so long after that what was found so far is the result */
    double kept;                /* of these, to show it: no more is tried then */
    double until;               /* nor behind this moment, for a step that may not take all of the time; 0: it may */
    bool quick;                 /* only what one look at each ordering tells */
    bool late;                  /* this time is over, or we were told to end, and something was left undone */
    bool cut;                   /* the time of a step was over, and something was left undone */
    int interrupted;            /* the signal that told us to end, 0: none; */
    double interrupted_at;      /* when the first one came */
    bool steady;                /* the failing run always takes the same steps */
    unsigned repeat;            /* a schedule is judged by this many runs: 1 if the schedule decides everything */
    double rate;                /* of these fail at least this many, from 0 to 1 */
    int status; /* not 0: nothing can be run any more; the exit status for the command, after a message */
    struct pct_query_progress progress;
};

/* A schedule to be tried. */
struct pct_try {
    const char *strategy; /* `schedule` or `order`; NULL: the configuration that failed, again */
    char *list;           /* of that strategy, allocated; NULL: none */
    uint64_t seed;
    const char *sites; /* PCT_SITES, or NULL */
};

/* One run. */
struct pct_query_run {
    struct pct_process process;
    struct pct_result result; /* its traces are valid until pct_query_run_close() */
    bool fails;               /* in the way that is looked for */
    bool taken;               /* somebody else closes it (queries.h) */
};

/* Whether this run failed at all; then how. */
bool pct_failure_read(struct pct_failure *failure, const struct pct_result *result);
bool pct_failure_same(const struct pct_failure *a, const struct pct_failure *b);

/* "deadlock", "assertion failed: ...", for a sentence. Returns buffer. */
const char *pct_failure_format(char *buffer, size_t size, const struct pct_failure *failure);

/* What a run of this schedule is, with this seed. */
void pct_query_run_spec(const struct pct_query_runs *runs, const struct pct_try *what, uint64_t seed,
                        struct pct_run_spec *spec);
void pct_query_run_close(struct pct_query_run *run);

/* Whether this many failing runs of `of` are enough, be it that none of the others fails: 1 or 0; -1: more runs have to
 * tell. */
int pct_query_runs_verdict(const struct pct_query_runs *runs, unsigned failed, unsigned of);

/* What must be done when the time is over has this many seconds more, and ends then, a run that is under way, too. */
enum { PCT_QUERY_RUNS_GRACE = 10 };

/* The time begins, and with it that of all runs of this launch. */
void pct_query_runs_begin(struct pct_query_runs *runs);

/* Seconds that are left for all of it but showing what was found. */
double pct_query_runs_left(const struct pct_query_runs *runs);

/* From here on, this share of what is left of the time, from 0 to 1, and no more. */
void pct_query_runs_share(struct pct_query_runs *runs, double share);

/* It takes this many seconds to make the run again that will be shown. */
void pct_query_runs_keep(struct pct_query_runs *runs, double seconds);

/* Whether it is time to stop, for one reason or another; notes which. */
bool pct_query_runs_over(struct pct_query_runs *runs);

/* Why something was left undone: "out of time" or "interrupted". */
const char *pct_query_runs_why(const struct pct_query_runs *runs);

/* The exit status of a command whose work was done, but for what was left out after a signal. */
int pct_query_runs_status(const struct pct_query_runs *runs);

/* Say how far these runs are on standard error, if it is time to. */
void pct_query_runs_draw_progress(struct pct_query_runs *runs);

#endif
