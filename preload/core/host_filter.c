/* The system calls that a host lets through: see host.h. They read, wait, or leave nothing that is not undone after the
 * run. What is not in a list here is refused; so is what a list cannot tell apart, such as clone3() of a process (its
 * child is found at the end of the run). */
#include "host.h"
#include "host_mask.h"
#include "host_stacks.h"
#include "host_threads.h"
#include "kernel.h"
#include "sys.h"
#include <asm/ioctls.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

enum { INSTRUCTIONS = 3000 };

/* Whatever the arguments. */
static const int always[] = {
    /* threads that wait, begin and end */
    SYS_sched_yield,
    SYS_nanosleep,
    SYS_clock_nanosleep,
    SYS_restart_syscall,
    SYS_pause,
    SYS_poll,
    SYS_ppoll,
    SYS_select,
    SYS_pselect6,
    SYS_exit_group,
    /* undone: pending signals */
    SYS_rt_sigpending,
    SYS_rt_sigreturn,
    SYS_rt_sigtimedwait,
    SYS_rt_sigsuspend,
    /* questions */
    SYS_clock_getres,
    SYS_gettimeofday,
    SYS_time,
    SYS_times,
    SYS_getrandom,
    SYS_getcpu,
    SYS_getpid,
    SYS_getppid,
    SYS_getpgrp,
    SYS_getuid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getegid,
    SYS_getrlimit,
    SYS_getcwd,
    SYS_uname,
    SYS_sysinfo,
    SYS_sched_get_priority_max,
    SYS_sched_get_priority_min,
    SYS_getitimer,
    SYS_stat,
    SYS_lstat,
    SYS_fstat,
    SYS_newfstatat,
    SYS_statx,
    SYS_access,
    SYS_faccessat,
    SYS_statfs,
    SYS_fstatfs,
    SYS_readlink,
    SYS_readlinkat,
};

/* Likewise, where each thread has a kernel thread. Contexts have one among them: pct_host_is_of_thread(). */
static const int by_kernel_threads[] = {
    SYS_futex,     SYS_futex_waitv,      SYS_clone3,         SYS_set_robust_list, SYS_set_tid_address, SYS_rseq,
    SYS_exit,      SYS_sigaltstack,      SYS_clock_gettime,  SYS_gettid,          SYS_getpgid,         SYS_getsid,
    SYS_getrusage, SYS_process_vm_readv, SYS_rt_sigprocmask, SYS_mincore,
};

/* Signals whose actions libc sets for itself, where none can be trapped. */
enum { LIBC_FROM = 32, LIBC_TO = 33 };
const uint64_t pct_host_libc_signals = UINT64_C(1) << (LIBC_FROM - 1) | UINT64_C(1) << (LIBC_TO - 1);

static struct sock_filter *code; /* it is given away once; NULL: no memory */
static unsigned used;

static void add(uint16_t what, uint32_t value, uint8_t yes, uint8_t no)
{
    if (used < INSTRUCTIONS)
        code[used++] = (struct sock_filter){ what, yes, no, value };
}

static void load(size_t offset)
{
    add(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void load_argument(int number, bool high)
{
    load(offsetof(struct seccomp_data, args) + 8 * (size_t)number + (high ? 4 : 0));
}

static void allow(void)
{
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

static void refuse(void)
{
    add(BPF_RET | BPF_K, SECCOMP_RET_TRAP, 0, 0);
}

/* What follows is for this call, until end_of(). The number stands in the accumulator. */
static unsigned only_for(int number)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 0);
    return used - 1;
}

/* In all other cases it is refused. Only the test whose place this is jumps: its distance is known now. */
static void end_of(unsigned test)
{
    refuse();
    code[test].jf = (uint8_t)(used - 1 - test);
}

static void allow_if_equal(uint32_t value)
{
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    allow();
}

/* The pointer in this argument: both halves. */
static void allow_if_null(int argument)
{
    load_argument(argument, true);
    add(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
    load_argument(argument, false);
    allow_if_equal(0);
}

/* The pointer in this argument is in [from, to). */
static void allow_if_within(int argument, uintptr_t from, uintptr_t to)
{
    uint32_t from_high = (uint32_t)(from >> 32), to_high = (uint32_t)(to >> 32);
    load_argument(argument, true);
    add(BPF_JMP | BPF_JGT | BPF_K, from_high, 3, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, from_high, 0, 8);
    load_argument(argument, false);
    add(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)from, 0, 6);
    load_argument(argument, true);
    add(BPF_JMP | BPF_JGT | BPF_K, to_high, 4, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, to_high, 0, 2);
    load_argument(argument, false);
    add(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)to, 1, 0);
    allow();
}

