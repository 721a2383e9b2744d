/* A replay under a debugger: `pct replay --gdb`. */
#ifndef PCT_CLI_DEBUG_H
#define PCT_CLI_DEBUG_H

#include "launch.h"

/* Run gdb on the target that was prepared for this launch, in the schedule of this token (or of launch->replay), with further
 * arguments for gdb (split as a shell would; NULL: none). hash: that of the run which is repeated, or NULL; if the last run
 * under gdb came to its end, a message says whether it was the same. Returns gdb's exit status, or one for the command after a
 * message. */
int pct_debug(const struct pct_launch *launch, const char *token, const char *arguments, const uint64_t *hash);

#endif
