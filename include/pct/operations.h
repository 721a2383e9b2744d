/* What kinds of operations there are, for strategies and for who counts them. Header only, without libc. */
#ifndef PCT_OPERATIONS_H
#define PCT_OPERATIONS_H

#include <pct/trace.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether an operation (enum pct_op) writes its object, or gives it back or away: a store, an unlock, a signal. The
 * others read it, try it, take it or wait for it. */
static inline bool pct_operation_gives(uint32_t op)
{
    switch (op) {
    case PCT_OP_STORE:
    case PCT_OP_ATOMIC_STORE:
    case PCT_OP_ATOMIC_UPDATE:
    case PCT_OP_ATOMIC_TRY:
    case PCT_OP_MUTEX_UNLOCK:
    case PCT_OP_RWLOCK_UNLOCK:
    case PCT_OP_SPIN_UNLOCK:
    case PCT_OP_COND_SIGNAL:
    case PCT_OP_COND_BROADCAST:
    case PCT_OP_SEM_POST:
    case PCT_OP_ONCE_DONE:
    case PCT_OP_GUARD_RELEASE:
    case PCT_OP_FUTEX_WAKE:
    case PCT_OP_WRITE:
    case PCT_OP_CLOSE:
    case PCT_OP_FILE_UNLOCK:
        return true;
    default:
        return false;
    }
}

/* Whether an operation takes a lock, or tries to: a mutex, a spin or a read-write lock. */
static inline bool pct_operation_locks(uint32_t op)
{
    switch (op) {
    case PCT_OP_MUTEX_LOCK:
    case PCT_OP_MUTEX_TRYLOCK:
    case PCT_OP_SPIN_LOCK:
    case PCT_OP_SPIN_TRYLOCK:
    case PCT_OP_RWLOCK_RDLOCK:
    case PCT_OP_RWLOCK_WRLOCK:
    case PCT_OP_RWLOCK_TRYRDLOCK:
    case PCT_OP_RWLOCK_TRYWRLOCK:
        return true;
    default:
        return false;
    }
}

/* Whether an operation takes what it can, and does not wait for it. */
static inline bool pct_operation_tries(uint32_t op)
{
    switch (op) {
    case PCT_OP_MUTEX_TRYLOCK:
    case PCT_OP_SPIN_TRYLOCK:
    case PCT_OP_RWLOCK_TRYRDLOCK:
    case PCT_OP_RWLOCK_TRYWRLOCK:
    case PCT_OP_SEM_TRYWAIT:
        return true;
    default:
        return false;
    }
}

/* Whether it is an access to plain or atomic memory. */
static inline bool pct_operation_accesses(uint32_t op)
{
    return op >= PCT_OP_LOAD && op <= PCT_OP_ATOMIC_TRY;
}

#endif
