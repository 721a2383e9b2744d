/* A program that makes life hard for whoever is preloaded into it, in the way that its first argument says: it closes
 * what it did not open, sandboxes itself, loses its rights, its memory or its stack. In each it then does the same
 * small work with threads, and says on a descriptor of its own what came of it. Run by tests/programs/hostile, without
 * pct and with it. */
#define _GNU_SOURCE
#include "hostile.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* --- Descriptors --- */

/* The first that it opens have the numbers of standard input, output and error. What is not its own must not appear
 * there. */
static void open_data(void)
{
    int fd;
    do
        fd = open("data", O_RDWR | O_CREAT | O_APPEND, 0600);
    while (fd >= 0 && fd < 2);
    if (fd != 2)
        _exit(96);
    said = fd;
    work();
}

static int close_range_all(void)
{
    close_range(0, ~0U, 0);
    open_data();
    return 3;
}

static int close_one_by_one(void)
{
    for (int fd = 0; fd < 65536; fd++)
        close(fd);
    open_data();
    return 3;
}

/* Before main, as some programs' libraries do. */
__attribute__((constructor)) static void close_early(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "close-before-main"))
        closefrom(0);
}

static int close_before_main(void)
{
    open_data();
    return 3;
}

static sem_t closed;

static void *close_all(void *unused)
{
    closefrom(0);
    sem_post(&closed);
    return unused;
}

/* While others wait, for each other and for this. */
static int close_in_thread(void)
{
    sem_init(&closed, 0, 0);
    said = -1;
    pthread_t one = start(take_turns, NULL, NULL), closer = start(close_all, NULL, NULL);
    pthread_t other = start(take_turns, &lock, NULL);
    sem_wait(&closed);
    pthread_join(closer, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    value = 0;
    open_data();
    return 3;
}

static int close_and_crash(void)
{
    close_range(0, ~0U, 0);
    open_data();
    pthread_join(start(crash, NULL, NULL), NULL);
    return 3;
}

/* A daemon sends standard error elsewhere: that is where messages belong from then on. */
static int redirect(void)
{
    int fd = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || dup2(fd, 2) != 2)
        fail("log");
    close(fd);
    work();
    return 3;
}

/* None is left: what wants to open a file cannot. */
static int no_descriptors(void)
{
    const struct rlimit none = { 3, 3 };
    pthread_mutexattr_t attr;
    pthread_mutex_t robust;
    if (setrlimit(RLIMIT_NOFILE, &none))
        fail("setrlimit");
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attr);
    pthread_mutex_lock(&robust);
    work();
    pthread_mutex_unlock(&robust);
    say("open", open("/dev/null", O_RDONLY) < 0 ? errno : 0);
    return 3;
}

/* --- Rights --- */

static int drop_privileges(void)
{
    if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
        fail("setresuid");
    work();
    return 3;
}

static int drop_and_crash(void)
{
    drop_privileges();
    return crash(NULL) != NULL;
}

/* With threads that wait meanwhile: libc has each of them give up its rights, too. */
static int drop_with_threads(void)
{
    pthread_mutex_lock(&lock);
    pthread_t one = start(take_turns, NULL, NULL), other = start(take_turns, &lock, NULL);
    if (setuid(65534))
        fail("setuid");
    pthread_mutex_unlock(&lock);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    say("turns", value);
    say("user", (long)geteuid());
    return 3;
}

static char **arguments;

static int drop_and_exec(void)
{
    drop_privileges();
    execl("/proc/self/exe", arguments[0], "work", NULL);
    fail("exec");
}

/* In a directory with nothing in it: no /proc, no trace, no pct. */
static int change_root(void)
{
    if (chroot(".") || chdir("/"))
        fail("chroot");
    work();
    return 3;
}

static int change_root_and_crash(void)
{
    change_root();
    return crash(NULL) != NULL;
}

/* --- A sandbox: what this program needs, and nothing else --- */

