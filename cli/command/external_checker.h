/* A replay under another tool, `pct replay --with 'valgrind -q'` and `--rr`: the command that the target is an argument
 * of. */
#ifndef PCT_CLI_EXTERNAL_CHECKER_H
#define PCT_CLI_EXTERNAL_CHECKER_H

#include <cli/process/launch.h>

/* Put the words of `with` (split as a shell would) before the launch's command, before pct_launch_prepare(). Returns 0,
 * or an exit status after a message: for tools that are not there, or that are known not to work. */
int pct_external_checker_prepare(struct pct_launch *launch, const char *with);

#endif