/* Those that stand in there. */
static void allow_from(uintptr_t from, uintptr_t to)
{
    load(offsetof(struct seccomp_data, instruction_pointer) + 4);
    add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(from >> 32), 0, 4);
    load(offsetof(struct seccomp_data, instruction_pointer));
    add(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)from, 0, 2);
    add(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)to, 1, 0);
    allow();
}

static void add_equal(int call, int argument, const uint32_t *values, unsigned count)
{
    unsigned test = only_for(call);
    load_argument(argument, false);
    for (unsigned i = 0; i < count; i++)
        allow_if_equal(values[i]);
    end_of(test);
}

/* Refuses what is not a descriptor that the run has made itself. These are closed when it is over. */
static void only_own(int argument, const struct pct_host_files *files)
{
    load_argument(argument, false);
    for (unsigned i = 0; i < files->count; i++) {
        add(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)files->some[i].from, 0, 2);
        add(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)files->some[i].to, 1, 0);
        refuse();
    }
    add(BPF_JMP | BPF_JGE | BPF_K, PCT_HOST_FILES_FROM, 1, 0);
    refuse();
    add(BPF_JMP | BPF_JGE | BPF_K, PCT_HOST_FILES_TO, 0, 1);
    refuse();
}

/* Where stacks are kept: refuses all but what libc calls that is told of it, and pct's memory apart, far away from it.
 */
static void only_told(void)
{
    enum { APART_FROM = 0x2000, APART_TO = 0x3000 }; /* the upper halves */
    uintptr_t from, to;
    if (!pct_host_stacks_on())
        return;
    pct_host_stacks_code(&from, &to);
    load(offsetof(struct seccomp_data, instruction_pointer) + 4);
    add(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(from >> 32), 0, 3);
    load(offsetof(struct seccomp_data, instruction_pointer));
    add(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)from, 0, 1);
    add(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)to, 0, 4);
    load_argument(0, true);
    add(BPF_JMP | BPF_JGE | BPF_K, APART_FROM, 0, 1);
    add(BPF_JMP | BPF_JGE | BPF_K, APART_TO, 0, 1);
    refuse();
}

/* files: NULL: none may be mapped. */
static void add_memory(const struct pct_gap *gaps, unsigned count, const struct pct_host_files *files)
{
    static const int calls[] = { SYS_munmap, SYS_mprotect, SYS_madvise };
    unsigned test = only_for(SYS_brk); /* undone: a larger heap */
    allow_if_null(0);
    allow_if_within(0, pct_host_memory_broke(), UINT64_MAX);
    end_of(test);
    test = only_for(SYS_mmap);
    only_told();
    load_argument(3, false);
    add(BPF_JMP | BPF_JSET | BPF_K, MAP_FIXED, 0, 1); /* MAP_FIXED_NOREPLACE replaces nothing */
    refuse();
    add(BPF_JMP | BPF_JSET | BPF_K, MAP_ANONYMOUS, 0, 1);
    allow();
    if (files) {
        add(BPF_JMP | BPF_JSET | BPF_K, MAP_SHARED, 0, 1);
        refuse();
        only_own(4, files);
        allow();
    }
    end_of(test);
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
        test = only_for(calls[i]);
        if (calls[i] == SYS_madvise) {
            load_argument(2, false);
            allow_if_equal(22 /* MADV_POPULATE_READ */);
            allow_if_equal(23 /* MADV_POPULATE_WRITE */);
        }
        only_told();
        for (unsigned gap = 0; gap < count; gap++)
            allow_if_within(0, gaps[gap].from, gaps[gap].to);
        end_of(test);
    }
    test = only_for(SYS_mremap);
    only_told();
    load_argument(3, false);
    add(BPF_JMP | BPF_JSET | BPF_K, MREMAP_FIXED, 0, 1);
    refuse();
    for (unsigned gap = 0; gap < count; gap++)
        allow_if_within(0, gaps[gap].from, gaps[gap].to);
    end_of(test);
}

static void add_own(int call, const struct pct_host_files *files)
{
    static const uint32_t settings[] = { F_GETFD, F_GETFL, F_SETFD, F_SETFL, F_GETPIPE_SZ, F_SETPIPE_SZ };
    unsigned test = only_for(call);
    if (call == SYS_write || call == SYS_writev || call == SYS_pwritev2) {
        load_argument(0, false);
        allow_if_equal(1);
        allow_if_equal(2);
    } else if (call == SYS_fcntl) {
        load_argument(1, false);
        allow_if_equal(F_GETFD);
        allow_if_equal(F_GETFL);
    }
    only_own(0, files);
    if (call == SYS_fcntl) {
        load_argument(1, false);
        for (unsigned i = 0; i < sizeof settings / sizeof *settings; i++)
            allow_if_equal(settings[i]);
    } else {
        if (call == SYS_dup2 || call == SYS_dup3)
            only_own(1, files);
        allow();
    }
    end_of(test);
}

