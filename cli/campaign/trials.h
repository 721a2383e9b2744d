/* Trials of the diagnoses of a failing run: in two runs for each, the thread goes on before what is said to come
 * between its steps (between.h), or right behind it. On the command's only thread. */
#ifndef PCT_CLI_TRIALS_H
#define PCT_CLI_TRIALS_H

#include "diagnosing.h"

/* Trials at a time. */
enum { PCT_TRIALS = 8 };

struct pct_trial {
    size_t item;   /* of the diagnoses */
    char *list[2]; /* of the runs, for the strategy `schedule`: before, and behind */
    bool ended[2], fails[2];
    bool seen, has[PCT_TRIALS]; /* the first run was looked at; and which of the diagnoses that are tried it has */
};

/* Note which of the diagnoses that are tried the first run of this trial has. */
void pct_trials_see(struct pct_diagnosing *diagnosing, struct pct_trial *trials, size_t count, size_t trial,
                    const struct pct_history *history);

/* Weigh the diagnoses, whose order stays, by these trials of some of them. Returns whether both of one speak for it. */
bool pct_trials_weigh(struct pct_diagnosing *diagnosing, const struct pct_trial *trials, size_t count);

/* Leave out what is no more than likely, was not tried with success, and consists of updates: it is mostly what came of
 * the cause. */
void pct_trials_drop_effects(struct pct_diagnosing *diagnosing);

/* Whether the best diagnosis is more than likely, and does not consist of updates: where these are all that is seen,
 * what belongs together is mostly another access. */
bool pct_trials_trust(const struct pct_diagnosing *diagnosing);

#endif
