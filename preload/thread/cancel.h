/* Cancellation: cancel.c. */
#ifndef PCT_PRELOAD_CANCEL_H
#define PCT_PRELOAD_CANCEL_H

#include <preload/core/shim.h>

/* Ask libc's version how it cancels. Before the target's first call. */
void pct_cancel_start(void);

/* Act on a cancellation that is pending: at the start of a cancellation point, and where a wait has ended with
 * PCT_CANCELLED and is recorded. Returns if libc acts on none: the thread is ending already. */
void pct_cancel_point(struct pct_shim_thread *self);
/* The same behind a point, or a wait, of which nothing is recorded: that it was cancelled is the step. Without one, a
 * replay would not know that the thread went on here, with what comes before its next one. */
void pct_cancel_behind(struct pct_shim_thread *self);

/* With the baton: a thread without it has asked for this one to be cancelled. */
void pct_cancel_told(pthread_t handle);

#endif
