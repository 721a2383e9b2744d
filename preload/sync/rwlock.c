/* Read-write locks. The real lock holds the truth; see mutex.c.
 *
 * GLIBC: as nobody ever blocks inside the real lock, no
 * writer is ever announced there; a lock that prefers writers (nonrecursively) is asked about the queue instead. */
#include "rwlock.h"
#include "layouts.h"
#include <preload/core/pass.h>
#include <preload/memory/calls.h>
#include <preload/signals/doorbell.h>
#include <preload/time/clock.h>
#include <preload/time/family.h>
#include <sched/log.h>
#include <errno.h>

/* The first threads that have it for reading stand as bits in what others use for their models. Of one that has it
 * several times, that is known up to its first unlock. */
enum { READERS = 64 };

static void note_reader(struct pct_object *object, uint32_t thread, bool reads)
{
    uint32_t *bits = &object->model[thread / 32], bit = UINT32_C(1) << thread % 32;
    if (thread < READERS)
        *bits = reads ? *bits | bit : *bits & ~bit;
}

uint64_t pct_rwlock_readers(const struct pct_object *object)
{
    const pthread_rwlock_t *lock = (const void *)object->address;
    uint64_t bits = (uint64_t)object->model[1] << 32 | object->model[0];
    unsigned count = 0;
    for (uint64_t left = bits; left; left &= left - 1)
        count++;
    /* What went on unseen is not known. */
    return count <= lock->__data.__readers >> READER_SHIFT ? bits : 0;
}

