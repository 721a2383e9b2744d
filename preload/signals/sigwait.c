/* Threads that wait for signals, and masks.
 *
 * sigwait and its relatives take a pending signal that the thread blocks; it may come from another process, and then
 * nothing but the kernel knows when. sigsuspend and pause wait until a handler has run. Both are never a deadlock. */
#include <preload/core/pass.h>
#include <preload/core/user_memory.h>
#include "signals.h"
#include "trap.h"
#include <preload/thread/cancel.h>
#include <preload/time/clock.h>
#include <preload/time/vtimer.h>

/* sigwait and its relatives */

static bool wanted(const struct pct_thread *thread)
{
    const struct pct_shim_thread *self = (const void *)thread;
    return pct_signal_pending(self) & (uintptr_t)thread->wait.ready_arg;
}

bool pct_signal_waits_outside(const struct pct_thread *thread)
{
    return thread->state == PCT_STATE_OUTSIDE && thread->wait.op == PCT_OP_SIGNAL_WAIT && thread->wait.ready == wanted;
}

/* Whether this thread waits outside for this one. */
static bool takes(const struct pct_thread *thread, uint64_t bit)
{
    return pct_signal_waits_outside(thread) && (uintptr_t)thread->wait.ready_arg & bit;
}

/* Whether this thread waits outside for others, and a handler of this one ends its wait. */
static bool is_interrupted(const struct pct_shim_thread *thread, int signal)
{
    uint64_t bit = pct_signal_bit(signal);
    return pct_signal_waits_outside(&thread->core) && pct_action_handles(signal) && !(pct_signal_blocked(thread) & bit);
}

static bool is_thread(const struct pct_thread *thread, uint64_t id)
{
    return thread->id == id;
}

/* Whether the kernel gives a signal to the process to one of the threads that take it: the first thread decides whether
 * an ignored signal is lost, and any thread that lets it in may get it. */
static bool is_taken(uint64_t bit)
{
    bool taken = false;
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++) {
        const struct pct_shim_thread *thread = &pct_shim.slots[id];
        if (takes(&thread->core, bit))
            taken = true;
        else if ((!id || thread->core.state == PCT_STATE_OUTSIDE) && !(pct_signal_blocked(thread) & bit))
            return false;
    }
    return taken;
}

void pct_signal_given(const struct pct_shim_thread *thread, int signal)
{
    uint64_t bit = pct_signal_bit(signal);
    if (!pct_sched_outside(&pct_S))
        return;
    if (thread ? takes(&thread->core, bit) || is_interrupted(thread, signal) : is_taken(bit))
        pct_sched_expect(&pct_S, thread ? is_thread : takes, thread ? thread->core.id : bit);
}

/* sigtimedwait on the kernel's side: a signal number, or a negative errno. Away from the scheduler it is libc's, which
 * a cancellation ends; the mask is then as it is in the wait, which differs only if the program waits for a signal that
 * it lets in. */
static int take(struct pct_shim_thread *self, bool away, uint64_t set, siginfo_t *info, const struct timespec *timeout)
{
    siginfo_t storage;
    int taken;
    if (!info)
        info = &storage;
    if (away) {
        taken = CALL_CANCELLABLE(self, REAL(sigtimedwait)((const sigset_t *)(const void *)&set, info, timeout));
        taken = taken < 0 ? -errno : taken;
    } else {
        taken = (int)PCT_SYS4(SYS_rt_sigtimedwait, &set, info, timeout, PCT_SIGSET_SIZE);
    }
    if (taken > 0)
        pct_timer_taken(info);
    if (taken > 0 && !away && pct_signal_is_foreign(info)) /* it was there, so nobody has waited for the world */
        pct_uncontrolled(PCT_UNCONTROLLED_SIGNAL);
    if (taken > 0 && info->si_code == SI_TKILL)
        info->si_code = SI_USER; /* GLIBC: as its own wrappers do */
    return taken;
}

/* How long the wait outside may last, which begins now; the kernel looks there when it has begun. */
static void set_limit(struct pct_shim_thread *self, struct timespec *limit)
{
    *limit = (struct timespec){ .tv_sec = INT32_MAX };
    pct_limit_timespec(pct_sched_outside_limit(&pct_S, &self->core), limit);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (self->back)
        *limit = (struct timespec){ 0 };
}

