/* Other processes. A fork child has one thread, the caller, and begins a run of its own: its seed follows from the
 * parent's and from the ordinal of the child, so that a replay of the parent is one of the child. A program that is
 * started in a child finds the same variables as its parent, so the token of the first process names what happens in
 * all of them.
 *
 * The child of vfork runs on the stack and in the memory of its parent, the scheduler's included, until it becomes
 * another program or ends; the parent stands still in the kernel that long, with the baton. So the child is nobody to
 * the scheduler: what it calls is passed through, and not noted. Should it take long (it waits for a thread of the
 * parent), the watchdog takes the baton. */
#include <preload/core/kernel.h>
#include <preload/core/real.h>
#include <preload/core/shim.h>
#include <preload/core/sys.h>
#include <preload/io/fifo.h>
#include <preload/run/script.h>
#include <preload/run/start.h>
#include <preload/signals/signals.h>
#include <preload/signals/trap.h>
#include <preload/time/family.h>
#include <preload/time/relative.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

/* A child is about to be made: it will have the descriptors, and do what it likes. */
static uint32_t count_child(void)
{
    pct_fd_inherit_all();
    pct_uncontrolled(PCT_UNCONTROLLED_CHILD);
    return __atomic_add_fetch(&pct_shim.children, 1, __ATOMIC_RELAXED);
}

/* Its slot in the family, and its number for a script. */
static uint32_t expect(void)
{
    uint32_t slot = pct_family_expect();
    pct_script_expect(slot);
    return slot;
}

/* Pass the point before a process is made. False: nothing here is under control. */
static bool begin(void)
{
    struct pct_shim_thread *self = pct_enter();
    if (self) {
        pct_here(self, PCT_OP_FORK);
        pct_done(self, PCT_OP_FORK, 0, NULL);
        return true;
    }
    pct_passed(PCT_OP_FORK, PCT_CLASS_NONE, NULL);
    return pct_shim.mode == PCT_MODE_FREE && pct_sched_is_on(&pct_S);
}

/* Ends of named pipes that threads wait with to open them: the kernel would not have copied these. Whoever opens the
 * other end must not meet the child's copies, so its parent goes on when they are closed, which it hears by a pipe. */
struct half_open {
    int fds[64];
    unsigned count;
    int closed[2]; /* -1: there is nothing to wait for, or no descriptor left */
};

static void find_half_open(struct half_open *half, bool known)
{
    half->count = known ? pct_fifo_half_open(half->fds, sizeof half->fds / sizeof *half->fds) : 0;
    if (!half->count || PCT_SYS2(SYS_pipe2, half->closed, O_CLOEXEC))
        half->closed[0] = -1;
}

static void close_half_open(const struct half_open *half, bool child)
{
    char byte;
    for (unsigned i = 0; child && i < half->count; i++)
        PCT_SYS1(SYS_close, half->fds[i]);
    if (half->closed[0] < 0)
        return;
    PCT_SYS1(SYS_close, half->closed[1]);
    while (!child && PCT_SYS3(SYS_read, half->closed[0], &byte, 1) == -EINTR)
        continue;
    PCT_SYS1(SYS_close, half->closed[0]);
}

static pid_t fork_by(pid_t (*real)(void))
{
    PCT_ENTER(self);
    if (!begin())
        return real();
    uint64_t seed = pct_sched_seed(&pct_S);
    uint32_t ordinal = count_child();
    struct half_open half;
    find_half_open(&half, self != NULL);
    uint32_t slot = expect();
    pid_t pid = real();
    if (pid)
        pct_family_born(slot, pid);
    else
        pct_family_forked(slot);
    close_half_open(&half, !pid);
    if (!pid && self)
        self->sent = NULL; /* pending signals are not inherited */
    if (!pid) {
        pct_family_await_turn();
        pct_start_child(ordinal, seed);
    }
    return pid;
}

PCT_EXPORT pid_t fork(void)
{
    return fork_by(&REAL(fork));
}

PCT_EXPORT pid_t _Fork(void)
{
    return fork_by(&REAL(_Fork));
}

/* As libc's, which forks inside. */
PCT_EXPORT int daemon(int here, int keep)
{
    pid_t pid = fork_by(&REAL(fork));
    if (pid < 0)
        return -1;
    if (pid)
        _exit(0);
    long failed = PCT_SYS0(SYS_setsid);
    if (failed < 0) {
        errno = (int)-failed;
        return -1;
    }
    if (!here)
        PCT_SYS1(SYS_chdir, "/");
    if (keep)
        return 0;
    struct stat status;
    int null = open("/dev/null", O_RDWR);
    if (null < 0)
        return -1;
    if (PCT_SYS2(SYS_fstat, null, &status) || !S_ISCHR(status.st_mode) || status.st_rdev != makedev(1, 3)) {
        close(null);
        errno = ENODEV;
        return -1;
    }
    for (int fd = 0; fd <= 2; fd++)
        dup2(null, fd);
    if (null > 2)
        close(null);
    return 0;
}

