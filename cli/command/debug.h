/* A replay under a debugger: `pct replay --gdb` and `--lldb`. */
#ifndef PCT_CLI_DEBUG_H
#define PCT_CLI_DEBUG_H

#include <cli/process/launch.h>

enum pct_debug_with { PCT_DEBUG_GDB, PCT_DEBUG_LLDB };

/* Run this debugger on the target that was prepared for this launch, in the schedule of this token (or of
 * launch->replay), with further arguments for the debugger (split as a shell would; NULL: none). hash: that of the run
 * which is repeated, or NULL; if the last run under the debugger came to its end, a message says whether it was the
 * same; *same is false if it was not. Returns the debugger's exit status, or one for the command after a message. */
int pct_debug(enum pct_debug_with with, const struct pct_launch *launch, const char *token, const char *arguments,
              const uint64_t *hash, bool *same);

#endif
