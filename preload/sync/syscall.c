/* syscall(): what threads wait on by it goes the way of the function of the same name; the rest is the kernel's. */
#include "futex.h"
#include <common/exploration.h>
#include <preload/core/order.h>
#include <preload/core/pass.h>
#include <preload/core/seccomp.h>
#include <preload/core/sys.h>
#include <preload/io/io.h>
#include <preload/memory/channel.h>
#include <preload/process/clone.h>
#include <preload/process/sandbox.h>
#include <preload/signals/trap.h>
#include <preload/thread/foreign_threads.h>
#include <preload/thread/thread.h>
#include <preload/time/clock.h>
#include <preload/time/family.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>

/* The call may write to a descriptor, or read from one, for which another thread waits. */
static void may_move(unsigned what)
{
    if (PCT_LIKELY(!pct_sched_races(&pct_S) && !pct_sched_kernel_waits(&pct_S)) || pct_vforking)
        return;
    const int error = errno;
    const struct pct_shim_thread *self = pct_enter();
    if (self)
        pct_order_world(self, what);
    if (self && what == PCT_ACQUIRES)
        pct_sched_kernel_changed(&pct_S);
    errno = error;
}

/* The upper half of an argument of 32 bits is whatever its caller's compiler has left there. */
PCT_EXPORT long syscall(long number, ...)
{
    va_list arguments;
    long a[6];
    va_start(arguments, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(arguments, long);
    va_end(arguments);
    long as[6];
    if (number >= PCT_FUTEX2_WAKE && number <= PCT_FUTEX2_REQUEUE && pct_futex_translate(number, a, as)) {
        number = SYS_futex;
        __builtin_memcpy(a, as, sizeof a);
    }
    switch (number) {
    case SYS_futex: {
        PCT_ENTER(self);
        if (self)
            return pct_futex(self, a);
        enum pct_op op = (a[1] & FUTEX_CMD_MASK) == FUTEX_WAKE ? PCT_OP_FUTEX_WAKE : PCT_OP_FUTEX_WAIT;
        pct_futex_tell(a);
        return PASS(op, PCT_CLASS_FUTEX, (void *)a[0], pct_by_number(number, a));
    }
    case SYS_futex_waitv: {
        PCT_ENTER(self);
        return self ? pct_futex_waitv(self, a)
                    : PASS(PCT_OP_FUTEX_WAIT, PCT_CLASS_NONE, NULL, pct_by_number(number, a));
    }
    case SYS_getrandom:
        return pct_random_syscall((void *)a[0], (size_t)a[1], (unsigned)a[2]);
    case SYS_clock_gettime:
        return pct_clock_syscall((clockid_t)a[0], (struct timespec *)a[1]);
    case SYS_gettimeofday:
        return pct_gettimeofday_syscall((struct timeval *)a[0], (void *)a[1]);
    case SYS_time:
        return pct_time_syscall((time_t *)a[0]);
    case SYS_sched_yield: /* a loop that does nothing else would be a spin to the watchdog alone */
        return sched_yield();
    /* Signals that threads send: as by the functions. */
    case SYS_kill:
        return kill((pid_t)a[0], (int)a[1]);
    case SYS_tgkill:
        return tgkill((pid_t)a[0], (pid_t)a[1], (int)a[2]);
    case SYS_tkill:
        return tgkill((pid_t)PCT_SYS0(SYS_getpid), (pid_t)a[0], (int)a[1]);
    case SYS_rt_sigprocmask: {
        PCT_ENTER(self);
        uint64_t before, *old = (uint64_t *)a[2];
        const bool both = old && a[1] == a[2]; /* what it asks for is still to be seen behind the call */
        a[2] = both ? (long)&before : a[2];
        long result = pct_by_number(number, a);
        if (self && !result)
            pct_trap_settle(self, (int)a[0], (const uint64_t *)a[1], (uint64_t *)a[2]);
        if (both && !result)
            *old = before;
        return result;
    }
    case SYS_exit_group:
        _exit((int)a[0]);
    case SYS_exit:
        pct_thread_leave((int)a[0]);
        return pct_by_number(number, a);
    default: {
        const bool asks = number == SYS_prctl && (int)a[0] == PR_SET_SECCOMP;
        bool strict = number == SYS_seccomp ? (uint32_t)a[0] == SECCOMP_SET_MODE_STRICT && !(uint32_t)a[1] && !a[2]
                                            : asks && a[1] == SECCOMP_MODE_STRICT;
        const bool filters =
            number == SYS_seccomp ? (uint32_t)a[0] == SECCOMP_SET_MODE_FILTER : asks && a[1] == SECCOMP_MODE_FILTER;
        strict = strict && pct_sandbox_strict();
        if (filters)
            pct_sandbox_filter((const void *)a[2 - asks]);
        if (number == SYS_io_uring_setup)
            pct_foreign_threads_of_kernel();
        bool clones = number == SYS_clone || number == SYS_clone3 || number == SYS_fork;
        uint32_t slot = clones ? pct_clone_expect(number, a) : 0;
        const bool moves = number != SYS_gettid && number != SYS_getpid && number != SYS_membarrier;
        if (moves) {
            pct_explored_hidden(PCT_KEY_KERNEL, false);
            may_move(PCT_RELEASES);
        }
        if (number == SYS_gettid || number == SYS_getpid)
            pct_explored_outside();
        long result = pct_by_number(number, a);
        if (moves && !clones)
            may_move(PCT_ACQUIRES);
        if (slot && result)
            pct_family_born(slot, result);
        if (number == SYS_prctl && (int)a[0] == PR_SET_NAME)
            pct_renamed();
        if (filters && result >= 0)
            pct_seccomp_entered();
        return result;
    }
    }
}
