/* POSIX semaphores. The real semaphore holds the truth. sem_post is async-signal-safe: off turn it is the real one, and
 * the scheduler looks at the semaphore again at its next point (pct_passed). */
#include "layouts.h"
#include <common/exploration.h>
#include <preload/core/order.h>
#include <preload/core/pass.h>
#include <preload/io/news.h>
#include <preload/memory/channel.h>
#include <preload/signals/doorbell.h>
#include <preload/thread/cancel.h>
#include <preload/time/absent.h>
#include <preload/time/clock.h>
#include <preload/time/family.h>
#include <sched/log.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

static bool ready(const struct pct_thread *thread)
{
    return sem_value(thread->wait.ready_arg) > 0;
}

/* Behind an operation. */
static void tell_value(const struct pct_object *object, const sem_t *sem)
{
    pct_log_value(&pct_S, object, sem_value(sem));
}

static int wait_outside(struct pct_shim_thread *self, sem_t *sem)
{
    struct timespec until, *limit = pct_limit_timespec(pct_sched_outside_limit(&pct_S, &self->core), &until);
    return CALL_CANCELLABLE(
        self,
        RECALLABLE(self, limit ? REAL(sem_clockwait)(sem, CLOCK_MONOTONIC, pct_from_now(limit)) : REAL(sem_wait)(sem)));
}

/* Returns 0, or -1 with errno as sem_wait and its relatives do. */
static int wait_until(struct pct_shim_thread *self, sem_t *sem, uint64_t deadline)
{
    int error = errno;
    bool fast = pct_on_fast_path(&pct_S);
    pct_cancel_point(self);
    for (;; fast = false) {
        struct pct_object *object = pct_object_at(&pct_S.objects, sem, PCT_CLASS_SEM);
        enum pct_result result = PCT_READY;
        if (!fast) {
            struct pct_wait wait = { .op = PCT_OP_SEM_WAIT,
                                     .object = object,
                                     .ready = ready,
                                     .ready_arg = sem,
                                     .alike = true,
                                     .deadline = deadline,
                                     .outside = pct_shared(object, sem_shared(sem)),
                                     .kin = pct_shared_by_kin(object, sem_shared(sem)),
                                     .cancellable = !self->cancel_disabled };
            if (wait.outside)
                pct_uncontrolled(PCT_UNCONTROLLED_PSHARED);
            result = pct_wait(self, &wait);
            if (result == PCT_CANCELLED)
                pct_cancel_behind(self);
        }
        int failed = result == PCT_GO_OUTSIDE ? wait_outside(self, sem) : REAL(sem_trywait)(sem);
        bool late = deadline != PCT_NEVER && pct_sched_now(&pct_S) >= deadline && !fast;
        /* GLIBC: a wait with a deadline is interrupted also by a handler with SA_RESTART. */
        bool interrupted = result == PCT_INTERRUPTED && (!self->restart || deadline != PCT_NEVER);
        if (failed && (errno == EINTR || interrupted)) {
            errno = EINTR;
            pct_done(self, PCT_OP_SEM_WAIT, PCT_ARG_ERROR, object);
            return -1;
        }
        if (failed && result != PCT_TIMEOUT && !late)
            continue;
        object = pct_object_at(&pct_S.objects, sem, PCT_CLASS_SEM);
        tell_value(object, sem);
        pct_done(self, PCT_OP_SEM_WAIT, failed ? PCT_ARG_TIMEOUT : 0, object);
        pct_program_changed(object);
        errno = failed ? ETIMEDOUT : error;
        return failed;
    }
}

PCT_EXPORT int sem_wait(sem_t *sem)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SEM_WAIT, PCT_CLASS_SEM, sem, REAL(sem_wait)(sem));
    return wait_until(self, sem, PCT_NEVER);
}

/* GLIBC: an invalid deadline is refused before anything else. */
static int wait_by(struct pct_shim_thread *self, sem_t *sem, clockid_t clock, const struct timespec *when)
{
    uint64_t deadline;
    if (!pct_deadline(clock, when, &deadline)) {
        errno = EINVAL;
        return -1;
    }
    return wait_until(self, sem, deadline);
}

PCT_EXPORT int sem_timedwait(sem_t *sem, const struct timespec *when)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SEM_WAIT, PCT_CLASS_SEM, sem, REAL(sem_timedwait)(sem, when));
    return wait_by(self, sem, CLOCK_REALTIME, when);
}

