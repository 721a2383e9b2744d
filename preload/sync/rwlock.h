/* Read-write locks, for scripts: rwlock.c. */
#ifndef PCT_PRELOAD_RWLOCK_H
#define PCT_PRELOAD_RWLOCK_H

#include <preload/core/shim.h>

/* Which of the first 64 threads have this lock for reading, as bits; 0: none, or they are not known. */
uint64_t pct_rwlock_readers(const struct pct_object *object);

#endif
