/* Whether this machine has the watchpoints of --watch. */
#ifndef PCT_CLI_WATCH_H
#define PCT_CLI_WATCH_H

/* Try one on a variable of our own. Returns 0, or PCT_EXIT_USAGE after a message that says why there is none, and what
 * to do. watch: what --watch says, for that. */
int pct_watch_check(const char *watch);

#endif
