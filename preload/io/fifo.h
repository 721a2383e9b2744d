/* Opening named pipes, for the wrappers of open() and fork(). */
#ifndef PCT_PRELOAD_FIFO_H
#define PCT_PRELOAD_FIFO_H

#include "io.h"
#include <sys/types.h>

/* openat; or, with the mode and another argument of any kind behind it, its like. */
typedef int pct_fifo_opener(int folder, const char *path, int flags, ...);

/* Whether an open() with these flags may wait for the other end of a named pipe, and other threads are there that must
 * not wait with it. With the baton. */
bool pct_fifo_waits(int folder, const char *path, int flags);

/* That open(), by `real`, which gets `more`, too; passes a scheduling point, and waits for the other end (fifo(7)).
 * Returns the descriptor, or -1 with errno as libc's. A cancellation point. With the baton. */
int pct_fifo_open(struct pct_shim_thread *self, pct_fifo_opener *real, int folder, const char *path, int flags,
                  mode_t mode, const void *more);

/* What open() has given, or -1, with flags with which it does not wait: if it is an end of a named pipe, whose other
 * end this process or another one has, that is noted. With the baton. */
void pct_fifo_opened(int fd, int flags);

/* The descriptors of ends that threads are about to open, at most this many: a fork child must not have them. Returns
 * how many. With the baton. */
unsigned pct_fifo_half_open(int *fds, unsigned most);

#endif
