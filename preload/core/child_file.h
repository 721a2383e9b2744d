/* What a child process leaves for the command: a file beside the trace of the first process, named after it and the
 * child. */
#ifndef PCT_PRELOAD_CHILD_FILE_H
#define PCT_PRELOAD_CHILD_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* This process is not recorded because it is a child of one that is. */
bool pct_is_child(void);
/* It, which ends, gets a file for this size: its descriptor, or negative: it may not, or has no room. */
long pct_child_file_open(size_t size);
/* For want of memory: only how it ended, as pct_shim.header has it. */
void pct_child_file_leave(void);

#endif