/* Pipes and their like, which only this process has, and files that it reads. */
static void add_files(const struct pct_host_files *files)
{
    static const int makers[] = { SYS_pipe,         SYS_pipe2,         SYS_eventfd,     SYS_eventfd2,
                                  SYS_epoll_create, SYS_epoll_create1, SYS_memfd_create };
    static const int users[] = { SYS_read,      SYS_write,      SYS_readv,    SYS_writev,     SYS_close,
                                 SYS_dup,       SYS_dup2,       SYS_dup3,     SYS_fcntl,      SYS_ftruncate,
                                 SYS_lseek,     SYS_pread64,    SYS_pwrite64, SYS_epoll_wait, SYS_epoll_pwait,
                                 SYS_epoll_ctl, SYS_shutdown,   SYS_sendto,   SYS_recvfrom,   SYS_sendmsg,
                                 SYS_recvmsg,   SYS_preadv2,    SYS_pwritev2, SYS_getsockopt, SYS_setsockopt,
                                 SYS_preadv,    SYS_getdents64, SYS_fadvise64 };
    static const uint32_t unix_only[] = { AF_UNIX };
    for (unsigned i = 0; i < sizeof makers / sizeof *makers; i++)
        allow_if_equal((uint32_t)makers[i]);
    for (unsigned i = 0; i < sizeof users / sizeof *users; i++)
        add_own(users[i], files);
    add_equal(SYS_socketpair, 0, unix_only, 1);
}

/* Questions about one thread: about another than the caller, the trap asks whether it is still there for the run. */
static void add_about_threads(uintptr_t from, uintptr_t to)
{
    static const struct {
        int call, argument;
    } about[] = { { SYS_get_robust_list, 0 },
                  { SYS_sched_getaffinity, 0 },
                  { SYS_sched_getparam, 0 },
                  { SYS_sched_getscheduler, 0 },
                  { SYS_getpriority, 1 } };
    for (unsigned i = 0; i < sizeof about / sizeof *about; i++) {
        unsigned test = only_for(about[i].call);
        load_argument(about[i].argument, false);
        if (about[i].call != SYS_sched_getaffinity || !pct_host_contexts)
            allow_if_equal(0);
        allow_from(from, to);
        end_of(test);
    }
}

/* Those that are told apart by one argument. */
static void add_some(bool writes, bool contexts)
{
    static const uint32_t outputs[] = { 1, 2 };
    static const uint32_t terminal[] = { TCGETS, 0x802c542a /* TCGETS2, of glibc 2.42 */, FIONREAD };
    static const uint32_t flags[] = { F_GETFD, F_GETFL };
    /* A registration stays with the process, and the next run would find it. */
    static const uint32_t barriers[] = { MEMBARRIER_CMD_QUERY, MEMBARRIER_CMD_GLOBAL, MEMBARRIER_CMD_GLOBAL_EXPEDITED,
                                         MEMBARRIER_CMD_PRIVATE_EXPEDITED, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE };
    static const uint32_t questions[] = { PR_GET_PDEATHSIG, PR_GET_NAME, PR_GET_DUMPABLE, 0x53564d41 /* PR_SET_VMA */,
                                          78 /* PR_FUTEX_HASH */ };
    static const int sends[] = { SYS_tgkill, SYS_kill, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo };
    uint32_t self = (uint32_t)PCT_SYS0(SYS_getpid);
    unsigned test;
    if (!contexts) {
        test = only_for(SYS_clone);
        load_argument(0, false);
        add(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1);
        allow();
        end_of(test);
    }
    if (!writes) {
        add_equal(SYS_write, 0, outputs, 2);
        add_equal(SYS_writev, 0, outputs, 2);
        add_equal(SYS_fcntl, 1, flags, 2);
    }
    add_equal(SYS_membarrier, 0, barriers, sizeof barriers / sizeof *barriers);
    add_equal(SYS_ioctl, 1, terminal, sizeof terminal / sizeof *terminal);
    add_equal(SYS_prctl, 0, questions, sizeof questions / sizeof *questions);
    for (unsigned i = 0; !contexts && i < sizeof sends / sizeof *sends; i++)
        add_equal(sends[i], 0, &self, 1);
    test = only_for(SYS_prlimit64); /* without new limits */
    allow_if_null(2);
    end_of(test);
    test = only_for(SYS_rt_sigaction); /* the trap notes the others, to be undone */
    allow_if_null(1);
    load_argument(0, false);
    for (uint32_t signal = LIBC_FROM; signal <= LIBC_TO; signal++)
        allow_if_equal(signal);
    end_of(test);
}

/* What concerns only one thread, where all have one kernel thread: what is the same for any of them; and what libc and
 * the shim do when one begins. */
