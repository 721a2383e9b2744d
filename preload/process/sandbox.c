/* What a program forbids itself: a filter of system calls, the strict mode, limits. A limit on memory counts the
 * address space of the trace, too: most of it is given back. */
#include "sandbox.h"
#include <common/exploration.h>
#include <preload/core/bpf.h>
#include <preload/core/kernel.h>
#include <preload/core/point.h>
#include <preload/core/real.h>
#include <preload/core/seccomp.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include <preload/io/io.h>
#include <preload/memory/channel.h>
#include <preload/signals/signals.h>
#include <preload/thread/slots.h>
#include <preload/time/vtimer.h>
#include <preload/watchdog/lone.h>
#include <preload/watchdog/watchdog.h>
#include <sched/record.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/* For the others this thread ends here, but goes on beside them, and can tell nobody what it does. They must not take
 * its pipes for ones that only they write to. */
static void leave_for_good(struct pct_shim_thread *self)
{
    pct_here(self, PCT_OP_THREAD_FINISH);
    pct_uncontrolled(PCT_UNCONTROLLED_STRICT);
    pct_sched_meet_foreign(&pct_S, PCT_FOREIGN_THREADS | PCT_FOREIGN_SILENT);
    pct_fd_share_all();
    uint64_t mask = pct_signal_retire(self);
    self->unscheduled = true;
    __atomic_store_n(&self->exiting, 1, __ATOMIC_SEQ_CST);
    pct_record(&pct_S, &self->core, PCT_OP_THREAD_FINISH, 0, self->core.id);
    pct_sched_finish(&pct_S, &self->core);
    pct_signal_mask(SIG_SETMASK, mask);
}

/* There is but this thread, which needs no schedule: the trace ends here. */
static void end_schedule(struct pct_shim_thread *self)
{
    pct_lone_end();
    pct_itimer_leave();
    pct_timer_leave();
    pct_timerfd_leave();
    self->unscheduled = pct_shim.confined = true;
    pct_shim.ended = pct_shim.left = true;
    pct_sched_shut(&pct_S);
    pct_watchdog_await_end();
}

bool pct_sandbox_strict(void)
{
    struct pct_shim_thread *self = pct_enter();
    pct_lone_end();
    if (PCT_SYS1(SYS_prctl, PR_GET_SECCOMP)) /* the kernel will refuse */
        return false;
    if (self && !pct_sched_alone(&pct_S)) {
        leave_for_good(self);
        return true;
    }
    if (self)
        end_schedule(self);
    return true;
}

/* What it may answer to any of these. */
static unsigned answers_to(const struct sock_fprog *filter, const uint16_t *calls, unsigned count)
{
    unsigned answers = 0;
    for (unsigned i = 0; i < count; i++)
        answers |= pct_bpf_answers(filter->filter, filter->len, calls[i]);
    return answers;
}
#define ANSWERS(filter, calls) answers_to(filter, calls, sizeof(calls) / sizeof *(calls))

/* What to do about timers whose signal a process of one thread may wait for without a call. Where the filter lets pass
 * what it takes to find out that it waits, and to handle a signal on its turn, that goes on. Where not, natively a
 * signal's default action or a handler that does not return may do. Then the schedule ends, if no second thread can
 * ever be made. */
static void keep_timers(struct pct_shim_thread *self, const struct sock_fprog *filter)
{
    static const uint16_t handle[] = { SYS_rt_sigreturn, SYS_rt_sigprocmask,    SYS_rt_sigaction,   SYS_sigaltstack,
                                       SYS_getpid,       SYS_rt_tgsigqueueinfo, SYS_rt_sigqueueinfo };
    static const uint16_t make[] = { SYS_timer_create, SYS_timer_settime };
    static const uint16_t arm[] = { SYS_alarm, SYS_setitimer, SYS_timer_settime };
    static const uint16_t threads[] = { SYS_clone, SYS_clone3, SYS_fork, SYS_vfork };
    static const uint16_t delete[] = { SYS_timer_delete }, go_back[] = { SYS_rt_sigreturn };
    static bool handles = true, makes = true, deletes = true, returns = true; /* by the filters before, too */
    const bool may_delete = deletes;                                          /* before this one is in force */
    deletes = deletes && ANSWERS(filter, delete) == PCT_BPF_PASSES;
    returns = returns && ANSWERS(filter, go_back) == PCT_BPF_PASSES;
    handles = handles && ANSWERS(filter, handle) == PCT_BPF_PASSES;
    makes = makes && ANSWERS(filter, make) == PCT_BPF_PASSES;
    const bool timers = pct_vtimer_alarm() != PCT_NEVER || ANSWERS(filter, arm) & PCT_BPF_PASSES;
    if (timers && handles) {
        pct_lone_confine(makes);
        return;
    }
    pct_lone_silence(may_delete, returns);
    if (timers && !(ANSWERS(filter, threads) & PCT_BPF_PASSES))
        end_schedule(self);
}

/* With a program that cannot be read: the kernel looks first whether the process may have one. Who has had one may,
 * nearly always, and that one may kill for the question. */
static bool may_filter(void)
{
    const struct sock_fprog none = { .len = 1, .filter = (struct sock_filter *)-sizeof(struct sock_filter) };
    return pct_shim.confined || PCT_SYS3(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &none) == -EFAULT;
}

