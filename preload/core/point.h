/* Scheduling points: how a wrapper enters, passes its point, waits and records its step.
 *
 * Rules for code that lives in somebody else's process:
 *  1. Call nothing that can be overridden: own code, raw system calls (sys.h), memory from mmap. libc's functions only
 *     through REAL(), and only to do what the program asked for.
 *  2. A wrapper leaves errno as the real call would.
 *  3. A wrapper may be called before main, in a fork child, in a signal handler, after the thread's last destructor:
 *     then pct_enter() returns NULL, and the wrapper passes the call through (PASS).
 *  4. Whatever touches the scheduler holds the baton, that is, came through pct_enter() or PCT_ENTER(). A call that may
 *     sleep with the baton loses it to the watchdog: after it, pct_ensure_baton() (CALL_MAY_BLOCK) before anything of
 *     the scheduler's.
 *
 * A wrapper of an operation that cannot block:
 *
 *     PCT_ENTER(self);
 *     if (!self)
 *         return PASS(PCT_OP_X, PCT_CLASS_Y, object, REAL(x)(object));
 *     struct pct_object *o = pct_at(self, PCT_OP_X, object, PCT_CLASS_Y);    passes the scheduling point
 *     int result = REAL(x)(object);
 *     pct_done(self, PCT_OP_X, 0, o);                                        records the step
 *     pct_program_changed(o);                                                if others may wait for what it changed
 *     return result;
 *
 * Of one that can block, and of which the real object says whether it would (flockfile() in io/streams.c; with
 * deadlines and processes that share the object, sync/mutex.c):
 *
 *     static bool ready(const struct pct_thread *thread)                     would x succeed? Asked by other threads
 *     {
 *         return <what wait.ready_arg points to says so>;
 *     }
 *
 *     PCT_ENTER(self);
 *     if (!self)
 *         return PASS(PCT_OP_X, PCT_CLASS_Y, object, REAL(x)(object));
 *     struct pct_object *o = pct_object_at(&pct_S.objects, object, PCT_CLASS_Y);
 *     do                                                                     passes the point; disabled until ready()
 *         pct_wait_for(self, PCT_OP_X, o, ready, object, PCT_NEVER);
 *     while (REAL(tryx)(object) == EBUSY);                                   failed: others were faster, or a handler
 *     pct_done(self, PCT_OP_X, 0, pct_object_at(...));                       again: others may have destroyed it
 *
 * What has no try is modelled beside the object (sync/barrier.c). On descriptors: io/io.h. A try that fails is followed
 * by pct_sched_spin(). A call that waits for what pct cannot ask for: CALL_EXTERNAL().
 */
#ifndef PCT_PRELOAD_POINT_H
#define PCT_PRELOAD_POINT_H

#include "shim.h"

/* Where the program called the function that this stands in. */
#define PCT_CALLER __builtin_return_address(0)

/* The calling thread, if it is under control and holds the baton; else NULL. For shortcuts only, which leave what they
 * do not know to code that enters: this begins no run. */
static inline struct pct_shim_thread *pct_holder(void)
{
    struct pct_shim_thread *self = pct_self;
    return PCT_LIKELY(self && pct_sched_holds(&pct_S, &self->core)) ? self : NULL;
}

/* The same for a wrapper; NULL: pass the call through. */
struct pct_shim_thread *pct_enter_slow(void);
static inline struct pct_shim_thread *pct_enter(void)
{
    struct pct_shim_thread *self = pct_holder();
    return PCT_LIKELY(self != NULL) ? self : pct_enter_slow();
}

/* Whether there is a run, after beginning one that is pending: for wrappers that only take notes. */
static inline bool pct_running(void)
{
    pct_enter();
    return pct_sched_is_on(&pct_S) && !pct_vforking;
}

/* signals.h: let in the signals that were put off, or sent, while the thread was parked or in a wrapper. */
void pct_signal_deliver(struct pct_shim_thread *self);

/* handler.c: if the thread is pinned (sched.h) for a handler or a call that it has left by a jump, it is no longer.
 * Before a switch is asked for. */
void pct_signal_unpin(struct pct_shim_thread *self);

static inline bool pct_signal_waits(const struct pct_shim_thread *self)
{
    return PCT_UNLIKELY(__atomic_load_n(&self->held, __ATOMIC_RELAXED) || self->sent);
}

