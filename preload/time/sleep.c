/* Sleeping and yielding. A sleep takes virtual time: the thread is disabled until its deadline, and when nothing else
 * can run, time jumps there. A sleep of no length is a yield. */
#include <preload/core/loader.h>
#include <preload/core/pass.h>
#include <preload/core/user_memory.h>
#include <preload/thread/cancel.h>
#include "absent.h"
#include "clock.h"
#include <sched/log.h>
#include <errno.h>

int pct_yield(struct pct_shim_thread *self)
{
    pct_sched_spin(&pct_S, &self->core);
    pct_here(self, PCT_OP_YIELD);
    pct_done(self, PCT_OP_YIELD, 0, NULL);
    return 0;
}

/* Sleep until this point of virtual time. Returns 0, or EINTR when a signal handler has run; *left (may be NULL): what
 * was left of the time then. */
static int sleep_until(struct pct_shim_thread *self, uint64_t deadline, uint64_t *left)
{
    pct_cancel_point(self);
    pct_log_hidden(&pct_S, PCT_KEY_TIME, true);
    if (deadline <= pct_sched_now(&pct_S))
        return pct_yield(self);
    pct_absent_sleeps(self);
    pct_sched_spin(&pct_S, &self->core);
    pct_here(self, PCT_OP_SLEEP);
    pct_cancel_behind(self);
    pct_done(self, PCT_OP_SLEEP, 0, NULL);
    struct pct_wait wait = {
        .op = PCT_OP_AWAKE, .object = &self->sleep_object, .deadline = deadline, .cancellable = !self->cancel_disabled
    };
    enum pct_result result = pct_wait(self, &wait);
    uint64_t now = pct_sched_now(&pct_S);
    pct_done(self, PCT_OP_AWAKE,
             result == PCT_CANCELLED     ? PCT_ARG_CANCELLED
             : result == PCT_INTERRUPTED ? PCT_ARG_ERROR
                                         : 0,
             NULL);
    if (result == PCT_CANCELLED) {
        pct_cancel_point(self);
        return sleep_until(self, deadline, left); /* the thread is ending already */
    }
    if (result != PCT_INTERRUPTED)
        return 0;
    if (left)
        *left = deadline > now ? deadline - now : 0;
    return EINTR;
}

/* The same for a duration. */
static int sleep_for(struct pct_shim_thread *self, uint64_t duration, uint64_t *left)
{
    return sleep_until(self, pct_deadline_in(duration), left);
}

/* A loop that yields until others have written is in the same state in each round (await.h) only if this leaves nothing
 * of its own in the registers, nor in what patched code is compared with below its stack. */
static inline __attribute__((always_inline)) void leave_nothing(void)
{
    enum { BELOW = 128 };
    __asm__ volatile("leaq -%c0(%%rsp), %%rdi\n"
                     "xorl %%eax, %%eax\n"
                     "movl %1, %%ecx\n"
                     "rep stosq\n"
                     "xorl %%edx, %%edx\n"
                     "xorl %%esi, %%esi\n"
                     "xorl %%r8d, %%r8d\n"
                     "xorl %%r9d, %%r9d\n"
                     "xorl %%r10d, %%r10d\n"
                     "xorl %%r11d, %%r11d\n"
                     "pxor %%xmm0, %%xmm0\n"
                     "pxor %%xmm1, %%xmm1\n"
                     "pxor %%xmm2, %%xmm2\n"
                     "pxor %%xmm3, %%xmm3\n"
                     "pxor %%xmm4, %%xmm4\n"
                     "pxor %%xmm5, %%xmm5\n"
                     "pxor %%xmm6, %%xmm6\n"
                     "pxor %%xmm7, %%xmm7\n"
                     "pxor %%xmm8, %%xmm8\n"
                     "pxor %%xmm9, %%xmm9\n"
                     "pxor %%xmm10, %%xmm10\n"
                     "pxor %%xmm11, %%xmm11\n"
                     "pxor %%xmm12, %%xmm12\n"
                     "pxor %%xmm13, %%xmm13\n"
                     "pxor %%xmm14, %%xmm14\n"
                     "pxor %%xmm15, %%xmm15\n"
                     :
                     : "i"(BELOW), "i"(BELOW / 8)
                     : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3",
                       "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
                       "xmm15", "cc", "memory");
}

