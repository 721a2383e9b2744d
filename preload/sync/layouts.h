/* What is known of the objects that threads synchronise by as libc lays them out, beyond what its headers promise. libc
 * is asked for all of it at the start of a process: see layouts.c. */
#ifndef PCT_LAYOUTS_H
#define PCT_LAYOUTS_H

#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>

/* Which objects this libc lays out in another way than is known here, as a noun in the plural; NULL: none. While there
 * is one thread. */
const char *pct_layouts_unknown(void);

/* Bits of a mutex's __kind and of its lock word, nptl/pthreadP.h. A robust mutex always says that it is shared. */
enum {
    KIND_TYPE = 3,
    KIND_ROBUST = 16,
    KIND_INHERIT = 32,
    KIND_PROTECT = 64,
    KIND_SHARED = 128,
    OWNER_NOT_RECOVERABLE = INT_MAX - 1,
    LOCK_TID = 0x3fffffff,
    LOCK_PROTECT = 0x7ffff
};

/* Bits of a condition variable's __wrefs. */
enum { COND_SHARED = 1, COND_MONOTONIC = 2 };

/* Bits of a read-write lock's __readers, nptl/pthread_rwlock_common.c; above them is how many readers there are. */
enum { WRITE_PHASE = 1, WRITE_LOCKED = 2, READER_SHIFT = 3 };

/* Bits of the word of pthread_once(), nptl/pthreadP.h. */
enum { ONCE_IN_PROGRESS = 1, ONCE_DONE = 2 };

/* A spinlock that is free: on x86. */
enum { SPIN_UNLOCKED = 1 };

/* struct pthread_barrier, sysdeps/nptl/internaltypes.h. */
struct glibc_barrier {
    unsigned in, round, count;
    int shared;
    unsigned out;
};

/* struct new_sem, in the same file: the value is the low half of the first word. */
static inline uint32_t sem_value(const void *sem)
{
    return *(const volatile uint32_t *)sem;
}

/* Of named semaphores, and those that sem_init was told to share. */
static inline bool sem_shared(const sem_t *sem)
{
    return ((const int *)sem)[2] != 0;
}

#endif
