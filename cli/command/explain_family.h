/* `pct explain --script` of a run whose other processes have threads, too: the turns that the threads of each take. */
#ifndef PCT_CLI_EXPLAIN_FAMILY_H
#define PCT_CLI_EXPLAIN_FAMILY_H

#include <cli/analyze/shrink.h>

/* Where one of the other processes of the failing run has threads: write the script to this file, and say how it is
 * run. *found: there is one. Returns 0, or the exit status for the command, after a message. */
int pct_explain_family(struct pct_shrink *shrink, const char *path, bool *found);

#endif
