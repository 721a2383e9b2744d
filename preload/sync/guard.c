/* The guards of C++ function-local statics. libstdc++ waits for another thread's initialisation by syscall(SYS_futex),
 * which futex.c models; what is added here are the scheduling points. An initialised static never comes here: the
 * compiler tests the guard inline. */
#include <preload/core/pass.h>
#include <preload/core/real.h>
#include <preload/memory/memory.h>
#include <sched/log.h>

PCT_EXPORT int __cxa_guard_acquire(uint64_t *guard)
{
    PCT_ENTER(self);
    pct_log_doubt(&pct_S, PCT_DOUBT_GUARD);
    if (self)
        pct_done(self, PCT_OP_GUARD_ACQUIRE, 0, pct_at(self, PCT_OP_GUARD_ACQUIRE, guard, PCT_CLASS_GUARD));
    else
        pct_passed(PCT_OP_GUARD_ACQUIRE, PCT_CLASS_GUARD, guard);
    int mine = REAL(__cxa_guard_acquire)(guard);
    pct_memory_order(guard, PCT_MEMORY_ACQUIRE);
    return mine;
}

static void release(uint64_t *guard)
{
    PCT_ENTER(self);
    if (self)
        pct_done(self, PCT_OP_GUARD_RELEASE, 0, pct_at(self, PCT_OP_GUARD_RELEASE, guard, PCT_CLASS_GUARD));
    else
        pct_passed(PCT_OP_GUARD_RELEASE, PCT_CLASS_GUARD, guard);
    pct_memory_order(guard, PCT_MEMORY_RELEASE); /* to those who test it inline, too */
}

PCT_EXPORT void __cxa_guard_release(uint64_t *guard)
{
    release(guard);
    REAL(__cxa_guard_release)(guard);
}

PCT_EXPORT void __cxa_guard_abort(uint64_t *guard)
{
    release(guard);
    REAL(__cxa_guard_abort)(guard);
}
