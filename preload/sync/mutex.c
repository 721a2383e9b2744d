/* Mutexes of every type. The real mutex holds the truth: an acquisition is the real trylock, a thread waits until the
 * real lock word says that it would succeed.
 *
 * GLIBC: for plain mutexes the fast path writes the fields that glibc would write. They are an ABI: static initialisers
 * stand in programs. As only the holder of the baton does, it needs no atomic operation; once a thread that pct does
 * not know has called any wrapper, everything is left to the real functions.
 *
 * To the race detector, who locks or unlocks a mutex looks at its memory, and who destroys it writes there: to give up
 * the memory of a mutex that another thread is still in is a race like any other, though no lock is missing (the PCT
 * paper, figure 2).
 *
 * model[0]: how many wait on a condition variable to have it again. glibc counts them among the users of the mutex. */
#include "mutex.h"
#include "layouts.h"
#include <preload/core/loader.h>
#include <preload/core/order.h>
#include <preload/core/pass.h>
#include <preload/core/user_memory.h>
#include <preload/memory/calls.h>
#include <preload/signals/doorbell.h>
#include <preload/time/clock.h>
#include <preload/time/family.h>
#include <sched/log.h>
#include <errno.h>

/* The kernel's priorities of SCHED_FIFO. */
enum { CEILING_LEAST = 1, CEILING_MOST = 99 };

/* Whether the lock is a plain one, and nobody but threads that hold the baton in turn touches it: then its fields can
 * be written as they are. */
static inline bool plain(const pthread_mutex_t *mutex)
{
    return PCT_LIKELY(mutex->__data.__kind == PTHREAD_MUTEX_TIMED_NP && !pct_sched_is_in_full(&pct_S));
}

/* Owner and number of users (of a plain mutex: of its owner) in one store: struct pct_shim_thread.owner, or 0. */
static inline void set_owner(pthread_mutex_t *mutex, uint64_t both)
{
    __builtin_memcpy(&mutex->__data.__owner, &both, sizeof both);
}

static bool owned_again(const pthread_mutex_t *mutex, int tid)
{
    int type = mutex->__data.__kind & KIND_TYPE;
    return mutex->__data.__owner == tid && (type == PTHREAD_MUTEX_RECURSIVE_NP || type == PTHREAD_MUTEX_ERRORCHECK_NP);
}

/* Whether this thread could lock it now. object may be NULL. */
static bool available(const pthread_mutex_t *mutex, const struct pct_object *object, int tid)
{
    int kind = mutex->__data.__kind, mask = kind & KIND_PROTECT ? LOCK_PROTECT : LOCK_TID;
    /* The kernel hands a dead thread's robust mutexes on; whoever runs next waits for its end first (engine.c). */
    if (kind & KIND_ROBUST && object && object->holder < pct_sched_threads(&pct_S) &&
        pct_sched_thread(&pct_S, object->holder)->state == PCT_STATE_FINISHED)
        return true;
    return !(*(const volatile int *)&mutex->__data.__lock & mask) || owned_again(mutex, tid);
}

bool pct_mutex_ready(const struct pct_thread *thread)
{
    return available(thread->wait.ready_arg, thread->wait.object, ((const struct pct_shim_thread *)thread)->tid);
}

/* Only its owner could lock it again. */
bool pct_mutex_alike(const pthread_mutex_t *mutex)
{
    int type = mutex->__data.__kind & KIND_TYPE;
    return type != PTHREAD_MUTEX_RECURSIVE_NP && type != PTHREAD_MUTEX_ERRORCHECK_NP;
}

static bool locks(const struct pct_thread *thread)
{
    return thread->wait.ready == pct_mutex_ready || thread->wait.ready == pct_loader_ready;
}

uint32_t pct_mutex_owner(const struct pct_thread *thread)
{
    const pthread_mutex_t *mutex = thread->wait.ready_arg;
    if (!locks(thread))
        return PCT_NO_THREAD;
    int tid = mutex->__data.__owner;
    for (uint32_t id = 0; tid && id < pct_sched_threads(&pct_S); id++)
        if (pct_shim_of(pct_sched_thread(&pct_S, id))->tid == tid &&
            pct_sched_thread(&pct_S, id)->state != PCT_STATE_FINISHED)
            return id;
    return PCT_NO_THREAD;
}