static void enter_sandbox(const int *allowed, unsigned count, unsigned otherwise)
{
    struct sock_filter filter[2 * 64 + 2] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
    unsigned short length = 1;
    for (unsigned i = 0; i < count; i++) {
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
    const struct sock_fprog program = { length, filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        fail("seccomp");
}

/* What glibc's threads, malloc and write() take. */
#define FOR_THREADS                                                                                                    \
    SYS_write, SYS_futex, SYS_clone, SYS_clone3, SYS_rseq, SYS_set_robust_list, SYS_mmap, SYS_mprotect, SYS_munmap,    \
        SYS_brk, SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_exit, SYS_exit_group
static const int for_threads[] = { FOR_THREADS };
static const int for_pipes[] = { FOR_THREADS, SYS_read };
/* For a filter that kills: with what else glibc takes, and what docs/SANDBOX.md says that pct takes. */
static const int for_pct[] = {
    FOR_THREADS,           SYS_rt_sigaction,      SYS_madvise, SYS_getrandom, SYS_getpid, SYS_gettid, SYS_clock_gettime,
    SYS_sched_getaffinity, SYS_sched_setaffinity, SYS_getcpu,  SYS_fstat,     SYS_poll,   SYS_fcntl,  SYS_stat,
    SYS_truncate
};
#define SANDBOX(list, otherwise) enter_sandbox(list, sizeof(list) / sizeof *(list), otherwise)

static int sandbox(void)
{
    SANDBOX(for_threads, SECCOMP_RET_ERRNO | EPERM);
    work();
    return 3;
}

static int sandbox_crash(void)
{
    sandbox();
    return crash(NULL) != NULL;
}

static int ends[2];

static void *read_some(void *unused)
{
    char byte;
    for (int i = 0; i < rounds; i++)
        if (read(ends[0], &byte, 1) != 1)
            fail("read");
    return unused;
}

/* Reads from a pipe before there is something in it, which nobody can ask about. */
static int sandbox_pipe(void)
{
    if (pipe(ends))
        fail("pipe");
    SANDBOX(for_pipes, SECCOMP_RET_ERRNO | EPERM);
    pthread_t reader = start(read_some, NULL, NULL);
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        if (write(ends[1], "x", 1) != 1)
            fail("write");
        pthread_mutex_unlock(&lock);
    }
    pthread_join(reader, NULL);
    work();
    return 3;
}

static int sandbox_kill(void)
{
    SANDBOX(for_pct, SECCOMP_RET_KILL_PROCESS);
    work();
    return 3;
}

/* The oldest sandbox: read, write and the end of the thread, and nothing else. */
static int sandbox_strict(void)
{
    work();
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
        fail("seccomp");
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    say("alone", 1);
    syscall(SYS_exit, 3);
    return 98;
}

static int to_jail[2], from_jail[2];

/* What such a sandbox is for: it computes for the others, between a read and a write. */
static void *jail(void *unused)
{
    static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    unsigned char number;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
        fail("seccomp");
    while (read(to_jail[0], &number, 1) == 1 && number) {
        pthread_mutex_lock(&own);
        number *= 2;
        pthread_mutex_unlock(&own);
        if (write(from_jail[1], &number, 1) != 1)
            break;
    }
    syscall(SYS_exit, 0);
    return unused;
}

/* One of several threads enters it: the others go on under control. */
static int sandbox_strict_thread(void)
{
    pthread_t thread;
    long sum = 0;
    if (pipe(to_jail) || pipe(from_jail))
        fail("pipe");
    pthread_create(&thread, NULL, jail, NULL);
    for (unsigned char i = 1; i <= 20; i++) {
        unsigned char number = i;
        if (write(to_jail[1], &number, 1) != 1 || read(from_jail[0], &number, 1) != 1)
            fail("jail");
        sum += number;
    }
    work();
    if (write(to_jail[1], "", 1) != 1)
        fail("jail");
    pthread_join(thread, NULL);
    say("sum", sum);
    return 3;
}

/* --- Space --- */

/* The trace is on the file system that becomes full. */
static int fill_disk(void)
{
    static char block[65536];
    int fd = open("big", O_WRONLY | O_CREAT, 0600);
    ssize_t got;
    if (fd < 0)
        fail("big");
    while ((got = write(fd, block, sizeof block)) > 0)
        continue;
    say("full", errno);
    rounds = 20000;
    work();
    return 3;
}

static int small_files(void)
{
    const struct rlimit little = { 4096, 4096 };
    if (setrlimit(RLIMIT_FSIZE, &little))
        fail("setrlimit");
    rounds = 5000;
    work();
    return 3;
}

/* 128 MB, of which it takes 40 for itself, and its threads 8 each for their stacks. */
static int little_memory(void)
{
    struct rlimit few = { 128 << 20, 128 << 20 };
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    if (setrlimit(RLIMIT_AS, &few))
        fail("setrlimit");
    void *block = malloc(40 << 20);
    if (!block)
        fail("malloc");
    memset(block, 1, 40 << 20);
    work();
    return 3;
}

/* --- Small stacks: of 16 KB the program needs 7, libc some 5; the rest is for whoever it calls --- */

static void *use_little(void *unused)
{
    struct pollfd asked = { .fd = ends[0], .events = POLLIN };
    struct timeval no_time = { 0, 1000 };
    struct timespec soon = { 0, 1000 };
    pthread_rwlock_t readers = PTHREAD_RWLOCK_INITIALIZER;
    sem_t semaphore;
    fd_set set;
    volatile char own[7000];
    char byte = 'x';
    own[0] = own[sizeof own - 1] = 1;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    sem_init(&semaphore, 0, 1);
    for (int i = 0; i < 600; i++) { /* past the end of a block of the trace */
        pthread_rwlock_wrlock(&readers);
        pthread_rwlock_unlock(&readers);
    }
    sem_wait(&semaphore);
    select(ends[0] + 1, &set, NULL, NULL, &no_time);
    poll(&asked, 1, 1);
    nanosleep(&soon, NULL);
    if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
        fail("pipe");
    pthread_mutex_lock(&lock);
    value++;
    pthread_mutex_unlock(&lock);
    return own[0] ? unused : NULL;
}

/* Below each stack is a page that must not be touched. */
static int small_stacks(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    pthread_attr_t attr;
    if (pipe(ends))
        fail("pipe");
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN);
    for (int i = 0; i < THREADS; i++)
        threads[i] = start(use_little, NULL, &attr);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    say("threads", value);
    value = 0;
    work();
    return 3;
}

