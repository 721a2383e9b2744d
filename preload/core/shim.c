/* The state of the shim (shim.h) and the slow halves of point.h and pass.h. With the baton, except pct_passed(). */
#include "maps.h"
#include "order.h"
#include "pass.h"
#include "real.h"
#include "sys.h"
#include <common/text.h>
#include <preload/run/engine.h>
#include <preload/run/start.h>
#include <preload/time/family.h>
#include <preload/watchdog/watchdog.h>
#include <sched/record.h>

/* pct_enter_first() puts a page of memory in its place. */
union pct_page pct_page __attribute__((aligned(4096)));
PCT_OF_START struct pct_shim pct_shim;
__thread struct pct_shim_thread *pct_self;
__thread struct pct_shim_thread *pct_vforking;

/* Strategy none: threads record as they come, under a lock of their own. It is held for some ten instructions, and
 * never across a system call. */
static void record_free(struct pct_shim_thread *self, enum pct_op op, enum pct_class class_,
                        const volatile void *object)
{
    uint32_t unlocked = 0;
    while (!__atomic_compare_exchange_n(&pct_shim.recorder, &unlocked, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        unlocked = 0;
        PCT_SYS0(SYS_sched_yield);
    }
    if (!pct_shim.ended) {
        uint32_t number = 0;
        if (class_ == PCT_CLASS_THREAD)
            number = object ? ((const struct pct_shim_thread *)object)->core.id : 0;
        else if (object)
            number = pct_object_at(&pct_S.objects, object, class_)->number;
        pct_record(&pct_S, &self->core, op, 0, number);
        if (pct_is_full(&pct_S))
            pct_record_turn(&pct_S); /* there is nothing to decide */
    }
    __atomic_store_n(&pct_shim.recorder, 0, __ATOMIC_RELEASE);
}

/* The first call of a thread that pct does not know: from now on no shortcut may assume that there are no others. */
static void meet_foreign(uint32_t kind)
{
    if (!pct_sched_meet_foreign(&pct_S, kind))
        return;
    /* The holder of the baton may stand in the middle of a shortcut: three instructions. */
    struct timespec moment = { .tv_nsec = 1000000 };
    PCT_SYS2(SYS_nanosleep, &moment, NULL);
}

/* Operations that wait have two records: where they begin, and where they are done. */
static enum pct_op second_of(enum pct_op op)
{
    switch (op) {
    case PCT_OP_COND_WAIT:
        return PCT_OP_COND_WAKE;
    case PCT_OP_BARRIER_ARRIVE:
        return PCT_OP_BARRIER_LEAVE;
    case PCT_OP_ONCE:
        return PCT_OP_ONCE_DONE;
    case PCT_OP_FUTEX_WAIT:
        return PCT_OP_FUTEX_WOKEN;
    case PCT_OP_SLEEP:
        return PCT_OP_AWAKE;
    default:
        return PCT_OP_NONE;
    }
}

/* Strategy none. A signal handler that interrupts the recorder must not wait for it. */
static void note_free(enum pct_op op, enum pct_class class_, const volatile void *object)
{
    struct pct_shim_thread *self = pct_self;
    if (self && !self->word) {
        self->word = 1;
        record_free(self, op, class_, object);
        self->word = 0;
    }
}

bool pct_passing(enum pct_op op, enum pct_class class_, const volatile void *object)
{
    struct pct_shim_thread *self = pct_holder();
    if (!pct_sched_is_on(&pct_S) || pct_shim.ended || pct_is_unscheduled())
        return false;
    if (self) {
        pct_sched_leave(&pct_S, &self->core, op, NULL, PCT_NEVER, false);
        pct_signal_away(self);
    } else if (pct_shim.mode == PCT_MODE_FREE && second_of(op) != PCT_OP_NONE) {
        note_free(op, class_, object);
    } else if (pct_shim.mode == PCT_MODE_CONTROLLED && !pct_self) {
        meet_foreign(PCT_FOREIGN_THREADS);
    } else if (pct_shim.mode == PCT_MODE_CONTROLLED && pct_self->core.state == PCT_STATE_FINISHED) {
        pct_engine_exiting(pct_self);
        meet_foreign(PCT_FOREIGN_FINISHED);
    }
    return self != NULL;
}

void pct_passed(enum pct_op op, enum pct_class class_, const volatile void *object)
{
    struct pct_shim_thread *self = pct_self;
    if (!pct_sched_is_on(&pct_S) || pct_shim.mode == PCT_MODE_OFF || pct_shim.ended || pct_is_unscheduled())
        return;
    if (pct_shim.mode == PCT_MODE_FREE) {
        note_free(second_of(op) == PCT_OP_NONE ? op : second_of(op), class_, object);
        return;
    }
    if (!self) {
        pct_uncontrolled(PCT_UNCONTROLLED_FOREIGN);
    } else if (self->core.state == PCT_STATE_FINISHED) {
        /* Not an error of anybody's: but somebody may wait for what it has given back. */
    } else {
        pct_uncontrolled(PCT_UNCONTROLLED_HANDLER);
    }
    pct_sched_attention(&pct_S);
}

struct pct_shim_thread *pct_enter_slow(void)
{
    struct pct_shim_thread *self = pct_self;
    if (pct_shim.pending)
        return pct_enter_first();
    if (self && pct_watchdog_took(self))
        pct_reacquire(self);
    return pct_holder();
}

bool pct_shared_slow(struct pct_object *object)
{
    /* No /proc, no descriptor left, a sandbox: then a wait must not be called a deadlock. */
    struct pct_mapping mapping;
    char path[sizeof PCT_MAPS_ANONYMOUS + 1];
    bool found = pct_maps_find((void *)object->address, &mapping, path, sizeof path);
    if (found && !mapping.shared)
        object->shared = PCT_SHARED_NO;
    else
        object->shared = found && pct_text_same(path, PCT_MAPS_ANONYMOUS) ? PCT_SHARED_KIN : PCT_SHARED_YES;
    return object->shared != PCT_SHARED_NO;
}

void pct_after_resume(struct pct_shim_thread *self)
{
    if (PCT_UNLIKELY(self->cancel_asked && !self->cancel_sent)) {
        self->cancel_sent = true;
        if (!self->cancel_disabled)
            pct_order_at(self, &self->cancel_asked, PCT_ACQUIRES);
        CALL_MAY_BLOCK(self, REAL(pthread_cancel)(self->handle)); /* with the asynchronous type this does not return */
    }
    if (pct_signal_waits(self))
        pct_signal_deliver(self);
}

/* With a frame of that size: valgrind would complain of a look below the stack. */
__attribute__((noinline)) void pct_probe_stack(void)
{
    char room[1536];
    __asm__ volatile("" : "=m"(room)); /* clang would leave all of it out but the byte that is touched */
    *(volatile char *)room = 0;
    if (PCT_UNLIKELY(pct_sched_has_pinned(&pct_S)) && pct_sched_is_pinned(&pct_S, &pct_self->core))
        pct_signal_unpin(pct_self);
}

void pct_renamed(void)
{
    __atomic_fetch_add(&pct_shim.renamed, 1, __ATOMIC_SEQ_CST);
    if (pct_sched_has_calm(&pct_S) && pct_holder())
        pct_stop_soon(&pct_S);
}

struct pct_object *pct_at_slow(struct pct_shim_thread *self, enum pct_op op, const volatile void *object,
                               enum pct_class class_)
{
    pct_probe_stack();
    pct_family_tell();
    pct_sched_point(&pct_S, &self->core, op, pct_object_at(&pct_S.objects, object, class_));
    pct_after_resume(self);
    /* Once more: it may have been destroyed meanwhile, that is what some bugs are about. */
    return pct_object_at(&pct_S.objects, object, class_);
}

void pct_here_slow(struct pct_shim_thread *self, enum pct_op op)
{
    pct_probe_stack();
    pct_family_tell();
    pct_sched_point(&pct_S, &self->core, op, NULL);
    pct_after_resume(self);
}

enum pct_result pct_wait(struct pct_shim_thread *self, const struct pct_wait *wait)
{
    struct pct_wait any;
    pct_probe_stack();
    /* Asked since its wrapper began: while it stood at a point, or in a handler that interrupted the wait before. */
    if (PCT_UNLIKELY(self->cancel_due && wait->cancellable && !self->cancel_disabled))
        return PCT_CANCELLED;
    if (PCT_UNLIKELY(self->cancel_async && !self->cancel_disabled)) {
        /* With the asynchronous type, a cancellation ends every wait. */
        any = *wait;
        any.cancellable = true;
        wait = &any;
    }
    self->restart = true; /* unless a handler comes that is against it */
    enum pct_result result = pct_sched_wait(&pct_S, &self->core, wait);
    if (result != PCT_GO_OUTSIDE)
        pct_after_resume(self);
    else
        pct_signal_away(self);
    return result;
}

void pct_reacquire(struct pct_shim_thread *self)
{
    int error = errno;
    self->away = false;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (PCT_UNLIKELY(self->back)) {
        self->back = false;
        pct_ensure_baton(self);
    } else {
        pct_sched_return(&pct_S, &self->core);
    }
    errno = error;
    pct_after_resume(self);
}