uint32_t pct_mutex_holder(const struct pct_thread *thread)
{
    return thread->wait.outside || thread->timer.place ? PCT_NO_THREAD : pct_mutex_owner(thread);
}

/* Nobody ever gets the mutex again: its owner has ended, and the next one has given it back as it was. */
static bool is_lost(const pthread_mutex_t *mutex)
{
    return mutex->__data.__kind & KIND_ROBUST && mutex->__data.__owner == OWNER_NOT_RECOVERABLE;
}

/* Lock without waiting: as trylock, but with lock's answer where the two differ without a wait. */
int pct_mutex_try(struct pct_shim_thread *self, pthread_mutex_t *mutex)
{
    if ((mutex->__data.__kind & KIND_TYPE) == PTHREAD_MUTEX_ERRORCHECK_NP && mutex->__data.__owner == self->tid)
        return REAL(pthread_mutex_lock)(mutex); /* EDEADLK */
    /* GLIBC: trylock of one that is not recoverable says so, but leaves it locked. */
    if (is_lost(mutex) && !(mutex->__data.__lock & LOCK_TID))
        return REAL(pthread_mutex_lock)(mutex);
    return REAL(pthread_mutex_trylock)(mutex);
}

/* From now on the end of a thread may enable others. */
static void meet_robust(const pthread_mutex_t *mutex)
{
    if (PCT_LIKELY(!(mutex->__data.__kind & KIND_ROBUST)) || pct_shim.robust)
        return;
    pct_shim.robust = true;
    pct_sched_unseen(&pct_S, true);
}

/* error: 0 or EOWNERDEAD; then its last owner's end has given it up. */
static void acquired(struct pct_shim_thread *self, enum pct_op op, const pthread_mutex_t *mutex,
                     struct pct_object *object, int error)
{
    if (PCT_UNLIKELY(error))
        pct_order_owner_dead(self, object);
    object->holder = self->core.id;
    object->robust = mutex->__data.__kind & KIND_ROBUST;
    pct_done(self, op, 0, object);
    pct_program_changed(object);
}

/* The other process of a shared mutex takes no part in the schedule: wait for it outside. */
static int wait_outside(struct pct_shim_thread *self, pthread_mutex_t *mutex)
{
    struct timespec until, *limit = pct_limit_timespec(pct_sched_outside_limit(&pct_S, &self->core), &until);
    int error = RECALLABLE(self, limit ? REAL(pthread_mutex_clocklock)(mutex, CLOCK_MONOTONIC, pct_from_now(limit))
                                       : REAL(pthread_mutex_lock)(mutex));
    pct_reacquire(self);
    return error == ETIMEDOUT ? EBUSY : error;
}

/* The kernel does not let a signal end a wait for one with priority inheritance (pct_recall). */
static bool kin(const pthread_mutex_t *mutex)
{
    return !(mutex->__data.__kind & KIND_INHERIT) &&
           pct_shared_by_kin(pct_object_at(&pct_S.objects, mutex, PCT_CLASS_MUTEX), true);
}

bool pct_mutex_shared(const pthread_mutex_t *mutex)
{
    return pct_shared(pct_object_at(&pct_S.objects, mutex, PCT_CLASS_MUTEX), mutex->__data.__kind & KIND_SHARED);
}