void pct_sandbox_filter(const void *program)
{
    struct pct_shim_thread *self = pct_enter();
    struct sock_fprog filter;
    pct_watchdog_have();
    if (self && pct_sched_threads(&pct_S) == 1 && pct_user_copy_in(&filter, program, sizeof filter) && filter.len &&
        pct_user_readable(filter.filter, filter.len * sizeof *filter.filter) && may_filter())
        keep_timers(self, &filter);
}

/* As libc's: it has four arguments behind the first, whatever of them was given. */
PCT_EXPORT int prctl(int option, ...)
{
    va_list arguments;
    unsigned long a[4];
    va_start(arguments, option);
    for (int i = 0; i < 4; i++)
        a[i] = va_arg(arguments, unsigned long);
    va_end(arguments);
    const bool filters = option == PR_SET_SECCOMP && a[0] == SECCOMP_MODE_FILTER;
    if (option == PR_SET_SECCOMP && a[0] == SECCOMP_MODE_STRICT)
        pct_sandbox_strict();
    else if (filters)
        pct_sandbox_filter((const void *)a[1]);
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    int result = REAL(prctl)(option, a[0], a[1], a[2], a[3]);
    if (option == PR_SET_NAME)
        pct_renamed();
    if (filters && !result)
        pct_seccomp_entered();
    return result;
}

/* Nobody else may be recording meanwhile; and in a child of vfork it is not this process's limit. */
static bool may_resize(void)
{
    return !pct_vforking && (pct_enter() || (pct_shim.mode == PCT_MODE_FREE && pct_sched_threads(&pct_S) == 1));
}

/* At most an eighth of what the program leaves itself is the trace's. What is recorded stays. Of the places of threads
 * as many stay as could have a stack. */
static void give_back(pid_t pid, enum __rlimit_resource resource, const struct rlimit *limit)
{
    struct rlimit wanted;
    if (resource != RLIMIT_AS || !limit || (pid && pid != pct_shim.pid) ||
        !pct_user_copy_in(&wanted, limit, sizeof wanted) || wanted.rlim_cur == RLIM_INFINITY)
        return;
    if (!may_resize())
        return;
    pct_slots_give_back(wanted.rlim_cur);
    size_t most = (wanted.rlim_cur / 8) & ~(size_t)4095, least = pct_record_held(&pct_S);
    most = most > least ? most : (least + 4095) & ~(size_t)4095;
    if (pct_sched_is_ring(&pct_S) || most >= pct_shim.mapped)
        return;
    if (PCT_SYS2(SYS_munmap, (char *)pct_shim.header + most, pct_shim.mapped - most))
        return;
    pct_shim.space -= pct_shim.mapped - most;
    pct_shim.mapped = most;
    pct_record_cut(&pct_S, (char *)pct_shim.header + most);
}

/* What threads use of it: the kernel, and whether one can be made. */
static void tell_limit(void)
{
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    pct_explored_hidden(PCT_KEY_THREADS, false);
}

/* The limit of this process may have been raised. */
static int take_back(enum __rlimit_resource resource, int result)
{
    const int error = errno;
    if (resource == RLIMIT_AS && !pct_shim.confined && may_resize())
        pct_slots_take_back(pct_address_space());
    errno = error;
    return result;
}

PCT_EXPORT int prlimit(pid_t pid, enum __rlimit_resource resource, const struct rlimit *new, struct rlimit *old)
{
    give_back(pid, resource, new);
    tell_limit();
    return take_back(resource, REAL(prlimit)(pid, resource, new, old));
}

/* GLIBC: the same function. */
PCT_EXPORT int prlimit64(pid_t pid, enum __rlimit_resource resource, const struct rlimit64 *new, struct rlimit64 *old)
{
    return prlimit(pid, resource, (const struct rlimit *)new, (struct rlimit *)old);
}

PCT_EXPORT int setrlimit(enum __rlimit_resource resource, const struct rlimit *limit)
{
    give_back(0, resource, limit);
    tell_limit();
    return take_back(resource, REAL(setrlimit)(resource, limit));
}

PCT_EXPORT int setrlimit64(enum __rlimit_resource resource, const struct rlimit64 *limit)
{
    return setrlimit(resource, (const struct rlimit *)limit);
}

/* Whether what the program has mapped itself may be locked. */
static bool may_lock(void)
{
    struct rlimit limit;
    uint64_t used = pct_address_space_used();
    return used && !PCT_SYS4(SYS_prlimit64, 0, RLIMIT_MEMLOCK, NULL, &limit) && used - pct_shim.space <= limit.rlim_cur;
}

/* All that is mapped is meant, and all that will be. The shim's mappings are mostly address space: a gigabyte for the
 * trace, which would be memory and blocks of a file. Where the process may not lock so much, but natively could lock
 * its own, it is told that it has: nothing else tells. Linux before 4.4 knows no MCL_ONFAULT. */
PCT_EXPORT int mlockall(int flags)
{
    int error = errno;
    if (!(flags & (MCL_CURRENT | MCL_FUTURE)) || flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
        return REAL(mlockall)(flags);
    int failed = REAL(mlockall)(flags | MCL_ONFAULT);
    if (failed && errno == EINVAL)
        failed = REAL(mlockall)(flags);
    if (!failed || (errno != ENOMEM && errno != EPERM) || !may_lock())
        return failed;
    errno = error;
    return 0;
}
