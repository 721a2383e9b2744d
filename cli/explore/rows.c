/* What operations do to their objects: see rows.h. Each row is tested by brute force, and so is that a wrong one is
 * noticed (tests/sim/test_rows.c). */
#include "rows.h"
#include "execution.h"

struct pct_row pct_row_of(enum pct_op op)
{
#define ROW(use_, failed_, waits_)                                                                                     \
    (struct pct_row)                                                                                                   \
    {                                                                                                                  \
        .use = use_, .failed = failed_, .waits = waits_                                                                \
    }
    switch (op) {
    case PCT_OP_MUTEX_LOCK:
    case PCT_OP_SPIN_LOCK:
    case PCT_OP_RWLOCK_WRLOCK:
    case PCT_OP_ONCE:
    case PCT_OP_GUARD_ACQUIRE: /* who finds it made does not take it: pct_use_of() */
    case PCT_OP_LOADER:        /* who has it already takes it again: take_record(), execution.c */
        return ROW(PCT_USE_TAKES, PCT_USE_BUSY, true);
    case PCT_OP_COND_WAKE: /* its mutex is another touch; to the condition variable it was woken from, it does nothing
                            */
        return ROW(PCT_ROW_NOTHING, PCT_ROW_NOTHING, true);
    case PCT_OP_MUTEX_TRYLOCK:
    case PCT_OP_SPIN_TRYLOCK:
    case PCT_OP_RWLOCK_TRYWRLOCK:
        return ROW(PCT_USE_TAKES, PCT_USE_BUSY, false);
    case PCT_OP_MUTEX_UNLOCK:
    case PCT_OP_SPIN_UNLOCK:
    case PCT_OP_RWLOCK_UNLOCK:
    case PCT_OP_GUARD_RELEASE:
        return ROW(PCT_USE_GIVES, PCT_USE_ANY, false);
    case PCT_OP_RWLOCK_RDLOCK:
        return ROW(PCT_USE_SHARES, PCT_USE_BUSY, true);
    case PCT_OP_RWLOCK_TRYRDLOCK:
        return ROW(PCT_USE_SHARES, PCT_USE_BUSY, false);
    case PCT_OP_STREAM:
        return ROW(PCT_USE_PASSES, PCT_USE_ANY, true);
    case PCT_OP_MUTEX_CONSISTENT: /* by the thread that has it: others who try find it taken before and behind that */
        return ROW(PCT_USE_BUSY, PCT_USE_ANY, false);
    case PCT_OP_SEM_WAIT:
        return ROW(PCT_USE_DOWN, PCT_USE_EMPTY, true);
    case PCT_OP_SEM_TRYWAIT:
        return ROW(PCT_USE_DOWN, PCT_USE_EMPTY, false);
    case PCT_OP_SEM_POST:
        return ROW(PCT_USE_UP, PCT_USE_ANY, false);
    case PCT_OP_LOAD:
    case PCT_OP_ATOMIC_LOAD:
        return ROW(PCT_USE_READS, PCT_USE_READS, false);
    case PCT_OP_THREAD_FINISH:
        return ROW(PCT_USE_ENDS, PCT_USE_ENDS, false);
    case PCT_OP_THREAD_DETACH:
        return ROW(PCT_USE_DETACHES, PCT_USE_ANY, false);
    case PCT_OP_THREAD_JOIN:
    case PCT_OP_COND_DESTROY:
    case PCT_OP_BARRIER_DESTROY:
    case PCT_OP_FUTEX_WAIT:
        return ROW(PCT_USE_ANY, PCT_USE_ANY, true);
    case PCT_OP_THREAD_CREATE:
    case PCT_OP_THREAD_TRYJOIN:
    case PCT_OP_MUTEX_INIT:
    case PCT_OP_MUTEX_DESTROY:
    case PCT_OP_COND_WAIT:
    case PCT_OP_COND_SIGNAL:
    case PCT_OP_COND_BROADCAST:
    case PCT_OP_COND_INIT:
    case PCT_OP_RWLOCK_INIT:
    case PCT_OP_RWLOCK_DESTROY:
    case PCT_OP_BARRIER_ARRIVE:
    case PCT_OP_BARRIER_INIT:
    case PCT_OP_SPIN_INIT:
    case PCT_OP_SPIN_DESTROY:
    case PCT_OP_SEM_INIT:
    case PCT_OP_SEM_DESTROY:
    case PCT_OP_FUTEX_WAKE:
    case PCT_OP_STORE:
    case PCT_OP_ATOMIC_STORE:
    case PCT_OP_ATOMIC_UPDATE:
    case PCT_OP_ATOMIC_TRY:
        return ROW(PCT_USE_ANY, PCT_USE_ANY, false);
    case PCT_OP_THREAD_START:
    case PCT_OP_BARRIER_LEAVE:
    case PCT_OP_FUTEX_WOKEN:
    case PCT_OP_AWAKE:
        return ROW(PCT_ROW_NOTHING, PCT_ROW_NOTHING, true);
    case PCT_OP_THREAD_EXIT:
    case PCT_OP_TESTCANCEL:
    case PCT_OP_YIELD:
    case PCT_OP_SLEEP:
    case PCT_OP_CLOCK:
    case PCT_OP_EXIT_NOW:
    case PCT_OP_ONCE_DONE: /* stands with the event before it: announce(), execution.c */
    case PCT_OP_POINT:
    case PCT_OP_CHOICE:
    case PCT_OP_FUNCTION_ENTER:
    case PCT_OP_FUNCTION_RETURN:
    case PCT_OP_DEADLINE: /* what it is for, and time, are no object of its record: pct_event_suppose() */
        return ROW(PCT_ROW_NOTHING, PCT_ROW_NOTHING, false);
    case PCT_OP_EXIT:
        return ROW(PCT_ROW_END, PCT_ROW_END, false);
    case PCT_OP_READ:
    case PCT_OP_WRITE:
    case PCT_OP_POLL:
    case PCT_OP_CLOSE:
    case PCT_OP_ACCEPT:
    case PCT_OP_CONNECT:
    case PCT_OP_SHUTDOWN:
    case PCT_OP_FILE_LOCK:
    case PCT_OP_FILE_UNLOCK:
    case PCT_OP_OPEN:
    case PCT_OP_MESSAGE:
        return ROW(PCT_ROW_KERNEL, PCT_ROW_KERNEL, true);
    default:
        return ROW(PCT_ROW_UNKNOWN, PCT_ROW_UNKNOWN, true);
    }
#undef ROW
}