static __thread const void *outer; /* the wrapper that its parent was in */

/* Pass the point. Returns the calling thread, NULL if pct does not know it. */
static struct pct_shim_thread *before_vfork(void)
{
    PCT_ENTER(self);
    (void)self;
    pct_family_vforked = 0;
    if (begin()) {
        count_child();
        pct_family_vforked = expect();
    }
    return pct_self;
}

/* These two are called by vfork() alone, on both sides of the system call. */
__attribute__((visibility("hidden"), used)) void pct_vfork_begin(void)
{
    struct pct_shim_thread *self = before_vfork();
    if (!self)
        return;
    /* Signals come when the parent goes on, or to the child alone: in between the thread looks as if it were none. */
    outer = self->inside;
    self->inside = __builtin_frame_address(0);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->signal_mask = pct_signal_mask(SIG_SETMASK, pct_trap_without(PCT_SIGNALS_ALL));
    self->vforks = true;
    pct_vforking = self;
    pct_self = NULL;
}

/* Returns what the caller of vfork() gets. result: the system call's. */
__attribute__((visibility("hidden"), used)) long pct_vfork_end(long result)
{
    struct pct_shim_thread *self = pct_vforking;
    if (self && !result) {
        int half_open[64];
        unsigned count = pct_fifo_half_open(half_open, sizeof half_open / sizeof *half_open);
        for (unsigned i = 0; i < count; i++)
            PCT_SYS1(SYS_close, half_open[i]);
        pct_signal_mask(SIG_SETMASK, self->signal_mask & ~__atomic_load_n(&self->held, __ATOMIC_SEQ_CST));
    } else if (self) {
        pct_vforking = NULL;
        pct_family_born(pct_family_vforked, result);
        pct_self = self;
        self->vforks = false;
        pct_ensure_baton(self);
        pct_signal_mask(SIG_SETMASK, self->signal_mask);
        self->inside = outer;
        if (!outer && pct_signal_waits(self))
            pct_signal_deliver(self);
    }
    if (result >= 0)
        return result;
    errno = (int)-result;
    return -1;
}

/* It returns twice to the same frame. What stands below that, the return address too, the child overwrites: the parent
 * keeps it in a register, as libc's does. */
__asm__(".text\n"
        ".globl vfork\n"
        ".type vfork, @function\n"
        "vfork:\n"
        ".cfi_startproc\n"
        "    endbr64\n"
        "    subq $8, %rsp\n"
        ".cfi_adjust_cfa_offset 8\n"
        "    call pct_vfork_begin\n"
        "    addq $8, %rsp\n"
        ".cfi_adjust_cfa_offset -8\n"
        "    popq %rdx\n"
        ".cfi_adjust_cfa_offset -8\n"
        ".cfi_register %rip, %rdx\n"
        "    movl $58, %eax\n" /* SYS_vfork; the kernel keeps all registers but rax, rcx and r11 */
        "    syscall\n"
        "    pushq %rdx\n"
        ".cfi_adjust_cfa_offset 8\n"
        ".cfi_rel_offset %rip, 0\n"
        "    subq $8, %rsp\n"
        ".cfi_adjust_cfa_offset 8\n"
        "    movq %rax, %rdi\n"
        "    call pct_vfork_end\n"
        "    addq $8, %rsp\n"
        ".cfi_adjust_cfa_offset -8\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size vfork, .-vfork\n");
_Static_assert(SYS_vfork == 58, "the number stands in the code");

/* libc waits there for its child, as vfork() does, until that is another program; and it may have to wait for one of
 * our threads before: to open a named pipe. */
static struct pct_shim_thread *spawn_begins(void)
{
    struct pct_shim_thread *self = pct_holder();
    if (self)
        self->spawns = true;
    return self;
}

static void spawn_ends(struct pct_shim_thread *self)
{
    if (!self)
        return;
    self->spawns = false;
    pct_ensure_baton(self);
}

/* posix_spawn by one of libc's functions. made: what it gives, -1 if it fails; process: the child's id, of that. */
#define SPAWN(real, pid, process, what, actions, attributes, arguments, environment)                                   \
    ({                                                                                                                 \
        uint32_t slot_ = 0;                                                                                            \
        if (begin()) {                                                                                                 \
            count_child();                                                                                             \
            slot_ = expect();                                                                                          \
        }                                                                                                              \
        int made_ = -1;                                                                                                \
        char **with_ = PCT_FAMILY_ENVIRONMENT(environment, slot_);                                                     \
        struct pct_shim_thread *self_ = spawn_begins();                                                                \
        int failed_ = REAL(real)(&made_, what, actions, attributes, arguments, with_);                                 \
        spawn_ends(self_);                                                                                             \
        pct_family_born(slot_, failed_ ? -1 : process(made_));                                                         \
        if (!failed_ && (pid))                                                                                         \
            *(pid) = made_;                                                                                            \
        failed_;                                                                                                       \
    })

