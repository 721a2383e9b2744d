/* Trials: runs of a failing target under schedules of our own making, each judged against the failure that is looked for.
 * For minimize and explain, on the command's only thread. */
#ifndef PCT_CLI_TRIAL_H
#define PCT_CLI_TRIAL_H

#include "cli.h"
#include "launch.h"

/* A way to fail. Two runs fail in the same way if these are equal: a crash by the same signal, the same assertion, ... */
struct pct_failure {
    enum pct_ending ending;
    int code;           /* as of struct pct_result */
    char message[1024]; /* an assertion's text */
};

/* What all trials have in common. */
struct pct_trials {
    struct pct_launch launch;
    struct pct_config config;   /* of the run that failed: seed, kind of time, step bound are those of all trials */
    struct pct_failure failure; /* what is looked for */
    uint64_t runs;              /* so far */
    double seconds;             /* that these took */
    unsigned repeat;            /* a schedule is judged by so many runs: 1 if the schedule decides everything */
    double rate;                /* of these fail at least so many, from 0 to 1 */
    int status;               /* not 0: nothing can be run any more; the exit status for the command, after a message */
    char list_path[PATH_MAX]; /* scratch file for lists that are too long for a token, "" while there is none */
    int list;
};

/* One run. */
struct pct_trial {
    struct pct_process process;
    struct pct_result result; /* its traces are valid until pct_trial_close() */
    bool fails;               /* in the way that is looked for */
};

/* Whether this run failed at all; then how. */
bool pct_failure_read(struct pct_failure *failure, const struct pct_result *result);
bool pct_failure_same(const struct pct_failure *a, const struct pct_failure *b);

/* "deadlock", "assertion failed: ...", for a sentence. Returns buffer. */
const char *pct_failure_format(char *buffer, size_t size, const struct pct_failure *failure);

/* Run once by the strategy `schedule` or `order` with this list, and this seed. Returns 0, or trials->status. */
int pct_trial_run(struct pct_trials *trials, struct pct_trial *trial, const char *strategy, const char *list,
                  uint64_t seed);
/* The same by the configuration that failed, with this strategy's own parameters. */
int pct_trial_again(struct pct_trials *trials, struct pct_trial *trial);
void pct_trial_close(struct pct_trial *trial);

/* Whether this list of switches still fails: 1 or 0; negative if there is a status. */
int pct_trials_fail(struct pct_trials *trials, const char *switches);

void pct_trials_finish(struct pct_trials *trials);

#endif
