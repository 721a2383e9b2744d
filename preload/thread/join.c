/* Joining. The joiner is disabled until the thread has finished; by then its kernel thread is gone, so the real join,
 * which fetches the value, returns at once. */
#include <preload/core/pass.h>
#include <preload/core/user_memory.h>
#include "cancel.h"
#include "thread.h"
#include <preload/time/clock.h>
#include <errno.h>

static bool finished(const struct pct_thread *joiner)
{
    const struct pct_shim_thread *thread = joiner->wait.ready_arg;
    return thread->core.state == PCT_STATE_FINISHED;
}

/* What the real join would refuse without waiting. GLIBC: it knows a second joiner and a cycle of two, unless the
 * other has been cancelled. */
static int refused(struct pct_shim_thread *self, struct pct_shim_thread *thread)
{
    if (thread->detached || thread->joined)
        return EINVAL;
    if (thread == self || (thread->joining == self && !thread->cancel_asked))
        return EDEADLK;
    /* Itself, if a signal handler has jumped out of an earlier attempt. */
    return thread->joiner && thread->joiner != self ? EINVAL : 0;
}

/* Join with a deadline in virtual time. */
static int join(struct pct_shim_thread *self, pthread_t handle, void **value, uint64_t deadline)
{
    struct pct_shim_thread *thread = pct_thread_find(handle);
    if (!thread)
        return CALL_EXTERNAL(self, PCT_OP_THREAD_JOIN, NULL, REAL(pthread_join)(handle, value));
    pct_cancel_point(self);
    int error = refused(self, thread);
    if (error) {
        pct_here(self, PCT_OP_THREAD_JOIN);
        /* The handle may be that of another one by now, which pct does not know, and which has ended: libc tells. */
        if (pct_thread_is_gone(thread))
            error = CALL_MAY_BLOCK(self, REAL(pthread_join)(handle, value));
        pct_record(&pct_S, &self->core, PCT_OP_THREAD_JOIN, error ? PCT_ARG_ERROR : 0, thread->core.id);
        return error;
    }
    struct pct_wait wait = { .op = PCT_OP_THREAD_JOIN,
                             .object = &thread->core.self,
                             .ready = finished,
                             .ready_arg = thread,
                             .deadline = deadline,
                             .cancellable = !self->cancel_disabled };
    thread->joiner = self;
    self->joining = thread;
    enum pct_result result;
    do
        result = pct_wait(self, &wait);
    while (result == PCT_INTERRUPTED);
    thread->joiner = NULL;
    self->joining = NULL;
    bool done = thread->core.state == PCT_STATE_FINISHED;
    uint32_t arg = done ? 0 : result == PCT_CANCELLED ? PCT_ARG_CANCELLED : PCT_ARG_TIMEOUT;
    pct_record(&pct_S, &self->core, PCT_OP_THREAD_JOIN, arg, thread->core.id);
    if (!done && result == PCT_CANCELLED) {
        pct_cancel_point(self);
        return join(self, handle, value, deadline); /* it is ending already */
    }
    if (!done)
        return ETIMEDOUT;
    if (thread->unscheduled && deadline != PCT_NEVER) {
        struct timespec when;
        pct_real_deadline(CLOCK_MONOTONIC, deadline, &when);
        return CALL_EXTERNAL(self, PCT_OP_THREAD_JOIN, NULL,
                             REAL(pthread_clockjoin_np)(handle, value, CLOCK_MONOTONIC, &when));
    }
    thread->joined = true;
    pct_object_destroy(&pct_S.objects, pct_object_at(&pct_S.objects, (void *)handle, PCT_CLASS_THREAD));
    if (thread->unscheduled) /* it ends when it likes */
        return CALL_EXTERNAL(self, PCT_OP_THREAD_JOIN, NULL, REAL(pthread_join)(handle, value));
    return CALL_MAY_BLOCK(self, REAL(pthread_join)(handle, value));
}

PCT_EXPORT int pthread_join(pthread_t handle, void **value)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_THREAD_JOIN, PCT_CLASS_THREAD, NULL, REAL(pthread_join)(handle, value));
    return join(self, handle, value, PCT_NEVER);
}

PCT_EXPORT int pthread_tryjoin_np(pthread_t handle, void **value)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_THREAD_TRYJOIN, PCT_CLASS_THREAD, NULL, REAL(pthread_tryjoin_np)(handle, value));
    pct_here(self, PCT_OP_THREAD_TRYJOIN);
    struct pct_shim_thread *thread = pct_thread_find(handle);
    /* The kernel may have ended a thread that still has to finish in the schedule, so ours decides. */
    bool busy = thread && thread->core.state != PCT_STATE_FINISHED;
    int error = busy && !thread->detached ? EBUSY : CALL_MAY_BLOCK(self, REAL(pthread_tryjoin_np)(handle, value));
    pct_record(&pct_S, &self->core, PCT_OP_THREAD_TRYJOIN, error ? PCT_ARG_BUSY : 0, thread ? thread->core.id : 0);
    if (error == EBUSY)
        pct_sched_spin(&pct_S, &self->core);
    if (!error && thread) {
        thread->joined = true;
        pct_object_destroy(&pct_S.objects, pct_object_at(&pct_S.objects, (void *)handle, PCT_CLASS_THREAD));
    }
    return error;
}

/* GLIBC: a deadline with invalid nanoseconds is noticed only by a join that has to wait. */
static int join_until(struct pct_shim_thread *self, pthread_t handle, void **value, clockid_t clock,
                      const struct timespec *when)
{
    uint64_t deadline = PCT_NEVER;
    struct pct_shim_thread *thread = pct_thread_find(handle);
    bool waits = thread && thread->core.state != PCT_STATE_FINISHED && !refused(self, thread);
    /* Explored runs tell of it also where the thread has finished: in another schedule it comes. */
    bool told = pct_sched_log(&pct_S) && pct_user_readable(when, sizeof *when);
    if (when && (waits || told) && !pct_deadline(clock, when, &deadline) && waits)
        return EINVAL;
    return join(self, handle, value, deadline);
}

PCT_EXPORT int pthread_timedjoin_np(pthread_t handle, void **value, const struct timespec *when)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_THREAD_JOIN, PCT_CLASS_THREAD, NULL, REAL(pthread_timedjoin_np)(handle, value, when));
    return join_until(self, handle, value, CLOCK_REALTIME, when);
}

PCT_EXPORT int pthread_clockjoin_np(pthread_t handle, void **value, clockid_t clock, const struct timespec *when)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_THREAD_JOIN, PCT_CLASS_THREAD, NULL, REAL(pthread_clockjoin_np)(handle, value, clock, when));
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return EINVAL;
    return join_until(self, handle, value, clock, when);
}
