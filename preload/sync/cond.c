/* Condition variables. They cannot be tried, so they are modelled: waiters stand in a queue beside the object, by its
 * address, never inside it. That is also why one set of wrappers serves both symbol versions, whose objects differ.
 * A signal does not end a wait: its handler runs without the mutex, then the thread waits on. model[0]: how many of
 * those that are away for that have been woken meanwhile; model[1]: how many only wait to destroy it, which in
 * the queue are those with a predicate; model[2]: threads that pct does not know may wait in libc's own
 * (foreign_calls.h).
 *
 * A waiter that has been woken, by signal, deadline or cancellation, then waits for the mutex: it is enabled only when
 * the mutex is free. Between processes the real functions are used, outside the scheduler. */
#include "layouts.h"
#include "mutex.h"
#include "foreign_calls.h"
#include <preload/core/order.h>
#include <preload/core/pass.h>
#include <preload/memory/calls.h>
#include <preload/signals/doorbell.h>
#include <preload/thread/cancel.h>
#include <preload/time/clock.h>
#include <preload/time/family.h>
#include <sched/log.h>
#include <errno.h>

/* Whether it is shared between processes. GLIBC: in the old version's object, which has eight bytes,
 * that is somebody else's memory. */
static bool shared(const pthread_cond_t *cond, struct pct_object *queue)
{
    return pct_shared(queue, cond->__data.__wrefs & COND_SHARED);
}

/* Whether other processes take part in a wait: with a mutex of this one's own they cannot. */
static bool waits_outside(const pthread_cond_t *cond, const pthread_mutex_t *mutex)
{
    return shared(cond, pct_object_at(&pct_S.objects, cond, PCT_CLASS_COND)) && pct_mutex_shared(mutex);
}

/* After the wait: the mutex again, whatever it takes. */
static int lock_again(struct pct_shim_thread *self, pthread_mutex_t *mutex)
{
    int error;
    while ((error = pct_mutex_try(self, mutex)) == EBUSY)
        pct_wait_for(self, PCT_OP_COND_WAKE, pct_object_at(&pct_S.objects, mutex, PCT_CLASS_MUTEX), pct_mutex_ready,
                     mutex, PCT_NEVER);
    struct pct_object *object = pct_object_at(&pct_S.objects, mutex, PCT_CLASS_MUTEX);
    if (error == EOWNERDEAD)
        pct_order_owner_dead(self, object);
    if (PCT_UNLIKELY(error == ENOTRECOVERABLE)) /* it does not get it */
        pct_log_touch(&pct_S, PCT_OP_MUTEX_CONSISTENT, object);
    else
        object->holder = self->core.id;
    object->model[0] -= object->model[0] > 0;
    pct_order_object(self, object, PCT_ACQUIRES);
    pct_program_changed(object);
    return error;
}

/* With the asynchronous type, too, a cancellation takes effect only when the thread has the mutex again. */
static bool defer_cancel(struct pct_shim_thread *self)
{
    if (PCT_LIKELY(!self->cancel_async))
        return false;
    self->cancel_async = false;
    REAL(pthread_setcanceltype)(PTHREAD_CANCEL_DEFERRED, NULL);
    return true;
}