/* --- Killed, at a moment that is a matter of the schedule --- */

static void *kill_all(void *unused)
{
    for (int i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    kill(getpid(), SIGKILL);
    return unused;
}

static int killed(void)
{
    pthread_t killer = start(kill_all, NULL, NULL);
    for (;;) {
        work();
        if (pthread_tryjoin_np(killer, NULL) == 0)
            fail("still alive");
    }
}

/* Until somebody kills it. */
static int endless(void)
{
    do
        work();
    while (!value);
    return 3;
}

/* --- Without what programs usually find at their start --- */

static int no_name(void)
{
    char *const none[] = { NULL };
    setenv("HOSTILE", "work", 1);
    execv("/proc/self/exe", none);
    fail("exec");
}

static int no_environment(void)
{
    clearenv();
    execl("/proc/self/exe", arguments[0], "work", NULL);
    fail("exec");
}

static int only_work(void)
{
    work();
    return 3;
}

int main(int argc, char **argv)
{
    static const struct mode modes[] = {
        { "close-range", close_range_all },
        { "close-one-by-one", close_one_by_one },
        { "close-before-main", close_before_main },
        { "close-in-thread", close_in_thread },
        { "close-and-crash", close_and_crash },
        { "redirect", redirect },
        { "no-descriptors", no_descriptors },
        { "drop-privileges", drop_privileges },
        { "drop-with-threads", drop_with_threads },
        { "drop-and-crash", drop_and_crash },
        { "drop-and-exec", drop_and_exec },
        { "change-root", change_root },
        { "change-root-and-crash", change_root_and_crash },
        { "sandbox", sandbox },
        { "sandbox-crash", sandbox_crash },
        { "sandbox-pipe", sandbox_pipe },
        { "sandbox-kill", sandbox_kill },
        { "sandbox-strict", sandbox_strict },
        { "sandbox-strict-thread", sandbox_strict_thread },
        { "fill-disk", fill_disk },
        { "small-files", small_files },
        { "little-memory", little_memory },
        { "small-stacks", small_stacks },
        { "killed", killed },
        { "endless", endless },
        { "no-name", no_name },
        { "no-environment", no_environment },
        { "work", only_work },
    };
    const char *mode = argc > 1 ? argv[1] : getenv("HOSTILE");
    arguments = argv;
    if (argc > 2)
        rounds = atoi(argv[2]);
    return run_mode(modes, sizeof modes / sizeof *modes, mode);
}
