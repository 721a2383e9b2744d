// pct's watchdog is made at a moment of real time, and has copies of the program's descriptors until it has closed
// them. A thread that closed the only writing end of a pipe meanwhile did not find its end: random program 400003 had
// another hash on a loaded machine.
//
// With an argument, a tracer: each thread that unshares its descriptors while it closes some is held for 300 ms then.
//
// NEED: [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2> /dev/null || echo 0)" -lt 3 ]
// RUN: %p trace env LD_PRELOAD=$LIBPCT PCT_SEED=1 PCT_STRATEGY=round-robin %p
// RUN: %p trace env LD_PRELOAD=$LIBPCT PCT_SEED=1 PCT_STRATEGY=none %p
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <linux/close_range.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *wait_for_lock(void *lock)
{
    pthread_mutex_lock(lock);
    pthread_mutex_unlock(lock);
    return NULL;
}

static int has_watchdog(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; (entry = readdir(tasks));)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count > 2;
}

/* The oldest of several pipes has no writing end any more, when it is closed in this way. */
static int is_at_end(int (*close_it)(int))
{
    enum { PIPES = 16 };
    static int pipes[PIPES][2];
    static unsigned used;
    int *ends = pipes[used++ % PIPES];
    struct pollfd end = { .fd = ends[0], .events = POLLIN };
    if (used > PIPES) {
        assert(!close_it(ends[1]) && poll(&end, 1, 0) >= 0);
        close(ends[0]);
        close(ends[1]);
    }
    assert(!pipe(ends));
    return used <= PIPES || end.revents & POLLHUP;
}

static int close_by_copy(int fd)
{
    return dup2(STDERR_FILENO, fd) != fd;
}

static int close_stream(int fd)
{
    return fclose(fdopen(fd, "w"));
}

static int close_many(int fd)
{
    return close_range((unsigned)fd, (unsigned)fd, 0);
}

static double now(void)
{
    struct timespec t;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Until the watchdog has been there for a while. */
static int program(void)
{
    static int (*const ways[])(int) = { close, close_by_copy, close_stream, close_many };
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    unsigned rounds = 0;
    pthread_mutex_lock(&lock);
    assert(!pthread_create(&thread, NULL, wait_for_lock, &lock));
    for (double end = now() + 2; now() < end && !has_watchdog();)
        for (unsigned i = 0; i < 200; i++, rounds++)
            if (!is_at_end(ways[rounds % 4])) {
                printf("round %u: the pipe has no end\n", rounds);
                return 1;
            }
    for (unsigned i = 0; i < 2000; i++)
        if (!is_at_end(ways[i % 4])) {
            printf("behind: round %u: the pipe has no end\n", i);
            return 1;
        }
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}

static int is_held_here(pid_t tid)
{
    struct user_regs_struct regs;
    return !ptrace(PTRACE_GETREGS, tid, NULL, &regs) && regs.orig_rax == SYS_close_range &&
           regs.rdx == CLOSE_RANGE_UNSHARE && !regs.rax; /* it is done */
}

static int trace(char **command)
{
    const struct timespec moment = { .tv_nsec = 1000000 };
    pid_t held = 0, child = fork();
    double until = 0;
    int status;
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        execvp(command[0], command);
        _exit(127);
    }
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, child, NULL,
               PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL))
        return 126;
    ptrace(PTRACE_SYSCALL, child, NULL, NULL);
    for (;;) {
        pid_t tid = waitpid(-1, &status, __WALL | (held ? WNOHANG : 0));
        if (held && now() >= until) {
            ptrace(PTRACE_SYSCALL, held, NULL, NULL);
            held = 0;
        }
        if (tid == 0) {
            nanosleep(&moment, NULL);
            continue;
        }
        if (tid < 0)
            return 126;
        if (tid == child && WIFEXITED(status))
            return WEXITSTATUS(status);
        if (tid == child && WIFSIGNALED(status))
            return 125;
        if (!WIFSTOPPED(status))
            continue;
        int signal = WSTOPSIG(status);
        if (signal == (SIGTRAP | 0x80) && !held && is_held_here(tid)) {
            held = tid;
            until = now() + 0.3;
            continue;
        }
        ptrace(PTRACE_SYSCALL, tid, NULL,
               signal == (SIGTRAP | 0x80) || signal == SIGTRAP || signal == SIGSTOP ? 0 : signal);
    }
}

int main(int argc, char **argv)
{
    return argc > 2 && !strcmp(argv[1], "trace") ? trace(argv + 2) : program();
}
