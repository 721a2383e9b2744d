/* The loader's lock. */
#ifndef PCT_PRELOAD_LOADER_H
#define PCT_PRELOAD_LOADER_H

#include "shim.h"

/* Whether the calling thread is in a callback of dl_iterate_phdr(), and not out of it by a jump. Any thread, of itself.
 */
static inline __attribute__((always_inline)) bool pct_loader_is_held(const struct pct_shim_thread *self)
{
    return PCT_UNLIKELY(self->loader != NULL) && (uintptr_t)__builtin_frame_address(0) < (uintptr_t)self->loader;
}

/* Find the loader's lock. When the second thread is about to be made, with the baton, or before the runs of a fork
 * server; of several calls, the first counts. */
void pct_loader_find(void);

/* Whether the loader's lock, for which this thread waits, is free. */
bool pct_loader_ready(const struct pct_thread *thread);

/* In an explored run this thread comes to a point: if it has given the lock up since its last one, the log says so. */
void pct_loader_arrives(const struct pct_thread *thread);

#endif
