/* The files that the environment names: the trace, before it is opened, and a strategy's list. At the start, by the
 * only thread. */
#ifndef PCT_PRELOAD_START_FILES_H
#define PCT_PRELOAD_START_FILES_H

#include <pct/trace.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether that header belongs to a run that this process is a child of: another process has it, which still runs, or
 * for which alone the file was made (it may have ended, as that of a daemon does). */
bool pct_trace_file_in_use(const struct pct_trace_header *header);

/* Bytes of address space for the trace that the limits leave. */
size_t pct_trace_file_size(void);

/* The run is recorded in this file. Ends the process where there is no memory. */
void pct_trace_file_keep(const char *path);

/* The trace's file is mapped here, with this size in bytes; make its header. old: what stood there; images: which
 * program of this process it is. */
struct pct_trace_header *pct_trace_file_take(struct pct_trace_header *header, size_t size,
                                             const struct pct_trace_header *old, uint32_t images);

/* The text of a file without its last line ends, in memory of its own. NULL: it cannot be read, or there is no memory.
 */
const char *pct_start_read(const char *path);

/* The text of a packed list, likewise. NULL: it is none. */
const char *pct_start_unpack(const char *packed);

#endif
