/* The end of the process by exit: exit.c. */
#ifndef PCT_PRELOAD_EXIT_H
#define PCT_PRELOAD_EXIT_H

#include <preload/core/shim.h>

/* Pass the point of the final wait. */
void pct_exit_point(struct pct_shim_thread *self, int status);

/* At the start, before anybody registers a handler of exit: see the end behind all of them, at a point, and when a
 * sanitizer ends the process. */
void pct_exit_watch(void);

#endif
