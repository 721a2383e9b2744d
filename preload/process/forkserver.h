/* The fork server: see forkserver.c. Before there is a run. */
#ifndef PCT_PRELOAD_FORKSERVER_H
#define PCT_PRELOAD_FORKSERVER_H

#include <stdbool.h>
#include <stddef.h>

/* From the constructor: this process serves runs on this descriptor, and is none itself. environment: as on the stack.
 */
void pct_forkserver_start(int fd, char **environment);

/* Whether this process is a server, or a run that one has forked. */
bool pct_forkserver_is_on(void);

/* The place where the run would begin: serve. Returns in a forked run, which has changed that environment to its own;
 * never in the server. */
void pct_forkserver_serve(char **environment);

/* Keep this much address space for a trace. And where that is, for one trace; NULL: nowhere. Where nothing was kept, it
 * is now: a run that was started by exec shall have its trace where a forked one has it, and Linux aligns large
 * mappings of files and those of none differently. */
void pct_forkserver_reserve(size_t size);
void *pct_forkserver_reserved(size_t size);

#endif
