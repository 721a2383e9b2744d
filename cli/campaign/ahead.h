/* Failures that a campaign has seen and not counted yet: they stand behind a run that was cut and is made again, which
 * may take a minute. They are said at once; they become findings in the order of their runs, whatever becomes of the
 * other, and if the campaign is interrupted before that, its file has nothing of them: the same command makes these
 * runs again. All is called on the command's only thread. */
#ifndef PCT_CLI_AHEAD_H
#define PCT_CLI_AHEAD_H

#include <cli/process/launch.h>

struct pct_ahead_failure {
    uint64_t signature, seed;
    char *title, *replay; /* the replay's command, without `pct` */
};

struct pct_ahead {
    struct pct_ahead_failure *failure;
    size_t count;
};

/* The failure of this run, whose seed is this: note it, and say it unless `quiet`, if none with its signature is there.
 * Returns 0 or -ENOMEM. */
int pct_ahead_add(struct pct_ahead *ahead, const struct pct_launch *launch, const struct pct_process *process,
                  const struct pct_result *result, uint64_t signature, const char *title, uint64_t seed, bool quiet);

/* The failure with this signature is a finding now. */
void pct_ahead_remove(struct pct_ahead *ahead, uint64_t signature);

/* The campaign ends here: say those that are left, with the commands that replay them, on standard error. */
void pct_ahead_print(const struct pct_ahead *ahead);

void pct_ahead_free(struct pct_ahead *ahead);

#endif