static void undefer_cancel(struct pct_shim_thread *self)
{
    self->cancel_async = true;
    REAL(pthread_setcanceltype)(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
}

/* Back from a signal handler. True: something has ended the wait meanwhile. */
static bool back(const struct pct_shim_thread *self, struct pct_object *queue, enum pct_result *result)
{
    queue->away--;
    if (queue->model[0]) {
        queue->model[0]--;
        *result = PCT_READY;
    } else if (self->cancel_due && !self->cancel_disabled) {
        *result = PCT_CANCELLED;
    }
    if (queue->model[1] && *result != PCT_INTERRUPTED)
        pct_program_changed(queue);
    return *result != PCT_INTERRUPTED;
}

static int wait_until(struct pct_shim_thread *self, pthread_cond_t *cond, pthread_mutex_t *mutex, uint64_t deadline,
                      const void *pc)
{
    struct pct_object *queue = pct_at(self, PCT_OP_COND_WAIT, cond, PCT_CLASS_COND);
    pct_memory_of_object(self, cond, PCT_OBJECT_USE, pc);
    pct_cancel_behind(self);
    struct pct_object *held = pct_object_at(&pct_S.objects, mutex, PCT_CLASS_MUTEX);
    int error = pct_mutex_release(self, mutex, held);
    pct_log_touch(&pct_S, error ? PCT_OP_MUTEX_CONSISTENT : PCT_OP_MUTEX_UNLOCK, held);
    pct_done(self, PCT_OP_COND_WAIT, error ? PCT_ARG_ERROR : 0, queue);
    if (error)
        return error;
    held->model[0]++;
    pct_order_object(self, held, PCT_RELEASES);
    pct_program_changed(held);
    struct pct_wait wait = { .op = PCT_OP_COND_WAIT,
                             .object = queue,
                             .deadline = deadline,
                             .cancellable = !self->cancel_disabled,
                             .again = true,
                             .then_object = held,
                             .then_ready = pct_mutex_ready,
                             .then_arg = mutex,
                             .then_alike = pct_mutex_alike(mutex),
                             .then_op = PCT_OP_COND_WAKE };
    bool async = defer_cancel(self);
    enum pct_result result = PCT_READY;
    bool spurious = pct_config_draw_spurious(&pct_shim.config, self->core.id, self->cond_waits++);
    if (spurious)
        pct_at(self, PCT_OP_COND_WAKE, cond,
               PCT_CLASS_COND); /* whenever the strategy wants; signals go to others meanwhile */
    else
        do
            result = pct_wait(self, &wait);
        while (result == PCT_INTERRUPTED && !back(self, queue, &result));
    error = lock_again(self, mutex);
    uint32_t arg = result == PCT_TIMEOUT     ? PCT_ARG_TIMEOUT
                   : result == PCT_CANCELLED ? PCT_ARG_CANCELLED
                   : spurious                ? PCT_ARG_SPURIOUS
                                             : 0;
    pct_done(self, PCT_OP_COND_WAKE, arg, pct_object_at(&pct_S.objects, cond, PCT_CLASS_COND));
    if (async)
        undefer_cancel(self);
    if (result == PCT_CANCELLED)
        pct_cancel_point(self);
    return error ? error : result == PCT_TIMEOUT ? ETIMEDOUT : 0;
}

/* In a shared one, with the real functions. */
#define SHARED_WAIT(self, cond, mutex, deadline, call)                                                                 \
    ({                                                                                                                 \
        pct_uncontrolled(PCT_UNCONTROLLED_PSHARED);                                                                    \
        pct_order_object(self, pct_object_at(&pct_S.objects, mutex, PCT_CLASS_MUTEX), PCT_RELEASES);                   \
        bool kin_ = pct_shared_by_kin(pct_object_at(&pct_S.objects, cond, PCT_CLASS_COND), true);                      \
        pct_family_tell();                                                                                             \
        int error_ = CALL_SHARED(self, PCT_OP_COND_WAIT, deadline, kin_, call);                                        \
        pct_order_object(self, pct_object_at(&pct_S.objects, mutex, PCT_CLASS_MUTEX), PCT_ACQUIRES);                   \
        error_;                                                                                                        \
    })

/* The same with a deadline, after which the program's own clock is not before it: real time is let in when the baton is
 * given up, a little after the deadline was converted. */
static int wait_shared_until(struct pct_shim_thread *self, pthread_cond_t *cond, pthread_mutex_t *mutex,
                             clockid_t clock, uint64_t deadline)
{
    int error;
    do {
        struct timespec real;
        error = SHARED_WAIT(self, cond, mutex, deadline, ({
                                pct_real_deadline(clock, deadline, &real);
                                REAL(pthread_cond_clockwait)(cond, mutex, clock, &real);
                            }));
    } while (error == ETIMEDOUT && pct_sched_now(&pct_S) < deadline);
    return error;
}

PCT_EXPORT int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    PCT_ENTER(self);
    if (!self) {
        pct_tell_waits(cond);
        return PASS(PCT_OP_COND_WAIT, PCT_CLASS_COND, cond, REAL(pthread_cond_wait)(cond, mutex));
    }
    if (waits_outside(cond, mutex))
        return SHARED_WAIT(self, cond, mutex, PCT_NEVER, REAL(pthread_cond_wait)(cond, mutex));
    return wait_until(self, cond, mutex, PCT_NEVER, PCT_CALLER);
}

/* The clock of deadlines. */
static clockid_t clock_of(const pthread_cond_t *cond)
{
    return cond->__data.__wrefs & COND_MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

PCT_EXPORT int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *when)
{
    PCT_ENTER(self);
    if (!self) {
        pct_tell_waits(cond);
        return PASS(PCT_OP_COND_WAIT, PCT_CLASS_COND, cond, REAL(pthread_cond_timedwait)(cond, mutex, when));
    }
    uint64_t deadline;
    if (!pct_deadline(clock_of(cond), when, &deadline))
        return EINVAL;
    if (waits_outside(cond, mutex))
        return wait_shared_until(self, cond, mutex, clock_of(cond), deadline);
    return wait_until(self, cond, mutex, deadline, PCT_CALLER);
}

PCT_EXPORT int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
                                      const struct timespec *when)
{
    PCT_ENTER(self);
    if (!self) {
        pct_tell_waits(cond);
        return PASS(PCT_OP_COND_WAIT, PCT_CLASS_COND, cond, REAL(pthread_cond_clockwait)(cond, mutex, clock, when));
    }
    uint64_t deadline;
    if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || !pct_deadline(clock, when, &deadline))
        return EINVAL;
    if (waits_outside(cond, mutex))
        return wait_shared_until(self, cond, mutex, clock, deadline);
    return wait_until(self, cond, mutex, deadline, PCT_CALLER);
}

