/* Whether this machine has the watchpoints of --watch. */
#ifndef PCT_CLI_WATCH_H
#define PCT_CLI_WATCH_H

#include <stdbool.h>

/* Why there are none, and what to do ("" if there is nothing). */
struct pct_watch_refusal {
    char why[80];
    const char *way;
};

/* Try one on a variable of our own. False: there are none. */
bool pct_watch_try(struct pct_watch_refusal *refusal);

/* The same for the command line: returns 0, or PCT_EXIT_USAGE after a message that says why there is none, and what
 * to do. watch: what --watch says, for that. */
int pct_watch_check(const char *watch);

#endif
