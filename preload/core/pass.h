/* Calls without a scheduling point of their own, or without the baton: passed through (PASS), made while others go on
 * (CALL_CANCELLABLE, CALL_EXTERNAL), or with the baton though they may sleep (CALL_MAY_BLOCK). */
#ifndef PCT_PRELOAD_PASS_H
#define PCT_PRELOAD_PASS_H

#include "point.h"

/* A call is about to be passed through. True: the caller has the baton, but could not be told whether the call would
 * block (pct_io_enter); so it makes the call without, and comes back then. */
bool pct_passing(enum pct_op op, enum pct_class class_, const volatile void *object);

/* A call was passed through: record it (strategy none), or count what that says about control. */
void pct_passed(enum pct_op op, enum pct_class class_, const volatile void *object);

/* After a call without the baton. */
void pct_reacquire(struct pct_shim_thread *self);

#define PASS(op, class_, object, call)                                                                                 \
    ({                                                                                                                 \
        bool pct_left_ = pct_passing(op, class_, object);                                                              \
        __typeof__(call) pct_result_ = (call);                                                                         \
        if (pct_left_)                                                                                                 \
            pct_reacquire(pct_self);                                                                                   \
        else                                                                                                           \
            pct_passed(op, class_, object);                                                                            \
        pct_result_;                                                                                                   \
    })

/* A call that does not block, and has no object: with its point and step if the caller has the baton. */
#define AT_POINT(self, op, call)                                                                                       \
    ({                                                                                                                 \
        if (self)                                                                                                      \
            pct_here(self, op);                                                                                        \
        __typeof__(call) pct_result_ = (self) ? (call) : PASS(op, PCT_CLASS_NONE, NULL, call);                         \
        if (self)                                                                                                      \
            pct_done(self, op, 0, NULL);                                                                               \
        pct_result_;                                                                                                   \
    })

/* Run a call without the baton, and come back. A cancellation may end the call: then the thread comes back before the
 * program's cleanup handlers run. GLIBC: this is what pthread_cleanup_push is in C without exceptions, so it asks
 * nothing of an unwinder that the cancellation does not. */
#define CALL_CANCELLABLE(self, call)                                                                                   \
    ({                                                                                                                 \
        __pthread_unwind_buf_t pct_unwind_;                                                                            \
        if (__builtin_expect(pct_sigsetjmp(pct_unwind_.__cancel_jmp_buf, 0), 0))                                       \
            pct_cancelled_away(&pct_unwind_);                                                                          \
        __pthread_register_cancel(&pct_unwind_);                                                                       \
        (self)->unwind = &pct_unwind_;                                                                                 \
        __typeof__(call) pct_result_ = (call);                                                                         \
        (self)->unwind = NULL;                                                                                         \
        __pthread_unregister_cancel(&pct_unwind_);                                                                     \
        pct_reacquire(self);                                                                                           \
        pct_result_;                                                                                                   \
    })
int pct_sigsetjmp(struct __cancel_jmp_buf_tag *buffer, int mask) __asm__("__sigsetjmp") __attribute__((returns_twice));
void pct_cancelled_away(__pthread_unwind_buf_t *buffer) __attribute__((noreturn)); /* cancel.c */

/* handler.c: the thread is outside from now on, until pct_reacquire(). */
void pct_signal_away(struct pct_shim_thread *self);

/* Run a call that may block on the outside world, without the baton. Its value is the call's; the step is recorded as
 * PCT_OP_OUTSIDE when the thread has come back. op, object: what it waits in meanwhile, for reports. */
#define CALL_EXTERNAL(self, op, object, call)                                                                          \
    ({                                                                                                                 \
        pct_probe_stack();                                                                                             \
        pct_sched_leave(&pct_S, &(self)->core, op, object, PCT_NEVER, false);                                          \
        pct_signal_away(self);                                                                                         \
        CALL_CANCELLABLE(self, call);                                                                                  \
    })

/* After a call with the baton that may have slept all the same (for a lock inside libc, for a disk), or that ran code
 * of the target: the watchdog may have taken the baton away meanwhile. Leaves errno alone. */
static inline void pct_ensure_baton(struct pct_shim_thread *self)
{
    if (PCT_UNLIKELY(!pct_sched_holds(&pct_S, &self->core)))
        pct_enter_slow();
    /* The target's code may have made steps; there must be room for the one that is about to be recorded. */
    if (pct_is_full(&pct_S) && pct_sched_holds(&pct_S, &self->core))
        pct_sched_make_room(&pct_S, &self->core);
}
#define CALL_MAY_BLOCK(self, call)                                                                                     \
    ({                                                                                                                 \
        __typeof__(call) pct_result_ = (call);                                                                         \
        pct_ensure_baton(self);                                                                                        \
        pct_result_;                                                                                                   \
    })

#endif
