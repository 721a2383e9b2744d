/* Threads that have ended by a system call of their own (SYS_exit, inline), about which nobody tells: gone.c. For the
 * watchdog alone; folder: a descriptor of /proc/self/task. */
#ifndef PCT_PRELOAD_GONE_H
#define PCT_PRELOAD_GONE_H

#include <preload/core/shim.h>

/* In this process there is none yet. */
void pct_gone_start(void);
/* Whether this thread, which seemed to have the baton, is gone, and it was: then others go on. */
bool pct_gone_holder(struct pct_shim_thread *thread, int folder);
/* Those that are gone while they were outside get a turn, and those whose turn it is come to their end. */
void pct_gone_look(int folder);

/* If only one thread is left, be ready to say how that ends. */
void pct_gone_see_last(void);

#endif
