/* System calls that the filter of a host traps, since it cannot tell enough of them, and that are made all the same:
 * see host.h. Files that are opened for reading, and /dev/null, by what their paths name: that leaves nothing, and the
 * descriptor is closed when the run is over. Changes to memory where nothing was before main, as dlopen() makes them.
 * A heap that becomes smaller than it was before main: the host ends behind the run. Questions about other threads, but
 * not about one that has ended. And actions of signals, which are noted: the host would look for them for longer than a
 * trap takes. */
#include "host.h"
#include "host_mask.h"
#include "host_stacks.h"
#include "host_threads.h"
#include "kernel.h"
#include "shim.h"
#include "user_memory.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <ucontext.h>

/* In there, each process finds itself: a host has other mappings and descriptors than another copy. */
enum { PROC = 0x9fa0 };

/* How a file is opened: for reading, or in any way. */
enum {
    READING = O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | 0100000 /* O_LARGEFILE */,
    ANY_WAY = READING | O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND
};

/* Whether opening what this descriptor (O_PATH) stands for, with these flags, changes nothing, and finds what any run
 * would. */
static bool is_harmless(long fd, long flags)
{
    struct stat status;
    struct statfs system;
    if (pct_host_sys4(SYS_fstat, fd, (long)&status, 0, 0) || pct_host_sys4(SYS_fstatfs, fd, (long)&system, 0, 0))
        return false;
    if (S_ISCHR(status.st_mode)) /* /dev/null, /dev/zero */
        return !(flags & ~ANY_WAY) && (status.st_rdev == makedev(1, 3) || status.st_rdev == makedev(1, 5));
    return !(flags & ~READING) && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) && system.f_type != PROC;
}

static bool open_file(int call, greg_t *regs)
{
    bool at = call == SYS_openat;
    long folder = at ? (int)regs[REG_RDI] : AT_FDCWD, path = at ? regs[REG_RSI] : regs[REG_RDI];
    long flags = (int)(at ? regs[REG_RDX] : regs[REG_RSI]);
    if (!pct_host_may_have(-1))
        return false;
    long fd = pct_host_sys4(SYS_openat, folder, path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW), 0);
    if (fd < 0 && flags & O_CREAT)
        return false;
    if (fd < 0)
        pct_host_threads_looks((int)folder, (const char *)path);
    if (fd >= 0) {
        bool may = is_harmless(fd, flags);
        pct_host_sys4(SYS_close, fd, 0, 0, 0);
        if (!may)
            return false;
        fd = pct_host_sys4(SYS_openat, folder, path, flags, 0);
    }
    regs[REG_RAX] = fd;
    return true;
}

static bool change_memory(int call, greg_t *regs)
{
    const long *r = (const long *)regs;
    const long arguments[] = { r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8], r[REG_R9] };
    if (!pct_host_memory_may(call, arguments))
        return false;
    regs[REG_RAX] = pct_host_stacks_call(call, arguments);
    return true;
}

static bool shrink_heap(greg_t *regs)
{
    if (!pct_host_is_on())
        return false;
    pct_host_memory_shrinks();
    regs[REG_RAX] = pct_host_sys4(SYS_brk, regs[REG_RDI], 0, 0, 0);
    return true;
}

/* Which pages are there: of a stack that is kept, others than of a new one. */
static bool tell_pages(greg_t *regs)
{
    const long *r = (const long *)regs;
    if (pct_host_stacks_meet((uintptr_t)r[REG_RDI], (size_t)r[REG_RSI]))
        return false;
    regs[REG_RAX] = pct_host_sys4(SYS_mincore, r[REG_RDI], r[REG_RSI], r[REG_RDX], 0);
    return true;
}

static bool set_action(greg_t *regs)
{
    const long *r = (const long *)regs;
    const int signal = (int)r[REG_RDI];
    if (!pct_host_is_on() || signal == SIGSYS) /* that of the trap itself */
        return false;
    pct_host_note_action(signal);
    regs[REG_RAX] = pct_host_sys4(SYS_rt_sigaction, signal, r[REG_RSI], r[REG_RDX], r[REG_R10]);
    if (!regs[REG_RAX])
        pct_host_mask_handler(*(const uint64_t *)r[REG_RSI]);
    return true;
}

/* A thread that has ended is gone, though its kernel thread may wait for the next run. */
static bool ask_about(int call, int tid, greg_t *regs)
{
    const long *r = (const long *)regs;
    if (pct_host_threads_is_parked(tid))
        return false;
    regs[REG_RAX] = pct_host_sys4(call, r[REG_RDI], r[REG_RSI], r[REG_RDX], 0);
    return true;
}

static bool ask_cpus(greg_t *regs)
{
    unsigned long bits[1024 / (8 * sizeof(unsigned long))];
    const long size = regs[REG_RSI] < (greg_t)sizeof bits ? (long)regs[REG_RSI] : (long)sizeof bits;
    const long got = pct_host_ask_cpus(size, bits);
    regs[REG_RAX] = got > 0 && !pct_user_copy_out((void *)regs[REG_RDX], bits, (size_t)got) ? -EFAULT : got;
    return true;
}

/* By abort(), to the context that runs, which the kernel knows as main: it comes when the handler returns, as behind
 * the system call. */
static bool send_abort(greg_t *regs)
{
    const uint64_t all = ~UINT64_C(0);
    pct_host_sys4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, 0, sizeof all);
    regs[REG_RAX] = pct_host_sys4(SYS_tgkill, pct_shim.pid, pct_shim.pid, SIGABRT, 0);
    return true;
}

bool pct_host_trapped(int call, void *context)
{
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (pct_host_contexts && call == SYS_gettid) { /* as libc knows it */
        regs[REG_RAX] = pct_tid();
        return true;
    }
    if (pct_host_contexts && call == SYS_mincore)
        return tell_pages(regs);
    if (pct_host_contexts && call == SYS_rt_sigprocmask) {
        pct_host_mask_trapped(context);
        return true;
    }
    if (pct_host_contexts && call == SYS_sched_getaffinity && !(int)regs[REG_RDI])
        return ask_cpus(regs);
    if (pct_host_contexts && call == SYS_tgkill && (int)regs[REG_RDI] == pct_shim.pid &&
        (int)regs[REG_RSI] == pct_tid() && (int)regs[REG_RDX] == SIGABRT)
        return send_abort(regs);
    if (pct_host_contexts && pct_host_is_of_thread(call))
        pct_host_leave(PCT_HOST_CONTEXT, 0);
    if (call == SYS_open || call == SYS_openat)
        return open_file(call, regs);
    if (call == SYS_rt_sigaction)
        return set_action(regs);
    if (call == SYS_brk)
        return shrink_heap(regs);
    if (call == SYS_get_robust_list || call == SYS_sched_getaffinity || call == SYS_sched_getparam ||
        call == SYS_sched_getscheduler)
        return ask_about(call, (int)regs[REG_RDI], regs);
    if (call == SYS_getpriority)
        return ask_about(call, (int)regs[REG_RSI], regs);
    return (call == SYS_mmap || call == SYS_munmap || call == SYS_mprotect || call == SYS_madvise ||
            call == SYS_mremap) &&
           change_memory(call, regs);
}
