/* What threads without the baton tell: foreign_calls.h. */
#include "foreign_calls.h"
#include <preload/core/pass.h>
#include <preload/core/sys.h>
#include <preload/thread/cancel.h>

/* A place is taken by one compare-and-swap, so that a signal handler may do so, too. */
enum state { FREE, TAKEN, TOLD };
enum released { NOT_YET, RELEASED, LAST };
/* Who waits at a barrier, on its own stack: any number. */
struct waiting {
    uint32_t released; /* a futex: enum released */
    const volatile void *barrier;
    struct waiting *next;
};
static struct entry {
    uint32_t state; /* atomic */
    enum pct_class class_;
    const volatile void *object;
    uint32_t count; /* to be woken; 0: somebody waits in libc's */
    struct waiting *arrived;
} entries[64];
static struct waiting *arrived; /* of whom it is known; with the baton */
enum { ENTRIES = sizeof entries / sizeof *entries };
static uint32_t missed; /* there was no place; atomic */
static bool anybody;    /* something was missed: threads may wait in any condition variable */

static bool is_heard(void)
{
    return pct_sched_is_on(&pct_S) && pct_shim.mode == PCT_MODE_CONTROLLED && !pct_shim.ended && !pct_is_unscheduled();
}

static struct entry *take(void)
{
    for (int i = 0; i < ENTRIES; i++) {
        uint32_t free = FREE;
        if (__atomic_compare_exchange_n(&entries[i].state, &free, TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return &entries[i];
    }
    return NULL;
}

static void tell(enum pct_class class_, const volatile void *object, uint32_t count, struct waiting *who)
{
    struct entry *entry;
    while (!(entry = take()) && (who || class_ == PCT_CLASS_THREAD)) /* these cannot be made up for */
        PCT_SYS0(SYS_sched_yield);
    if (entry) {
        entry->class_ = class_;
        entry->object = object;
        entry->count = count;
        entry->arrived = who;
        __atomic_store_n(&entry->state, TOLD, __ATOMIC_RELEASE);
    } else {
        __atomic_store_n(&missed, 1, __ATOMIC_RELEASE);
    }
    pct_sched_attention(&pct_S);
}

void pct_tell_wake(enum pct_class class_, const volatile void *object, uint32_t count)
{
    if (is_heard())
        tell(class_, object, count, NULL);
}

void pct_tell_waits(const volatile void *cond)
{
    if (is_heard())
        tell(PCT_CLASS_COND, cond, 0, NULL);
}

bool pct_tell_cancels(pthread_t handle)
{
    if (!is_heard())
        return false;
    tell(PCT_CLASS_THREAD, (void *)handle, 0, NULL);
    return true;
}

bool pct_tell_arrives(const volatile void *barrier, bool *serial)
{
    struct waiting me = { .released = NOT_YET, .barrier = barrier };
    if (!is_heard())
        return false;
    pct_passing(PCT_OP_BARRIER_ARRIVE, PCT_CLASS_BARRIER, barrier);
    pct_uncontrolled(PCT_UNCONTROLLED_FOREIGN);
    tell(PCT_CLASS_BARRIER, barrier, 1, &me);
    while (__atomic_load_n(&me.released, __ATOMIC_ACQUIRE) == NOT_YET)
        pct_futex_wait(&me.released, NOT_YET, NULL);
    *serial = me.released == LAST;
    return true;
}

static void release(struct waiting *who, enum released how)
{
    uint32_t *word = &who->released;
    __atomic_store_n(word, how, __ATOMIC_RELEASE); /* it is gone from here on */
    pct_futex_wake(word, 1);
}

static void heed(struct entry *entry)
{
    const volatile void *address = entry->object;
    enum pct_class class_ = entry->class_;
    uint32_t count = entry->count;
    struct waiting *who = entry->arrived;
    __atomic_store_n(&entry->state, FREE, __ATOMIC_RELEASE);
    if (class_ == PCT_CLASS_THREAD) {
        pct_cancel_told((pthread_t)address);
        return;
    }
    struct pct_object *object = pct_object_at(&pct_S.objects, address, class_);
    if (class_ == PCT_CLASS_BARRIER && pct_barrier_arrive(object)) {
        release(who, LAST);
    } else if (class_ == PCT_CLASS_BARRIER) {
        who->next = arrived;
        arrived = who;
    } else if (class_ == PCT_CLASS_FUTEX) {
        pct_futex_wake_waiters(object, count);
    } else if (count) {
        pct_cond_wake(object, count);
    } else {
        object->model[2] = 1;
    }
}

/* Nobody knows who was to be woken: all that wait so, as both kinds of waiters have to expect. */
static void wake_everybody(void)
{
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++) {
        struct pct_thread *thread = &pct_shim.slots[id].core;
        struct pct_object *queue = thread->queued && !thread->wait.ready ? thread->wait.object : NULL;
        if (queue && queue->class_ == PCT_CLASS_COND)
            pct_cond_wake(queue, UINT32_MAX);
        else if (queue && queue->class_ == PCT_CLASS_FUTEX)
            pct_sched_wake(&pct_S, thread);
    }
}

static bool is_told(void)
{
    bool found = __atomic_load_n(&missed, __ATOMIC_ACQUIRE);
    for (int i = 0; i < ENTRIES && !found; i++)
        found = __atomic_load_n(&entries[i].state, __ATOMIC_ACQUIRE) == TOLD;
    return found;
}

void pct_foreign(void)
{
    /* The holder has said that it waits (it has arrived, or unlocked the mutex), and is to be found in the queue. */
    if (pct_sched_joins(&pct_S)) {
        if (is_told())
            pct_set_due(&pct_S, PCT_DUE_ATTENTION);
        return;
    }
    for (int i = 0; i < ENTRIES; i++)
        if (__atomic_load_n(&entries[i].state, __ATOMIC_ACQUIRE) == TOLD)
            heed(&entries[i]);
    if (__atomic_exchange_n(&missed, 0, __ATOMIC_ACQUIRE)) {
        anybody = true;
        wake_everybody();
    }
}

bool pct_foreign_waits(const struct pct_object *queue)
{
    if (!pct_sched_has_foreign(&pct_S))
        return false;
    pct_foreign();
    return queue->model[2] || anybody;
}

void pct_foreign_forget(void)
{
    __builtin_memset(entries, 0, sizeof entries);
    arrived = NULL;
    missed = 0;
    anybody = false;
}

void pct_foreign_round(const volatile void *barrier)
{
    for (struct waiting **at = &arrived; *at;) {
        struct waiting *who = *at;
        if (who->barrier != barrier) {
            at = &who->next;
            continue;
        }
        *at = who->next;
        release(who, RELEASED);
    }
}