static bool prefers_writers(const pthread_rwlock_t *lock)
{
    return lock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

static bool is_held(const pthread_rwlock_t *lock)
{
    unsigned readers = *(const volatile unsigned *)&lock->__data.__readers;
    return readers & WRITE_LOCKED || readers >> READER_SHIFT;
}

/* Whether readers have to let a writer go first that waits for this lock. One that stands before a lock that is free,
 * and was so all the time, has not asked for it yet. */
static bool writer_first(const pthread_rwlock_t *lock, const struct pct_object *object)
{
    if (!prefers_writers(lock))
        return false;
    pct_log_doubt(&pct_S, PCT_DOUBT_WRITER);
    const bool held = is_held(lock);
    for (const struct pct_thread *t = object->first; t; t = t->next)
        if (t->wait.op == PCT_OP_RWLOCK_WRLOCK && (held || ((const struct pct_shim_thread *)t)->asked_to_write))
            return true;
    return false;
}

/* The lock is about to be given up: the writers that wait for it have asked for it. */
static void note_writers(const pthread_rwlock_t *lock, const struct pct_object *object)
{
    for (struct pct_thread *t = object->first; t && prefers_writers(lock); t = t->next)
        pct_shim_of(t)->asked_to_write = t->wait.op == PCT_OP_RWLOCK_WRLOCK;
}

static bool read_ready(const struct pct_thread *thread)
{
    const pthread_rwlock_t *lock = thread->wait.ready_arg;
    unsigned readers = *(const volatile unsigned *)&lock->__data.__readers;
    return !(readers & WRITE_LOCKED) && !writer_first(lock, thread->wait.object);
}

static bool write_ready(const struct pct_thread *thread)
{
    return !is_held(thread->wait.ready_arg);
}

static int try_lock(struct pct_shim_thread *self, enum pct_op op, pthread_rwlock_t *lock)
{
    if (lock->__data.__cur_writer == self->tid) /* EDEADLK, at once */
        return op == PCT_OP_RWLOCK_RDLOCK ? REAL(pthread_rwlock_rdlock)(lock) : REAL(pthread_rwlock_wrlock)(lock);
    return op == PCT_OP_RWLOCK_RDLOCK ? REAL(pthread_rwlock_tryrdlock)(lock) : REAL(pthread_rwlock_trywrlock)(lock);
}

static int lock_outside(struct pct_shim_thread *self, enum pct_op op, pthread_rwlock_t *lock)
{
    struct timespec until, *limit = pct_limit_timespec(pct_sched_outside_limit(&pct_S, &self->core), &until);
    int error;
    if (op == PCT_OP_RWLOCK_RDLOCK)
        error = RECALLABLE(self, limit ? REAL(pthread_rwlock_clockrdlock)(lock, CLOCK_MONOTONIC, pct_from_now(limit))
                                       : REAL(pthread_rwlock_rdlock)(lock));
    else
        error = RECALLABLE(self, limit ? REAL(pthread_rwlock_clockwrlock)(lock, CLOCK_MONOTONIC, pct_from_now(limit))
                                       : REAL(pthread_rwlock_wrlock)(lock));
    pct_reacquire(self);
    return error == ETIMEDOUT ? EBUSY : error;
}

static int lock_until(struct pct_shim_thread *self, enum pct_op op, pthread_rwlock_t *lock, uint64_t deadline,
                      const void *pc)
{
    struct pct_object *object = pct_object_at(&pct_S.objects, lock, PCT_CLASS_RWLOCK);
    bool fast = pct_on_fast_path(&pct_S) && !object->waiters;
    self->asked_to_write = false;
    for (;; fast = false) {
        enum pct_result result = PCT_READY;
        if (!fast) {
            bool own = lock->__data.__cur_writer == self->tid;
            struct pct_wait wait = { .op = op,
                                     .object = object,
                                     .ready = op == PCT_OP_RWLOCK_RDLOCK ? read_ready : write_ready,
                                     .ready_arg = lock,
                                     .alike = true,
                                     .deadline = deadline,
                                     .outside = pct_shared(object, lock->__data.__shared),
                                     .kin = pct_shared_by_kin(object, lock->__data.__shared) };
            if (wait.outside)
                pct_uncontrolled(PCT_UNCONTROLLED_PSHARED);
            if (own)
                pct_at(self, op, lock, PCT_CLASS_RWLOCK);
            else
                result = pct_wait(self, &wait);
        }
        /* Something else has ended the wait: the real lock does not know of the writers that wait. */
        bool behind = op == PCT_OP_RWLOCK_RDLOCK && (result == PCT_TIMEOUT || result == PCT_INTERRUPTED) &&
                      writer_first(lock, pct_object_at(&pct_S.objects, lock, PCT_CLASS_RWLOCK));
        int error = behind ? EBUSY : result == PCT_GO_OUTSIDE ? lock_outside(self, op, lock) : try_lock(self, op, lock);
        object = pct_object_at(&pct_S.objects, lock, PCT_CLASS_RWLOCK);
        if (error == EBUSY && result != PCT_TIMEOUT &&
            (deadline == PCT_NEVER || pct_sched_now(&pct_S) < deadline || fast))
            continue;
        if (error == EBUSY)
            error = ETIMEDOUT;
        if (!error && op == PCT_OP_RWLOCK_WRLOCK)
            object->holder = self->core.id;
        else if (!error)
            note_reader(object, self->core.id, true);
        pct_done(self, op, error == ETIMEDOUT ? PCT_ARG_TIMEOUT : error ? PCT_ARG_ERROR : 0, object);
        if (!error)
            pct_memory_of_object(self, lock, PCT_OBJECT_USE, pc);
        pct_program_changed(object);
        return error;
    }
}

PCT_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_RWLOCK_RDLOCK, PCT_CLASS_RWLOCK, lock, REAL(pthread_rwlock_rdlock)(lock));
    return lock_until(self, PCT_OP_RWLOCK_RDLOCK, lock, PCT_NEVER, PCT_CALLER);
}

PCT_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_RWLOCK_WRLOCK, PCT_CLASS_RWLOCK, lock, REAL(pthread_rwlock_wrlock)(lock));
    return lock_until(self, PCT_OP_RWLOCK_WRLOCK, lock, PCT_NEVER, PCT_CALLER);
}

/* GLIBC: an invalid deadline is refused before anything else; NULL is none. */
static int lock_by(struct pct_shim_thread *self, enum pct_op op, pthread_rwlock_t *lock, clockid_t clock,
                   const struct timespec *when, const void *pc)
{
    uint64_t deadline = PCT_NEVER;
    __asm__("" : "+r"(when)); /* declared nonnull */
    if (when && !pct_deadline(clock, when, &deadline))
        return EINVAL;
    return lock_until(self, op, lock, deadline, pc);
}

PCT_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *when)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_RWLOCK_RDLOCK, PCT_CLASS_RWLOCK, lock, REAL(pthread_rwlock_timedrdlock)(lock, when));
    return lock_by(self, PCT_OP_RWLOCK_RDLOCK, lock, CLOCK_REALTIME, when, PCT_CALLER);
}

PCT_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *when)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_RWLOCK_WRLOCK, PCT_CLASS_RWLOCK, lock, REAL(pthread_rwlock_timedwrlock)(lock, when));
    return lock_by(self, PCT_OP_RWLOCK_WRLOCK, lock, CLOCK_REALTIME, when, PCT_CALLER);
}