static void add_contexts(uintptr_t from, uintptr_t to)
{
    static const uint32_t futexes[] = { FUTEX_WAIT,    FUTEX_WAKE,        FUTEX_REQUEUE,    FUTEX_CMP_REQUEUE,
                                        FUTEX_WAKE_OP, FUTEX_WAIT_BITSET, FUTEX_WAKE_BITSET };
    static const int libcs[] = { SYS_set_robust_list, SYS_rseq }, owns[] = { SYS_gettid, SYS_sigaltstack };
    uintptr_t code_from, code_to, stubs_from, stubs_to;
    const bool knows = pct_host_threads_code(&code_from, &code_to);
    unsigned test = only_for(SYS_rt_sigprocmask);
    pct_host_mask_code(&stubs_from, &stubs_to);
    allow_from(stubs_from, stubs_to);
    if (knows)
        allow_from(code_from, code_to);
    end_of(test);
    test = only_for(SYS_futex);
    load_argument(1, false);
    add(BPF_ALU | BPF_AND | BPF_K, FUTEX_CMD_MASK, 0, 0);
    for (unsigned i = 0; i < sizeof futexes / sizeof *futexes; i++)
        allow_if_equal(futexes[i]);
    end_of(test);
    test = only_for(SYS_clock_gettime);
    load_argument(0, false);
    add(BPF_JMP | BPF_JEQ | BPF_K, CLOCK_THREAD_CPUTIME_ID, 2, 0);
    add(BPF_JMP | BPF_JSET | BPF_K, UINT32_C(1) << 31, 1, 0);
    allow();
    allow_from(from, to);
    end_of(test);
    test = only_for(SYS_getrusage);
    load_argument(0, false);
    add(BPF_JMP | BPF_JEQ | BPF_K, RUSAGE_THREAD, 1, 0);
    allow();
    end_of(test);
    for (unsigned i = 0; knows && i < sizeof libcs / sizeof *libcs; i++) {
        test = only_for(libcs[i]);
        allow_from(code_from, code_to);
        end_of(test);
    }
    for (unsigned i = 0; i < sizeof owns / sizeof *owns; i++) {
        test = only_for(owns[i]);
        allow_from(from, to);
        end_of(test);
    }
}

bool pct_host_is_of_thread(int call)
{
    static const int others[] = { SYS_clone,
                                  SYS_tgkill,
                                  SYS_kill,
                                  SYS_rt_sigqueueinfo,
                                  SYS_rt_tgsigqueueinfo,
                                  SYS_get_robust_list,
                                  SYS_sched_getaffinity,
                                  SYS_sched_getparam,
                                  SYS_sched_getscheduler,
                                  SYS_getpriority };
    for (unsigned i = 0; i < sizeof by_kernel_threads / sizeof *by_kernel_threads; i++)
        if (by_kernel_threads[i] == call)
            return true;
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i] == call)
            return true;
    return false;
}

bool pct_host_filter(const struct pct_gap *gaps, unsigned count, const struct pct_host_files *files)
{
    extern const char begin[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
    extern const char end[] __asm__("_end") __attribute__((visibility("hidden")));
    extern const char own[] __asm__("pct_host_sys_end") __attribute__((visibility("hidden")));
    code = pct_map(INSTRUCTIONS * sizeof *code);
    if (!code)
        return false;
    load(offsetof(struct seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
    refuse();
    load(offsetof(struct seccomp_data, nr));
    /* First, and by their number alone: then the kernel remembers these, and does not run the filter for them. */
    for (unsigned i = 0; i < sizeof always / sizeof *always; i++)
        allow_if_equal((uint32_t)always[i]);
    for (unsigned i = 0; !pct_host_contexts && i < sizeof by_kernel_threads / sizeof *by_kernel_threads; i++)
        allow_if_equal((uint32_t)by_kernel_threads[i]);
    allow_from((uintptr_t)own, (uintptr_t)own + 1);
    load(offsetof(struct seccomp_data, nr));
    if (pct_host_contexts)
        add_contexts((uintptr_t)begin, (uintptr_t)end);
    bool makes = files->count <= PCT_HOST_FILES;
    add_memory(gaps, count < PCT_HOST_GAPS ? count : PCT_HOST_GAPS, makes ? files : NULL);
    if (makes)
        add_files(files);
    add_some(makes, pct_host_contexts);
    add_about_threads((uintptr_t)begin, (uintptr_t)end);
    /* Of ours, which pins all threads; where it does, the target's is not done. */
    unsigned test = only_for(SYS_sched_setaffinity);
    allow_from((uintptr_t)begin, (uintptr_t)end);
    end_of(test);
    refuse();
    if (used == INSTRUCTIONS)
        return false;
    struct sock_fprog program = { .len = (unsigned short)used, .filter = code };
    PCT_SYS6(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0);
    return !PCT_SYS3(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}