static int wait_for(struct pct_shim_thread *self, const sigset_t *wait_set, siginfo_t *info, uint64_t deadline)
{
    uint64_t set;
    pct_cancel_point(self);
    if (!pct_user_copy_in(&set, wait_set, sizeof set))
        return -EFAULT;
    /* Signals that are waited for do not go to their handlers meanwhile. What has been put off since this call began is
     * not blocked behind it. */
    uint64_t mask = pct_signal_mask(SIG_BLOCK, set);
    mask &= ~__atomic_load_n(&self->held, __ATOMIC_SEQ_CST);
    struct pct_wait wait = { .op = PCT_OP_SIGNAL_WAIT,
                             .object = &self->sleep_object,
                             .ready = wanted,
                             .ready_arg = (const void *)(uintptr_t)set,
                             .deadline = deadline,
                             .outside = true,
                             .attention = deadline == PCT_NEVER,
                             .kin = deadline == PCT_NEVER,
                             .cancellable = !self->cancel_disabled };
    for (;;) {
        struct timespec limit = { 0, 0 };
        self->handled = 0;
        // cppcheck-suppress autoVariables // taken back before this ends
        self->limit = &limit;
        enum pct_result result = pct_wait(self, &wait);
        if (result == PCT_GO_OUTSIDE)
            set_limit(self, &limit);
        int taken = take(self, result == PCT_GO_OUTSIDE, set, info, &limit);
        bool late = deadline != PCT_NEVER && (result == PCT_TIMEOUT || pct_sched_now(&pct_S) >= deadline);
        if (taken == -EAGAIN && self->handled && result != PCT_READY)
            taken = -EINTR;
        if ((taken == -EAGAIN && !late && result != PCT_CANCELLED) || (taken == -EINTR && !self->handled))
            continue;
        self->limit = NULL;
        pct_signal_restore(self, mask);
        pct_done(self, PCT_OP_SIGNAL_WAIT,
                 taken > 0                 ? (uint32_t)taken
                 : result == PCT_CANCELLED ? PCT_ARG_CANCELLED
                                           : PCT_ARG_TIMEOUT,
                 NULL);
        if (result == PCT_CANCELLED)
            pct_cancel_point(self);
        return taken;
    }
}

PCT_EXPORT int sigwait(const sigset_t *restrict set, int *restrict signal)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SIGNAL_WAIT, PCT_CLASS_NONE, NULL, REAL(sigwait)(set, signal));
    int taken;
    do
        taken = wait_for(self, set, NULL, PCT_NEVER);
    while (taken == -EINTR);
    if (taken < 0)
        return -taken;
    *signal = taken;
    return 0;
}

static int as_libc(int taken)
{
    if (taken >= 0)
        return taken;
    errno = -taken;
    return -1;
}

PCT_EXPORT int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SIGNAL_WAIT, PCT_CLASS_NONE, NULL, REAL(sigwaitinfo)(set, info));
    return as_libc(wait_for(self, set, info, PCT_NEVER));
}

PCT_EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
                            const struct timespec *restrict timeout)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SIGNAL_WAIT, PCT_CLASS_NONE, NULL, REAL(sigtimedwait)(set, info, timeout));
    struct timespec length;
    if (!pct_user_readable(set, PCT_SIGSET_SIZE) || (timeout && !pct_user_copy_in(&length, timeout, sizeof length)))
        return as_libc(-EFAULT);
    if (timeout && !pct_valid(&length))
        return as_libc(-EINVAL);
    uint64_t deadline = timeout ? pct_deadline_in(pct_nanoseconds(&length)) : PCT_NEVER;
    return as_libc(wait_for(self, set, info, deadline));
}

/* sigsuspend and its relatives */

static bool arrived(const struct pct_thread *thread)
{
    const struct pct_shim_thread *self = (const void *)thread;
    return __atomic_load_n(&self->held, __ATOMIC_SEQ_CST) || self->sent;
}

/* Until a handler has run, with this mask; it may let in what is pending. */
static int suspend(struct pct_shim_thread *self, uint64_t mask)
{
    pct_cancel_point(self);
    struct pct_wait wait = { .op = PCT_OP_SIGNAL_WAIT,
                             .object = &self->sleep_object,
                             .ready = arrived,
                             .deadline = PCT_NEVER,
                             .attention = true,
                             .cancellable = !self->cancel_disabled };
    enum pct_result result = PCT_READY;
    struct pct_masked outer;
    if (pct_signal_mask_begin(self, mask, &outer))
        pct_here(self, PCT_OP_SIGNAL_WAIT);
    while (!self->handled && result != PCT_CANCELLED)
        result = pct_wait(self, &wait);
    pct_signal_mask_end(self, &outer);
    pct_done(self, PCT_OP_SIGNAL_WAIT, self->handled ? (uint32_t)self->handled : PCT_ARG_CANCELLED, NULL);
    if (result == PCT_CANCELLED)
        pct_cancel_point(self);
    errno = EINTR;
    return -1;
}