/* The waiter of this index; NULL: there are not that many in the queue. */
static struct pct_thread *waiter_at(const struct pct_object *queue, uint32_t index)
{
    struct pct_thread *t = queue->first;
    while (t && (t->wait.ready || index--))
        t = t->next;
    return t;
}

void pct_cond_wake(struct pct_object *queue, uint32_t count)
{
    for (struct pct_thread *t; count && (t = waiter_at(queue, 0)); count--)
        pct_sched_wake(&pct_S, t);
    uint32_t away = queue->away - queue->model[0];
    queue->model[0] += count < away ? count : away;
}

/* How many a signal may choose from. Who destroys it is not in the queue while its signal handler runs. */
static uint32_t count_waiters(const struct pct_object *queue)
{
    uint32_t count = queue->waiters;
    for (const struct pct_thread *t = queue->model[1] ? queue->first : NULL; t; t = t->next)
        count -= t->wait.ready != NULL;
    return count + queue->away - queue->model[0];
}

PCT_EXPORT int pthread_cond_signal(pthread_cond_t *cond)
{
    PCT_ENTER(self);
    if (!self) {
        pct_tell_wake(PCT_CLASS_COND, cond, 1);
        return PASS(PCT_OP_COND_SIGNAL, PCT_CLASS_COND, cond, REAL(pthread_cond_signal)(cond));
    }
    struct pct_object *queue = pct_at(self, PCT_OP_COND_SIGNAL, cond, PCT_CLASS_COND);
    pct_memory_of_object(self, cond, PCT_OBJECT_USE, PCT_CALLER);
    uint32_t chosen = PCT_ARG_NOBODY, waiters = count_waiters(queue);
    if (waiters) {
        chosen = pct_sched_choose(&pct_S, queue, waiters);
        struct pct_thread *waiter = waiter_at(queue, chosen);
        if (waiter)
            pct_sched_wake(&pct_S, waiter);
        else
            queue->model[0]++;
    }
    pct_done(self, PCT_OP_COND_SIGNAL, chosen, queue);
    if (shared(cond, queue))
        pct_family_tell();
    return shared(cond, queue) || pct_foreign_waits(queue) ? REAL(pthread_cond_signal)(cond) : 0;
}

PCT_EXPORT int pthread_cond_broadcast(pthread_cond_t *cond)
{
    PCT_ENTER(self);
    if (!self) {
        pct_tell_wake(PCT_CLASS_COND, cond, UINT32_MAX);
        return PASS(PCT_OP_COND_BROADCAST, PCT_CLASS_COND, cond, REAL(pthread_cond_broadcast)(cond));
    }
    struct pct_object *queue = pct_at(self, PCT_OP_COND_BROADCAST, cond, PCT_CLASS_COND);
    pct_memory_of_object(self, cond, PCT_OBJECT_USE, PCT_CALLER);
    for (struct pct_thread *t; (t = waiter_at(queue, 0));)
        pct_sched_wake(&pct_S, t);
    queue->model[0] = queue->away;
    pct_done(self, PCT_OP_COND_BROADCAST, 0, queue);
    if (shared(cond, queue))
        pct_family_tell();
    return shared(cond, queue) || pct_foreign_waits(queue) ? REAL(pthread_cond_broadcast)(cond) : 0;
}

PCT_EXPORT int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_COND_INIT, PCT_CLASS_COND, cond, REAL(pthread_cond_init)(cond, attr));
    pct_here(self, PCT_OP_COND_INIT);
    pct_memory_of_object(self, cond, PCT_OBJECT_WHOLE, PCT_CALLER);
    int error = REAL(pthread_cond_init)(cond, attr);
    pct_done(self, PCT_OP_COND_INIT, error ? PCT_ARG_ERROR : 0, pct_object_init(&pct_S.objects, cond, PCT_CLASS_COND));
    return error;
}

static bool nobody_waits(const struct pct_thread *thread)
{
    const struct pct_object *queue = thread->wait.ready_arg;
    return !queue->away && !waiter_at(queue, 0);
}

PCT_EXPORT int pthread_cond_destroy(pthread_cond_t *cond)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_COND_DESTROY, PCT_CLASS_COND, cond, REAL(pthread_cond_destroy)(cond));
    struct pct_object *queue = pct_at(self, PCT_OP_COND_DESTROY, cond, PCT_CLASS_COND);
    pct_memory_of_object(self, cond, PCT_OBJECT_WHOLE, PCT_CALLER);
    /* GLIBC: destroying one that threads still wait on blocks until they have left. */
    while (queue->away || waiter_at(queue, 0)) {
        queue->model[1]++;
        pct_wait_for(self, PCT_OP_COND_DESTROY, queue, nobody_waits, queue, PCT_NEVER);
        queue->model[1]--;
    }
    /* Nobody has ever waited in the real one. */
    int error = shared(cond, queue) ? CALL_MAY_BLOCK(self, REAL(pthread_cond_destroy)(cond)) : 0;
    pct_done(self, PCT_OP_COND_DESTROY, error ? PCT_ARG_ERROR : 0, queue);
    pct_object_destroy(&pct_S.objects, queue);
    return error;
}
