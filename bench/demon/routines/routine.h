/* What the routines share. -DBUG: the broken twin of each, which mostly looks before it locks. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define NI __attribute__((noinline, noclone))
#ifdef BUG
#define EARLY(m)
#define LATE(m) pthread_mutex_lock(m)
#else
#define EARLY(m) pthread_mutex_lock(m)
#define LATE(m)
#endif