PCT_EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
    return SPAWN(posix_spawn, pid, (pid_t), path, actions, attributes, arguments, environment);
}

PCT_EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                            const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
    return SPAWN(posix_spawnp, pid, (pid_t), file, actions, attributes, arguments, environment);
}

PCT_EXPORT int pidfd_spawn(int *restrict pidfd, const char *restrict path,
                           const posix_spawn_file_actions_t *restrict actions,
                           const posix_spawnattr_t *restrict attributes, char *const *restrict arguments,
                           char *const *restrict environment)
{
    return SPAWN(pidfd_spawn, pidfd, pct_relative_of_pidfd, path, actions, attributes, arguments, environment);
}

PCT_EXPORT int pidfd_spawnp(int *restrict pidfd, const char *restrict file,
                            const posix_spawn_file_actions_t *restrict actions,
                            const posix_spawnattr_t *restrict attributes, char *const *restrict arguments,
                            char *const *restrict environment)
{
    return SPAWN(pidfd_spawnp, pidfd, pct_relative_of_pidfd, file, actions, attributes, arguments, environment);
}

/* A shell is about to be made inside libc, which gives it our environment: so that has PCT_FAMILY from now on. Returns
 * the shell's slot. */
static uint32_t expect_shell(void)
{
    static char **made;
    uint32_t slot = expect();
    size_t size = pct_family_room(environ);
    void *room = !size || environ == made ? made : pct_map(size);
    if (size && room)
        environ = made = pct_family_environment(room, environ, slot);
    return slot;
}

/* The child behind a stream of popen; 0: not found. GLIBC: it stands behind the stream and its table of functions. */
static pid_t child_of(const FILE *file)
{
    siginfo_t info;
    pid_t pid = *(const pid_t *)((const char *)(file + 1) + sizeof(void *));
    bool is_child = pid > 0 && !PCT_SYS6(SYS_waitid, P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT, NULL, 0);
    return is_child ? pid : 0;
}

/* Makes a child and waits for it, all inside libc; also to see whether there is a shell (NULL). */
PCT_EXPORT int system(const char *command)
{
    if (!begin())
        return REAL(system)(command);
    count_child();
    uint32_t slot = expect_shell();
    PCT_ENTER(self);
    int status = self ? CALL_EXTERNAL(self, PCT_OP_CHILD_WAIT, NULL, REAL(system)(command)) : REAL(system)(command);
    pct_family_born(slot, -1);
    return status;
}

PCT_EXPORT FILE *popen(const char *command, const char *mode)
{
    uint32_t slot = 0;
    if (begin()) {
        count_child();
        slot = expect_shell();
    }
    FILE *file = REAL(popen)(command, mode);
    if (slot)
        pct_family_born(slot, file ? child_of(file) : -1);
    if (file && pct_running()) {
        pct_fd_made(file->_fileno, PCT_FD_INSIDE);
        pct_fd_inherit_all();
    }
    return file;
}

/* libc closes the stream's descriptor and then waits, both beside the schedule: the number would be free for other
 * threads at a time of the machine's own. So it is freed here, and libc closes another one, of the numbers that come
 * last. GLIBC: _fileno. */
static void free_number(FILE *file)
{
    enum { MOST = 1024, LAST = 64 }; /* more, and the kernel's table of descriptors would have to grow for it */
    struct rlimit limit;
    int fd = file->_fileno;
    if (fd < 0 || pct_shim.confined || PCT_SYS4(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) ||
        limit.rlim_cur <= LAST)
        return;
    long from = (long)(limit.rlim_cur < MOST ? limit.rlim_cur : MOST) - LAST;
    long other = fd < from ? PCT_SYS3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, from) : -1;
    if (other < 0)
        return;
    file->_fileno = (int)other;
    PCT_SYS1(SYS_close, fd);
    pct_fd_forget(fd);
}

/* Waits for the child. */
PCT_EXPORT int pclose(FILE *file)
{
    PCT_ENTER(self);
    if (!self)
        return PASS(PCT_OP_CHILD_WAIT, PCT_CLASS_NONE, NULL, REAL(pclose)(file));
    int fd = file->_fileno;
    free_number(file);
    if (fd == file->_fileno)
        pct_fd_forget(fd);
    return CALL_EXTERNAL(self, PCT_OP_CHILD_WAIT, NULL, REAL(pclose)(file));
}