static __attribute__((noinline)) int lock_slow(struct pct_shim_thread *self, pthread_mutex_t *mutex, uint64_t deadline)
{
    bool shared = pct_mutex_shared(mutex);
    meet_robust(mutex);
    for (;;) {
        struct pct_wait wait = { .op = PCT_OP_MUTEX_LOCK,
                                 .object = pct_object_at(&pct_S.objects, mutex, PCT_CLASS_MUTEX),
                                 .ready = pct_mutex_ready,
                                 .ready_arg = mutex,
                                 .alike = pct_mutex_alike(mutex),
                                 .deadline = deadline,
                                 .outside = shared,
                                 .kin = shared && kin(mutex) };
        if (shared)
            pct_uncontrolled(PCT_UNCONTROLLED_PSHARED);
        enum pct_result result = pct_wait(self, &wait);
        int error = result == PCT_GO_OUTSIDE ? wait_outside(self, mutex) : pct_mutex_try(self, mutex);
        struct pct_object *object = pct_object_at(&pct_S.objects, mutex, PCT_CLASS_MUTEX);
        if (!error || error == EOWNERDEAD) {
            acquired(self, PCT_OP_MUTEX_LOCK, mutex, object, error);
            return error;
        }
        bool late = deadline != PCT_NEVER && pct_sched_now(&pct_S) >= deadline;
        if (error == EBUSY && result != PCT_TIMEOUT && !late)
            continue;
        pct_done(self, PCT_OP_MUTEX_LOCK, error == EBUSY ? PCT_ARG_TIMEOUT : PCT_ARG_ERROR, object);
        return error == EBUSY ? ETIMEDOUT : error;
    }
}

/* The whole of an uncontended lock or unlock; `what`: the record, without the object. False: not that simple. Nothing
 * here calls anything, so that the wrappers need no stack frame. */
static inline bool fast_until(struct pct_shim_thread *self, pthread_mutex_t *mutex, uint64_t what, int from, int to,
                              const uint64_t *stop)
{
    uint64_t *record = pct_record_at(&pct_S);
    if (!plain(mutex) || PCT_UNLIKELY(record >= stop) || PCT_UNLIKELY(mutex->__data.__lock != from))
        return false;
    struct pct_object *object = pct_object_mutex(&pct_S.objects, mutex);
    if (PCT_UNLIKELY(!object))
        return false;
    if (PCT_UNLIKELY(object->waiters))
        return false;
    mutex->__data.__lock = to;
    set_owner(mutex, to ? self->owner : 0);
    pct_record_ready(&pct_S, record, what | object->number);
    return true;
}

static inline bool fast(struct pct_shim_thread *self, pthread_mutex_t *mutex, uint64_t what, int from, int to)
{
    return fast_until(self, mutex, what, from, to, pct_stop_at(&pct_S));
}

static __attribute__((noinline)) int lock_full(pthread_mutex_t *mutex, const void *pc)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MUTEX_LOCK, PCT_CLASS_MUTEX, mutex, REAL(pthread_mutex_lock)(mutex));
    if (pct_is_calm(&pct_S, PCT_OP_MUTEX_LOCK, (uintptr_t)mutex, (uintptr_t)pc) &&
        fast_until(self, mutex, self->locks, 0, 1, pct_calm_stop_at(&pct_S)))
        return 0;
    int error = lock_slow(self, mutex, PCT_NEVER);
    if (!error)
        pct_memory_of_object(self, mutex, PCT_OBJECT_USE, pc);
    return error;
}

PCT_EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    struct pct_shim_thread *self = pct_holder();
    if (PCT_LIKELY(self != NULL) && fast(self, mutex, self->locks, 0, 1))
        return 0;
    return lock_full(mutex, PCT_CALLER);
}

PCT_EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MUTEX_TRYLOCK, PCT_CLASS_MUTEX, mutex, REAL(pthread_mutex_trylock)(mutex));
    struct pct_object *object = pct_at(self, PCT_OP_MUTEX_TRYLOCK, mutex, PCT_CLASS_MUTEX);
    meet_robust(mutex);
    int error = REAL(pthread_mutex_trylock)(mutex);
    if (!error || error == EOWNERDEAD) {
        acquired(self, PCT_OP_MUTEX_TRYLOCK, mutex, object, error);
        pct_memory_of_object(self, mutex, PCT_OBJECT_USE, PCT_CALLER);
        return error;
    }
    /* GLIBC: of one that is not recoverable it says so, but has taken it, for good: not even its end gives it up. */
    pct_done(self, PCT_OP_MUTEX_TRYLOCK, error == ENOTRECOVERABLE ? 0 : PCT_ARG_BUSY, object);
    if (error == EBUSY)
        pct_sched_spin(&pct_S, &self->core);
    return error;
}

