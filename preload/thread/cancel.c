/* Cancellation. libc's own would interrupt the target wherever it stands, also when it is parked inside the scheduler;
 * so the request is kept in the target's slot, and the target passes it on to libc when it next runs
 * (pct_after_resume): from then on every cancellation point of libc works as natively, and ours ask libc. */
#include "cancel.h"
#include <sched/log.h>
#include <preload/core/order.h>
#include <preload/core/pass.h>
#include <preload/core/real.h>
#include <preload/signals/doorbell.h>
#include <preload/sync/foreign_calls.h>
#include "thread.h"

/* GLIBC: since 2.41 the first request is a signal to every thread that has cancellation enabled, whose handler has
 * SA_RESTART and does nothing outside a cancellation point: what is never restarted fails with EINTR there. Before,
 * only threads in a cancellation point, or with the asynchronous type, got it. */
void pct_cancel_start(void)
{
    pct_shim.cancel_interrupts = pct_libc_minor() >= 41;
}

void pct_cancel_point(struct pct_shim_thread *self)
{
    if (PCT_LIKELY(!self->cancel_asked))
        return;
    if (!self->cancel_disabled)
        self->cancel_due = false;
    REAL(pthread_testcancel)();
}

void pct_cancel_behind(struct pct_shim_thread *self)
{
    if (PCT_UNLIKELY(self->cancel_due && !self->cancel_disabled))
        pct_done(self, PCT_OP_TESTCANCEL, PCT_ARG_CANCELLED, NULL);
    pct_cancel_point(self);
}

void pct_cancelled_away(__pthread_unwind_buf_t *buffer)
{
    pct_self->unwind = NULL;
    pct_recall_pause(pct_self);
    pct_reacquire(pct_self);
    __pthread_unwind_next(buffer);
}

static void cancel_wait(struct pct_shim_thread *thread, bool interrupts)
{
    pct_sched_cancel(&pct_S, &thread->core);
    if (interrupts && !thread->core.in_then)
        pct_sched_interrupt(&pct_S,
                            &thread->core); /* one that is no cancellation point: what was ended is no wait any more */
}

/* self: the caller; NULL: it has not the baton. */
static int ask(struct pct_shim_thread *self, struct pct_shim_thread *thread, pthread_t handle)
{
    if (thread->core.state == PCT_STATE_FINISHED)
        return 0;
    if (self)
        pct_order_at(self, &thread->cancel_asked, PCT_RELEASES);
    bool interrupts = pct_shim.cancel_interrupts && !thread->cancel_asked && !thread->cancel_disabled;
    thread->cancel_asked = thread->cancel_due = true;
    thread->cancel_sent = thread->core.state == PCT_STATE_OUTSIDE;
    if (thread->cancel_sent)
        return REAL(pthread_cancel)(handle);
    /* libc is told of each request on the thread's turn: the second one is more than the first. */
    if (thread == self)
        pct_after_resume(self);
    else
        cancel_wait(thread, interrupts);
    return 0;
}

void pct_cancel_told(pthread_t handle)
{
    struct pct_shim_thread *thread = pct_thread_find(handle);
    if (thread)
        ask(NULL, thread, handle);
}

/* Anywhere: the state of the thread of the schedule that has this handle, or PCT_STATE_FINISHED. */
static enum pct_state state_of(pthread_t handle)
{
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++)
        if (pct_shim.slots[id].handle == handle && pct_shim.slots[id].core.state != PCT_STATE_FINISHED)
            return pct_shim.slots[id].core.state;
    return PCT_STATE_FINISHED;
}

/* One that waits outside, libc tells at once: nobody else may be there to look. */
static int cancel_unasked(pthread_t handle)
{
    const bool own = pct_self && pct_self->handle == handle;
    const enum pct_state state = own ? PCT_STATE_FINISHED : state_of(handle);
    const bool told = state != PCT_STATE_FINISHED && pct_tell_cancels(handle);
    return told && state != PCT_STATE_OUTSIDE ? 0 : REAL(pthread_cancel)(handle);
}

PCT_EXPORT int pthread_cancel(pthread_t handle)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_THREAD_CANCEL, PCT_CLASS_THREAD, NULL, cancel_unasked(handle));
    pct_here(self, PCT_OP_THREAD_CANCEL);
    struct pct_shim_thread *thread = pct_thread_find(handle);
    if (handle == self->handle)
        thread = self;
    pct_record(&pct_S, &self->core, PCT_OP_THREAD_CANCEL, 0, thread ? thread->core.id : 0);
    return thread ? ask(self, thread, handle) : REAL(pthread_cancel)(handle);
}

PCT_EXPORT void pthread_testcancel(void)
{
    PCT_ENTER(self);
    if (self) {
        pct_here(self, PCT_OP_TESTCANCEL);
        pct_done(self, PCT_OP_TESTCANCEL, 0, NULL);
    } else {
        pct_passed(PCT_OP_TESTCANCEL, PCT_CLASS_NONE, NULL);
    }
    REAL(pthread_testcancel)();
}

PCT_EXPORT int pthread_setcancelstate(int state, int *old)
{
    pct_enter();
    int error = REAL(pthread_setcancelstate)(state, old);
    if (!error && pct_self)
        pct_self->cancel_disabled = state == PTHREAD_CANCEL_DISABLE;
    if (!error && pct_self && pct_self->cancel_asked && !pct_self->cancel_disabled)
        pct_order_at(pct_self, &pct_self->cancel_asked, PCT_ACQUIRES); /* it may take effect from now on */
    return error;
}

PCT_EXPORT int pthread_setcanceltype(int type, int *old)
{
    /* libc acts at once on a request that it knows; one that only the slot knows is passed on first. */
    struct pct_shim_thread *self = pct_enter();
    if (self)
        pct_after_resume(self);
    int error = REAL(pthread_setcanceltype)(type, old);
    if (!error && pct_self)
        pct_self->cancel_async = type == PTHREAD_CANCEL_ASYNCHRONOUS;
    if (!error && type == PTHREAD_CANCEL_ASYNCHRONOUS)
        pct_log_doubt(&pct_S, PCT_DOUBT_ASYNCHRONOUS);
    return error;
}