PCT_EXPORT int sem_clockwait(sem_t *sem, clockid_t clock, const struct timespec *when)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SEM_WAIT, PCT_CLASS_SEM, sem, REAL(sem_clockwait)(sem, clock, when));
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) {
        errno = EINVAL;
        return -1;
    }
    return wait_by(self, sem, clock, when);
}

PCT_EXPORT int sem_trywait(sem_t *sem)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SEM_TRYWAIT, PCT_CLASS_SEM, sem, REAL(sem_trywait)(sem));
    struct pct_object *object = pct_at(self, PCT_OP_SEM_TRYWAIT, sem, PCT_CLASS_SEM);
    int failed = REAL(sem_trywait)(sem);
    tell_value(object, sem);
    pct_done(self, PCT_OP_SEM_TRYWAIT, failed ? PCT_ARG_BUSY : 0, object);
    if (failed)
        pct_sched_spin(&pct_S, &self->core);
    else
        pct_program_changed(object);
    return failed;
}

PCT_EXPORT int sem_post(sem_t *sem)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SEM_POST, PCT_CLASS_SEM, sem, REAL(sem_post)(sem));
    struct pct_object *object = pct_at(self, PCT_OP_SEM_POST, sem, PCT_CLASS_SEM);
    if (sem_shared(sem))
        pct_family_tell();
    int failed = REAL(sem_post)(sem);
    tell_value(object, sem);
    pct_done(self, PCT_OP_SEM_POST, failed ? PCT_ARG_ERROR : 0, object);
    pct_program_changed(object);
    return failed;
}

/* No step, but the value may be what another thread waits for in a loop. */
PCT_EXPORT int sem_getvalue(sem_t *sem, int *value)
{
    int failed = REAL(sem_getvalue)(sem, value);
    const struct pct_shim_thread *self = pct_holder();
    pct_log_doubt(&pct_S, PCT_DOUBT_VALUE);
    const struct pct_object *object =
        self && pct_sched_races(&pct_S) ? pct_object_known(&pct_S.objects, sem, PCT_CLASS_SEM) : NULL;
    if (!failed && object)
        pct_order_object(self, object, PCT_ACQUIRES);
    return failed;
}

PCT_EXPORT int sem_init(sem_t *sem, int pshared, unsigned value)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SEM_INIT, PCT_CLASS_SEM, sem, REAL(sem_init)(sem, pshared, value));
    pct_here(self, PCT_OP_SEM_INIT);
    int failed = REAL(sem_init)(sem, pshared, value);
    pct_done(self, PCT_OP_SEM_INIT, failed ? PCT_ARG_ERROR : 0, pct_object_init(&pct_S.objects, sem, PCT_CLASS_SEM));
    return failed;
}

PCT_EXPORT int sem_destroy(sem_t *sem)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SEM_DESTROY, PCT_CLASS_SEM, sem, REAL(sem_destroy)(sem));
    struct pct_object *object = pct_at(self, PCT_OP_SEM_DESTROY, sem, PCT_CLASS_SEM);
    int failed = REAL(sem_destroy)(sem);
    pct_done(self, PCT_OP_SEM_DESTROY, failed ? PCT_ARG_ERROR : 0, object);
    pct_object_destroy(&pct_S.objects, object);
    return failed;
}

PCT_EXPORT sem_t *sem_open(const char *name, int flags, ...)
{
    mode_t mode = 0;
    unsigned value = 0;
    if (flags & O_CREAT) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        value = va_arg(arguments, unsigned);
        va_end(arguments);
    }
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    sem_t *sem = REAL(sem_open)(name, flags, mode, value);
    pct_news_any();
    pct_absent_note(sem == SEM_FAILED ? -1 : 0);
    PCT_ENTER(self);
    if (!self || sem == SEM_FAILED)
        return sem;
    struct pct_object *object = pct_object_known(&pct_S.objects, sem, PCT_CLASS_SEM);
    if (object) /* opened twice; or one that stood there before, in memory that was private */
        object->shared = PCT_SHARED_UNKNOWN;
    else
        pct_object_init(&pct_S.objects, sem, PCT_CLASS_SEM);
    return sem;
}

PCT_EXPORT int sem_close(sem_t *sem)
{
    int failed = REAL(sem_close)(sem);
    PCT_ENTER(self);
    struct pct_object *object = self ? pct_object_known(&pct_S.objects, sem, PCT_CLASS_SEM) : NULL;
    /* GLIBC: opened twice, it stays mapped until closed twice; a new number then does no harm. */
    if (!failed && object)
        pct_object_destroy(&pct_S.objects, object);
    return failed;
}
