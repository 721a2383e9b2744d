/* `pct explain --script`: the orderings that a bug needs as a script, which was tried. */
#ifndef PCT_CLI_EXPLAIN_SCRIPT_H
#define PCT_CLI_EXPLAIN_SCRIPT_H

#include <cli/analyze/analysis.h>

/* Write it to this file, and say how it is run. An existing file is replaced if the program fails under the new script
 * as it did before, and not otherwise. Returns 0, or the exit status for the command, after a message. */
int pct_explain_script(const struct pct_analysis *analysis, const char *path);

#endif
