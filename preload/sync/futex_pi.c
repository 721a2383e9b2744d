/* Locks of futexes with priority inheritance are the kernel's, tried without waiting: see futex.h. */
#include "futex.h"
#include <preload/core/order.h>
#include <preload/core/pass.h>
#include <preload/core/sys.h>
#include <errno.h>
#include <linux/futex.h>

static bool unlocked(const struct pct_thread *thread)
{
    return !(*(const volatile uint32_t *)thread->wait.ready_arg & FUTEX_TID_MASK);
}

/* The kernel, which knows of no waiter, has written the word: whoever has it now, or takes it, is to give it back by a
 * call. An atomic would not end the wait of those in the queue. */
static void tell_of_waiters(const struct pct_object *queue, uint32_t *word)
{
    if (queue->waiters)
        __atomic_fetch_or(word, FUTEX_WAITERS, __ATOMIC_RELAXED);
}

/* A failed try leaves word that somebody waits, so that the owner unlocks by a call: the program sees it, so it is a
 * step that a replay makes, too. Signals do not end this wait. */
long pct_futex_lock_pi(struct pct_shim_thread *self, uint32_t *word, int op, uint64_t deadline)
{
    for (bool late = false;;) {
        struct pct_object *queue = pct_at(self, PCT_OP_FUTEX_WAIT, word, PCT_CLASS_FUTEX);
        int error = -(int)PCT_SYS4(SYS_futex, word, FUTEX_TRYLOCK_PI | (op & FUTEX_PRIVATE_FLAG), 0, NULL);
        pct_futex_note(PCT_OP_ATOMIC_UPDATE, word);
        if (error == EAGAIN && late)
            error = ETIMEDOUT;
        if (error != EAGAIN) {
            if (!error) {
                tell_of_waiters(queue, word);
                pct_order_at(self, word, PCT_ACQUIRES);
            }
            pct_done(self, PCT_OP_FUTEX_WAIT, late ? PCT_ARG_TIMEOUT : error ? PCT_ARG_ERROR : 0, queue);
            if (error)
                errno = error;
            return error ? -1 : 0;
        }
        pct_done(self, PCT_OP_FUTEX_WAIT, PCT_ARG_BUSY, queue);
        enum pct_result result = pct_wait_for(self, PCT_OP_FUTEX_WAIT, queue, unlocked, word, deadline);
        late = result == PCT_TIMEOUT || (deadline != PCT_NEVER && pct_sched_now(&pct_S) >= deadline);
    }
}

long pct_futex_pi(struct pct_shim_thread *self, enum pct_op record, const long a[6])
{
    struct pct_object *queue = pct_at(self, record, (void *)a[0], PCT_CLASS_FUTEX);
    long failed = pct_by_number(SYS_futex, a);
    int error = errno;
    pct_futex_note(PCT_OP_ATOMIC_UPDATE, (const uint32_t *)a[0]);
    if (!failed) { /* the kernel has written the word, which others lock and unlock by atomic accesses */
        tell_of_waiters(queue, (uint32_t *)a[0]);
        pct_order_at(self, (void *)a[0], record == PCT_OP_FUTEX_WAIT ? PCT_ACQUIRES : PCT_RELEASES);
    }
    pct_done(self, record, failed ? PCT_ARG_BUSY : 0, queue);
    pct_program_changed(queue);
    if (failed && record == PCT_OP_FUTEX_WAIT)
        pct_sched_spin(&pct_S, &self->core);
    errno = error;
    return failed;
}