PCT_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *when)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_RWLOCK_RDLOCK, PCT_CLASS_RWLOCK, lock, REAL(pthread_rwlock_clockrdlock)(lock, clock, when));
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    return lock_by(self, PCT_OP_RWLOCK_RDLOCK, lock, clock, when, PCT_CALLER);
}

PCT_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *when)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_RWLOCK_WRLOCK, PCT_CLASS_RWLOCK, lock, REAL(pthread_rwlock_clockwrlock)(lock, clock, when));
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    return lock_by(self, PCT_OP_RWLOCK_WRLOCK, lock, clock, when, PCT_CALLER);
}

static int tried(struct pct_shim_thread *self, enum pct_op op, struct pct_object *object, int error, const void *pc)
{
    if (!error && op == PCT_OP_RWLOCK_TRYWRLOCK)
        object->holder = self->core.id;
    else if (!error)
        note_reader(object, self->core.id, true);
    pct_done(self, op, error ? PCT_ARG_BUSY : 0, object);
    if (!error)
        pct_memory_of_object(self, (void *)object->address, PCT_OBJECT_USE, pc);
    pct_program_changed(object);
    if (error == EBUSY)
        pct_sched_spin(&pct_S, &self->core);
    return error;
}

PCT_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_RWLOCK_TRYRDLOCK, PCT_CLASS_RWLOCK, lock, REAL(pthread_rwlock_tryrdlock)(lock));
    struct pct_object *object = pct_at(self, PCT_OP_RWLOCK_TRYRDLOCK, lock, PCT_CLASS_RWLOCK);
    int error = writer_first(lock, object) ? EBUSY : REAL(pthread_rwlock_tryrdlock)(lock);
    return tried(self, PCT_OP_RWLOCK_TRYRDLOCK, object, error, PCT_CALLER);
}

PCT_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_RWLOCK_TRYWRLOCK, PCT_CLASS_RWLOCK, lock, REAL(pthread_rwlock_trywrlock)(lock));
    struct pct_object *object = pct_at(self, PCT_OP_RWLOCK_TRYWRLOCK, lock, PCT_CLASS_RWLOCK);
    return tried(self, PCT_OP_RWLOCK_TRYWRLOCK, object, REAL(pthread_rwlock_trywrlock)(lock), PCT_CALLER);
}

PCT_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_RWLOCK_UNLOCK, PCT_CLASS_RWLOCK, lock, REAL(pthread_rwlock_unlock)(lock));
    struct pct_object *object = pct_at(self, PCT_OP_RWLOCK_UNLOCK, lock, PCT_CLASS_RWLOCK);
    pct_memory_of_object(self, lock, PCT_OBJECT_USE, PCT_CALLER);
    if (lock->__data.__shared)
        pct_family_tell();
    note_writers(lock, object);
    int error = REAL(pthread_rwlock_unlock)(lock);
    object->holder = PCT_NO_THREAD;
    note_reader(object, self->core.id, false);
    pct_done(self, PCT_OP_RWLOCK_UNLOCK, error ? PCT_ARG_ERROR : 0, object);
    pct_program_changed(object);
    return error;
}

PCT_EXPORT int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attr)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_RWLOCK_INIT, PCT_CLASS_RWLOCK, lock, REAL(pthread_rwlock_init)(lock, attr));
    pct_here(self, PCT_OP_RWLOCK_INIT);
    pct_memory_of_object(self, lock, PCT_OBJECT_WHOLE, PCT_CALLER);
    int error = REAL(pthread_rwlock_init)(lock, attr);
    pct_done(self, PCT_OP_RWLOCK_INIT, error ? PCT_ARG_ERROR : 0,
             pct_object_init(&pct_S.objects, lock, PCT_CLASS_RWLOCK));
    return error;
}

PCT_EXPORT int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_RWLOCK_DESTROY, PCT_CLASS_RWLOCK, lock, REAL(pthread_rwlock_destroy)(lock));
    struct pct_object *object = pct_at(self, PCT_OP_RWLOCK_DESTROY, lock, PCT_CLASS_RWLOCK);
    pct_memory_of_object(self, lock, PCT_OBJECT_WHOLE, PCT_CALLER);
    int error = REAL(pthread_rwlock_destroy)(lock);
    pct_done(self, PCT_OP_RWLOCK_DESTROY, error ? PCT_ARG_ERROR : 0, object);
    pct_object_destroy(&pct_S.objects, object);
    return error;
}