PCT_EXPORT int sigsuspend(const sigset_t *mask)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SIGNAL_WAIT, PCT_CLASS_NONE, NULL, REAL(sigsuspend)(mask));
    uint64_t set;
    if (!pct_user_copy_in(&set, mask, sizeof set))
        return as_libc(-EFAULT);
    return suspend(self, set);
}

PCT_EXPORT int pause(void)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SIGNAL_WAIT, PCT_CLASS_NONE, NULL, REAL(pause)());
    return suspend(self, pct_signal_blocked(self));
}

/* GLIBC: <signal.h> has sigpause as this, which takes a signal that is let in; the name sigpause is that of BSD, which
 * takes a mask of the first 32. __sigpause is both. */
static int pause_for(struct pct_shim_thread *self, int argument, bool is_signal)
{
    uint64_t mask = pct_signal_blocked(self);
    if (!is_signal)
        return suspend(self, (mask & ~UINT64_C(0xffffffff)) | (uint32_t)argument);
    if (argument < 1 || argument > PCT_SIGNALS) {
        errno = EINVAL;
        return -1;
    }
    return suspend(self, mask & ~pct_signal_bit(argument));
}

PCT_EXPORT int __sigpause(int argument, int is_signal)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SIGNAL_WAIT, PCT_CLASS_NONE, NULL, REAL(__sigpause)(argument, is_signal));
    return pause_for(self, argument, is_signal);
}

PCT_EXPORT int xpg_sigpause(int signal) __asm__("__xpg_sigpause");
PCT_EXPORT int xpg_sigpause(int signal)
{
    return __sigpause(signal, 1);
}

PCT_EXPORT int bsd_sigpause(int mask) __asm__("sigpause");
PCT_EXPORT int bsd_sigpause(int mask)
{
    return __sigpause(mask, 0);
}

/* Masks: what they let in is handled before they return, on the thread's turn. */

#define LET_IN(self, call)                                                                                             \
    ({                                                                                                                 \
        if (self)                                                                                                      \
            pct_signal_open(self);                                                                                     \
        __typeof__(call) pct_result_ = (call);                                                                         \
        if (self)                                                                                                      \
            pct_signal_close(self);                                                                                    \
        pct_result_;                                                                                                   \
    })

/* While pct makes SIGTRAP, the kernel's mask is without it. */
#define MASK(self, function, how, set, old)                                                                            \
    ({                                                                                                                 \
        sigset_t without_;                                                                                             \
        bool hidden_ = self && self->trap_hidden;                                                                      \
        const sigset_t *asked_ = set;                                                                                  \
        if (PCT_UNLIKELY(pct_traps) && self && set)                                                                    \
            asked_ = pct_trap_mask(self, how, set, &without_);                                                         \
        int failed_ = LET_IN(self, REAL(function)(how, asked_, old));                                                  \
        if (hidden_ && !failed_ && old)                                                                                \
            *(uint64_t *)(old) |= pct_signal_bit(SIGTRAP);                                                             \
        failed_;                                                                                                       \
    })

PCT_EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
    struct pct_shim_thread *self = pct_enter();
    return MASK(self, pthread_sigmask, how, set, old);
}

PCT_EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
    struct pct_shim_thread *self = pct_enter();
    return MASK(self, sigprocmask, how, set, old);
}

/* BSD's and System V's, by that one: libc's own would block the SIGTRAP that pct makes. */
static int mask_one(int how, int signal)
{
    sigset_t one;
    sigemptyset(&one);
    return sigaddset(&one, signal) ? -1 : sigprocmask(how, &one, NULL);
}

PCT_EXPORT int sighold(int signal)
{
    return mask_one(SIG_BLOCK, signal);
}

PCT_EXPORT int sigrelse(int signal)
{
    return mask_one(SIG_UNBLOCK, signal);
}

/* Of the first 32. */
static int mask_old(int how, int mask)
{
    sigset_t set, before;
    sigemptyset(&set);
    *(uint64_t *)&set = (uint32_t)mask;
    return sigprocmask(how, &set, &before) ? -1 : (int)pct_signal_bits(&before);
}

PCT_EXPORT int sigblock(int mask)
{
    return mask_old(SIG_BLOCK, mask);
}

PCT_EXPORT int sigsetmask(int mask)
{
    return mask_old(SIG_SETMASK, mask);
}

PCT_EXPORT int siggetmask(void)
{
    return mask_old(SIG_BLOCK, 0);
}
