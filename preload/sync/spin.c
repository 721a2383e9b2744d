/* Spinlocks. The real lock holds the truth; a thread that finds it taken is disabled, it never spins. One in memory
 * that other processes have too may be taken by them. */
#include "layouts.h"
#include <preload/core/pass.h>
#include <preload/core/real.h>
#include <preload/memory/calls.h>

static bool ready(const struct pct_thread *thread)
{
    return *(const volatile int *)thread->wait.ready_arg == SPIN_UNLOCKED;
}

PCT_EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SPIN_LOCK, PCT_CLASS_SPIN, (void *)lock, REAL(pthread_spin_lock)(lock));
    bool quiet = pct_on_fast_path(&pct_S);
    for (;;) {
        if (quiet && !REAL(pthread_spin_trylock)(lock))
            break;
        struct pct_object *taken = pct_object_at(&pct_S.objects, lock, PCT_CLASS_SPIN);
        /* Whether it is free just now does not matter: another process may take it before the predicate is asked. */
        struct pct_wait wait = { .op = PCT_OP_SPIN_LOCK,
                                 .object = taken,
                                 .ready = ready,
                                 .ready_arg = (const void *)lock,
                                 .alike = true,
                                 .deadline = PCT_NEVER,
                                 .outside = pct_shared(taken, true) };
        if (wait.outside && *lock != SPIN_UNLOCKED)
            pct_uncontrolled(PCT_UNCONTROLLED_PSHARED);
        if (pct_wait(self, &wait) == PCT_GO_OUTSIDE) {
            REAL(pthread_spin_lock)(lock);
            pct_reacquire(self);
            break;
        }
        quiet = true; /* its turn, unless a signal has interrupted it: then the try fails */
    }
    struct pct_object *object = pct_object_at(&pct_S.objects, lock, PCT_CLASS_SPIN);
    object->holder = self->core.id;
    pct_done(self, PCT_OP_SPIN_LOCK, 0, object);
    pct_memory_of_object(self, lock, PCT_OBJECT_USE, PCT_CALLER);
    pct_program_changed(object);
    return 0;
}

PCT_EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SPIN_TRYLOCK, PCT_CLASS_SPIN, (void *)lock, REAL(pthread_spin_trylock)(lock));
    struct pct_object *object = pct_at(self, PCT_OP_SPIN_TRYLOCK, lock, PCT_CLASS_SPIN);
    int error = REAL(pthread_spin_trylock)(lock);
    pct_done(self, PCT_OP_SPIN_TRYLOCK, error ? PCT_ARG_BUSY : 0, object);
    if (error) {
        pct_sched_spin(&pct_S, &self->core);
    } else {
        object->holder = self->core.id;
        pct_memory_of_object(self, lock, PCT_OBJECT_USE, PCT_CALLER);
        pct_program_changed(object);
    }
    return error;
}

PCT_EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SPIN_UNLOCK, PCT_CLASS_SPIN, (void *)lock, REAL(pthread_spin_unlock)(lock));
    struct pct_object *object = pct_at(self, PCT_OP_SPIN_UNLOCK, lock, PCT_CLASS_SPIN);
    pct_memory_of_object(self, lock, PCT_OBJECT_USE, PCT_CALLER);
    int error = REAL(pthread_spin_unlock)(lock);
    object->holder = PCT_NO_THREAD;
    pct_done(self, PCT_OP_SPIN_UNLOCK, 0, object);
    pct_program_changed(object);
    return error;
}

PCT_EXPORT int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SPIN_INIT, PCT_CLASS_SPIN, (void *)lock, REAL(pthread_spin_init)(lock, shared));
    pct_here(self, PCT_OP_SPIN_INIT);
    pct_memory_of_object(self, lock, PCT_OBJECT_WHOLE, PCT_CALLER);
    int error = REAL(pthread_spin_init)(lock, shared);
    pct_done(self, PCT_OP_SPIN_INIT, 0, pct_object_init(&pct_S.objects, lock, PCT_CLASS_SPIN));
    return error;
}

PCT_EXPORT int pthread_spin_destroy(pthread_spinlock_t *lock)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SPIN_DESTROY, PCT_CLASS_SPIN, (void *)lock, REAL(pthread_spin_destroy)(lock));
    struct pct_object *object = pct_at(self, PCT_OP_SPIN_DESTROY, lock, PCT_CLASS_SPIN);
    pct_memory_of_object(self, lock, PCT_OBJECT_WHOLE, PCT_CALLER);
    int error = REAL(pthread_spin_destroy)(lock);
    pct_done(self, PCT_OP_SPIN_DESTROY, 0, object);
    pct_object_destroy(&pct_S.objects, object);
    return error;
}