/* The same as pct_enter(), for a wrapper that calls anything: until it returns, signals are put off. */
static inline __attribute__((always_inline)) struct pct_shim_thread *pct_mark(struct pct_shim_thread *self,
                                                                              const void *frame)
{
    /* A wrapper within a wrapper (a target's malloc that locks) is a part of it. A mark below this frame was left
     * behind by a wrapper that ended by a jump. */
    if (self && (!self->inside || (uintptr_t)self->inside < (uintptr_t)frame))
        self->inside = frame;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return self;
}

static inline __attribute__((always_inline)) void pct_leave_at(struct pct_shim_thread *self, const void *frame)
{
    if (!self || self->inside != frame)
        return;
    self->inside = NULL;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (pct_signal_waits(self))
        pct_signal_deliver(self);
}

static inline __attribute__((always_inline)) void pct_leave(struct pct_shim_thread **self)
{
    pct_leave_at(*self, __builtin_frame_address(0));
}

/* Declares `self`: the calling thread, marked as inside a wrapper until the function returns; NULL as from pct_enter().
 */
#define PCT_ENTER(self)                                                                                                \
    struct pct_shim_thread *self __attribute__((cleanup(pct_leave))) = pct_mark(pct_enter(), __builtin_frame_address(0))

/* Whether the calling thread has left the schedule for good, or is a child in its parent's memory. */
static inline bool pct_is_unscheduled(void)
{
    return pct_self ? pct_self->unscheduled : pct_vforking != NULL;
}

/* After the baton came back: what others have asked of this thread meanwhile (cancellation, signals). */
void pct_after_resume(struct pct_shim_thread *self);

/* A thread has been given a name of its own. On whoever's turn it is. */
void pct_renamed(void);

/* Before the scheduler is entered: if the stack has no room for it, let the fault come here, where nothing is half
 * done. A handler of the target's on another stack may jump out of it and go on. What a wrapper takes itself comes on
 * top: docs/SANDBOX.md, tests/cases/handler_stack.c. */
void pct_probe_stack(void); /* and ends a pin whose handler was left */

/* Pass the scheduling point of an operation on this object that cannot block. */
struct pct_object *pct_at_slow(struct pct_shim_thread *self, enum pct_op op, const volatile void *object,
                               enum pct_class class_);
static inline struct pct_object *pct_at(struct pct_shim_thread *self, enum pct_op op, const volatile void *object,
                                        enum pct_class class_)
{
    if (pct_on_fast_path(&pct_S))
        return pct_object_at(&pct_S.objects, object, class_);
    return pct_at_slow(self, op, object, class_);
}

/* The same for an operation without an object. */
void pct_here_slow(struct pct_shim_thread *self, enum pct_op op);
static inline void pct_here(struct pct_shim_thread *self, enum pct_op op)
{
    if (!pct_on_fast_path(&pct_S))
        pct_here_slow(self, op);
}

static inline void pct_done(const struct pct_shim_thread *self, enum pct_op op, uint32_t arg,
                            const struct pct_object *object)
{
    pct_record(&pct_S, &self->core, op, arg, object ? object->number : 0);
}

/* pct_sched_wait(), and then pct_after_resume(). A wait that a cancellation ends does not begin while one is due:
 * PCT_CANCELLED. */
enum pct_result pct_wait(struct pct_shim_thread *self, const struct pct_wait *wait);

/* The same for a plain wait. */
static inline enum pct_result pct_wait_for(struct pct_shim_thread *self, enum pct_op op, struct pct_object *object,
                                           pct_readiness *ready, const volatile void *arg, uint64_t deadline)
{
    struct pct_wait wait = {
        .op = op, .object = object, .ready = ready, .ready_arg = (const void *)arg, .deadline = deadline
    };
    return pct_wait(self, &wait);
}

static inline void pct_program_changed(struct pct_object *object)
{
    if (PCT_UNLIKELY(object->waiters))
        pct_sched_changed(&pct_S, object);
}

/* Whether other processes take part in this object. flag: what the object says of itself; where that may be wrong
 * (robust mutexes, condition variables of the old version), the memory map decides, once for each object. */
bool pct_shared_slow(struct pct_object *object);
static inline bool pct_shared(struct pct_object *object, bool flag)
{
    return PCT_UNLIKELY(flag) && (object->shared ? object->shared != PCT_SHARED_NO : pct_shared_slow(object));
}

/* Whether those processes are the family alone: the object is in anonymous memory. */
static inline bool pct_shared_by_kin(struct pct_object *object, bool flag)
{
    return pct_shared(object, flag) && object->shared == PCT_SHARED_KIN;
}

#endif
