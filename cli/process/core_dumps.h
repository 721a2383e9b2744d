/* Core dumps of failing runs: `pct run --save DIR` keeps them beside the traces. */
#ifndef PCT_CLI_CORE_DUMPS_H
#define PCT_CLI_CORE_DUMPS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The kernel has written the core of this process, which was in `directory` ("": ours): move it to this path. Returns
 * false with one line in why, if it is not where the kernel's core_pattern says, or somebody else got it. */
bool pct_core_dumps_keep(pid_t pid, const char *directory, const char *path, char *why, size_t size);

#endif