PCT_EXPORT int sched_yield(void)
{
    int error;
    {
        PCT_ENTER(self);
        if (self && pct_loader_is_held(self))
            return REAL(sched_yield)(); /* loader.c */
        error = self ? pct_yield(self) : PASS(PCT_OP_YIELD, PCT_CLASS_NONE, NULL, REAL(sched_yield)());
    }
    leave_nothing();
    return error;
}

/* GLIBC: <pthread.h> redirects the name pthread_yield to sched_yield; programs built before that import it. */
PCT_EXPORT int old_pthread_yield(void) __asm__("pthread_yield");
PCT_EXPORT int old_pthread_yield(void)
{
    return sched_yield();
}

static int fail(int error)
{
    if (!error)
        return 0;
    errno = error;
    return -1;
}

static int sleep_relative(struct pct_shim_thread *self, const struct timespec *duration, struct timespec *left)
{
    uint64_t ns = 0;
    int error = sleep_for(self, pct_nanoseconds(duration), &ns);
    struct timespec rest;
    if (error && left && !pct_user_copy_out(left, pct_limit_timespec(ns, &rest), sizeof rest))
        return EFAULT;
    return error;
}

PCT_EXPORT unsigned sleep(unsigned seconds)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SLEEP, PCT_CLASS_NONE, NULL, REAL(sleep)(seconds));
    uint64_t left = 0;
    int error = sleep_for(self, seconds * UINT64_C(1000000000), &left);
    errno = error ? error : errno;
    return (unsigned)(left / 1000000000); /* GLIBC: whole seconds, however much more it was */
}

PCT_EXPORT int usleep(useconds_t microseconds)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SLEEP, PCT_CLASS_NONE, NULL, REAL(usleep)(microseconds));
    return fail(sleep_for(self, microseconds * UINT64_C(1000), NULL));
}

PCT_EXPORT int nanosleep(const struct timespec *duration, struct timespec *left)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SLEEP, PCT_CLASS_NONE, NULL, REAL(nanosleep)(duration, left));
    struct timespec length;
    if (!pct_user_copy_in(&length, duration, sizeof length))
        return REAL(nanosleep)(duration, left); /* EFAULT */
    return fail(pct_valid(&length) ? sleep_relative(self, &length, left) : EINVAL);
}

/* Whether time can be waited for on this clock; the kernel answers for the others at once, or waits itself. */
static bool is_slept_on(clockid_t clock)
{
    return pct_keeps_clock(clock) && clock != CLOCK_THREAD_CPUTIME_ID && clock != CLOCK_MONOTONIC_RAW &&
           clock != CLOCK_MONOTONIC_COARSE && clock != CLOCK_REALTIME_COARSE;
}

PCT_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *duration, struct timespec *left)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_SLEEP, PCT_CLASS_NONE, NULL, REAL(clock_nanosleep)(clock, flags, duration, left));
    struct timespec length;
    clock = pct_own_clock(self, clock) == CLOCK_PROCESS_CPUTIME_ID ? CLOCK_PROCESS_CPUTIME_ID : clock;
    if (!pct_user_copy_in(&length, duration, sizeof length))
        return REAL(clock_nanosleep)(clock, flags, duration, left); /* EFAULT, or EINVAL */
    if (!is_slept_on(clock) || (flags & ~TIMER_ABSTIME) || !pct_valid(&length))
        return CALL_EXTERNAL(self, PCT_OP_SLEEP, NULL, REAL(clock_nanosleep)(clock, flags, duration, left));
    const uint64_t rest = pct_sched_rest(&pct_S);
    uint64_t deadline;
    if (flags & TIMER_ABSTIME)
        pct_deadline(clock, &length, &deadline);
    int error = flags & TIMER_ABSTIME ? sleep_until(self, deadline, NULL) : sleep_relative(self, &length, left);
    /* Nobody else need have used so much. */
    if (!error && clock == CLOCK_PROCESS_CPUTIME_ID)
        pct_sched_set_rest(&pct_S, rest);
    return error;
}