/* With a deadline that is none: it takes the mutex, or fails. */
static int lock_or_fail(struct pct_shim_thread *self, pthread_mutex_t *mutex)
{
    struct pct_object *object = pct_at(self, PCT_OP_MUTEX_LOCK, mutex, PCT_CLASS_MUTEX);
    meet_robust(mutex);
    int error = pct_mutex_try(self, mutex);
    if (!error || error == EOWNERDEAD)
        acquired(self, PCT_OP_MUTEX_LOCK, mutex, object, error);
    else
        pct_done(self, PCT_OP_MUTEX_LOCK, PCT_ARG_ERROR, object);
    return error == EBUSY ? EINVAL : error;
}

/* GLIBC: a deadline with invalid nanoseconds, or on a clock that is none, is noticed first for the clock, and for the
 * nanoseconds only by a lock that has to wait. Only that looks at the deadline at all; NULL is none. */
static int lock_until(struct pct_shim_thread *self, pthread_mutex_t *mutex, clockid_t clock,
                      const struct timespec *when, const void *pc)
{
    if (fast(self, mutex, self->locks, 0, 1))
        return 0;
    uint64_t deadline = PCT_NEVER;
    bool waits = !available(mutex, pct_object_at(&pct_S.objects, mutex, PCT_CLASS_MUTEX), self->tid);
    __asm__("" : "+r"(when)); /* declared nonnull */
    bool valid = !when || ((waits || pct_user_readable(when, sizeof *when)) && pct_deadline(clock, when, &deadline));
    if (!valid && waits)
        return EINVAL;
    int error = valid ? lock_slow(self, mutex, deadline) : lock_or_fail(self, mutex);
    if (!error)
        pct_memory_of_object(self, mutex, PCT_OBJECT_USE, pc);
    return error;
}

PCT_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *when)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MUTEX_LOCK, PCT_CLASS_MUTEX, mutex, REAL(pthread_mutex_timedlock)(mutex, when));
    return lock_until(self, mutex, CLOCK_REALTIME, when, PCT_CALLER);
}

PCT_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *when)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MUTEX_LOCK, PCT_CLASS_MUTEX, mutex, REAL(pthread_mutex_clocklock)(mutex, clock, when));
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    return lock_until(self, mutex, clock, when, PCT_CALLER);
}

int pct_mutex_release(struct pct_shim_thread *self, pthread_mutex_t *mutex, struct pct_object *object)
{
    if (mutex->__data.__kind & KIND_SHARED)
        pct_family_tell();
    int error = REAL(pthread_mutex_unlock)(mutex);
    /* A recursive one may still be held. */
    if (!error && mutex->__data.__owner != self->tid)
        object->holder = PCT_NO_THREAD;
    return error;
}

static __attribute__((noinline)) int unlock_full(pthread_mutex_t *mutex, const void *pc)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MUTEX_UNLOCK, PCT_CLASS_MUTEX, mutex, REAL(pthread_mutex_unlock)(mutex));
    if (pct_is_calm(&pct_S, PCT_OP_MUTEX_UNLOCK, (uintptr_t)mutex, (uintptr_t)pc) &&
        fast_until(self, mutex, self->unlocks, 1, 0, pct_calm_stop_at(&pct_S)))
        return 0;
    struct pct_object *object = pct_at(self, PCT_OP_MUTEX_UNLOCK, mutex, PCT_CLASS_MUTEX);
    pct_memory_of_object(self, mutex, PCT_OBJECT_USE, pc);
    int error = pct_mutex_release(self, mutex, object);
    pct_done(self, PCT_OP_MUTEX_UNLOCK, error ? PCT_ARG_ERROR : 0, object);
    pct_program_changed(object);
    return error;
}

PCT_EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    struct pct_shim_thread *self = pct_holder();
    if (PCT_LIKELY(self != NULL) && fast(self, mutex, self->unlocks, 1, 0))
        return 0;
    return unlock_full(mutex, PCT_CALLER);
}

