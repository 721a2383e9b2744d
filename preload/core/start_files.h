/* The files that the environment names: the trace, before it is opened, and a strategy's list. At the start, by the
 * only thread. */
#ifndef PCT_PRELOAD_START_FILES_H
#define PCT_PRELOAD_START_FILES_H

#include <pct/trace.h>
#include "channel.h"
#include <stdbool.h>

/* Whether that header belongs to a run that this process is a child of: another process has it, which still runs, or
 * for which alone the file was made (it may have ended, as that of a daemon does). */
bool pct_trace_file_in_use(const struct pct_trace_header *header);

/* The name of a file, wherever the program goes from here. NULL: there is no memory. */
const char *pct_trace_file_absolute(const char *path);

/* start.c: there is no memory for what pct needs: say so, and end the process with PCT_EXIT_INTERNAL. Any thread with
 * the baton, or the only one. */
void pct_start_fail_for_memory(void) __attribute__((noreturn));

/* The limit of the process's address space in bytes (RLIMIT_AS), UINT64_MAX: there is none. */
uint64_t pct_start_address_space(void);

/* Bytes of address space that the process uses, the shim's (pct_shim.space) included; 0: not known. */
uint64_t pct_start_space_used(void);

/* Bytes of address space for the trace that the limits leave. */
size_t pct_trace_file_size(void);

/* The text of a file without its last line ends, in memory of its own. NULL: it cannot be read, or there is no memory.
 */
const char *pct_start_read(const char *path);

#endif
