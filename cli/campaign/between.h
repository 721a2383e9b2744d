/* Whether it matters that something comes between two steps of a thread: two runs decide. In one that thread goes on
 * before what is said to come between, in the other one right behind it; up to there both are as the run that fails,
 * and so they are behind that, as far as they can be. Pure; on the command's only thread. */
#ifndef PCT_CLI_BETWEEN_H
#define PCT_CLI_BETWEEN_H

#include <cli/diagnose/diagnosis.h>

/* Whether the diagnosis speaks of something that comes between. */
bool pct_between_is_said(const struct pct_diagnosis *diagnosis);

/* The list, for the strategy `schedule`, of the run in which the thread goes on before what comes between, or, if
 * `behind`, behind it. To be freed; NULL: there is no such run, or memory is short. */
char *pct_between_get(const struct pct_history *history, const struct pct_diagnosis *diagnosis, bool behind);

#endif