PCT_EXPORT int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attr)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MUTEX_INIT, PCT_CLASS_MUTEX, mutex, REAL(pthread_mutex_init)(mutex, attr));
    pct_here(self, PCT_OP_MUTEX_INIT);
    pct_memory_of_object(self, mutex, PCT_OBJECT_WHOLE, PCT_CALLER);
    int error = REAL(pthread_mutex_init)(mutex, attr);
    pct_done(self, PCT_OP_MUTEX_INIT, error ? PCT_ARG_ERROR : 0,
             pct_object_init(&pct_S.objects, mutex, PCT_CLASS_MUTEX));
    return error;
}

PCT_EXPORT int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MUTEX_DESTROY, PCT_CLASS_MUTEX, mutex, REAL(pthread_mutex_destroy)(mutex));
    struct pct_object *object = pct_at(self, PCT_OP_MUTEX_DESTROY, mutex, PCT_CLASS_MUTEX);
    pct_memory_of_object(self, mutex, PCT_OBJECT_WHOLE, PCT_CALLER);
    bool used = object->model[0] && !(mutex->__data.__kind & KIND_ROBUST);
    int error = used ? EBUSY : REAL(pthread_mutex_destroy)(mutex);
    pct_done(self, PCT_OP_MUTEX_DESTROY, error ? PCT_ARG_ERROR : 0, object);
    if (!error)
        pct_object_destroy(&pct_S.objects, object);
    return error;
}

PCT_EXPORT int pthread_mutex_consistent(pthread_mutex_t *mutex)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MUTEX_CONSISTENT, PCT_CLASS_MUTEX, mutex, REAL(pthread_mutex_consistent)(mutex));
    struct pct_object *object = pct_at(self, PCT_OP_MUTEX_CONSISTENT, mutex, PCT_CLASS_MUTEX);
    int error = REAL(pthread_mutex_consistent)(mutex);
    pct_done(self, PCT_OP_MUTEX_CONSISTENT, error ? PCT_ARG_ERROR : 0, object);
    return error;
}

/* It locks the mutex meanwhile, whatever the thread's priority is, but not if that will not do. GLIBC: the lock word is
 * set as it does that; it is free again when the real function comes to it. */
PCT_EXPORT int pthread_mutex_setprioceiling(pthread_mutex_t *mutex, int ceiling, int *old)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_MUTEX_LOCK, PCT_CLASS_MUTEX, mutex, REAL(pthread_mutex_setprioceiling)(mutex, ceiling, old));
    if (ceiling < CEILING_LEAST || ceiling > CEILING_MOST || !(mutex->__data.__kind & KIND_PROTECT) ||
        owned_again(mutex, self->tid))
        return REAL(pthread_mutex_setprioceiling)(mutex, ceiling, old);
    struct pct_object *object = pct_object_at(&pct_S.objects, mutex, PCT_CLASS_MUTEX);
    if (pct_mutex_shared(mutex)) {
        pct_uncontrolled(PCT_UNCONTROLLED_PSHARED);
        return CALL_EXTERNAL(self, PCT_OP_MUTEX_LOCK, object, REAL(pthread_mutex_setprioceiling)(mutex, ceiling, old));
    }
    do {
        pct_wait_for(self, PCT_OP_MUTEX_LOCK, object, pct_mutex_ready, mutex, PCT_NEVER);
        object = pct_object_at(&pct_S.objects, mutex, PCT_CLASS_MUTEX);
    } while (!available(mutex, object, self->tid));
    mutex->__data.__lock |= 1;
    acquired(self, PCT_OP_MUTEX_LOCK, mutex, object, 0);
    object = pct_at(self, PCT_OP_MUTEX_UNLOCK, mutex, PCT_CLASS_MUTEX);
    mutex->__data.__lock &= ~LOCK_PROTECT;
    int error = REAL(pthread_mutex_setprioceiling)(mutex, ceiling, old);
    object->holder = PCT_NO_THREAD;
    pct_done(self, PCT_OP_MUTEX_UNLOCK, error ? PCT_ARG_ERROR : 0, object);
    pct_program_changed(object);
    return error;
}
