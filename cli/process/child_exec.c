/* What a new child does until it is the target, or a command beside it: see launch.h. Between fork and exec there are
 * only async-signal-safe calls. */
#include <cli/base/cli.h>
#include "launch.h"
#include "terminal.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define GIB ((rlim_t)1 << 30)
/* Address space that the shim takes for itself, but for the trace; some more than it does. */
#define OWN_MEMORY ((rlim_t)64 << 20)

/* In a new child: end with this process, even if that is killed by SIGKILL. */
static void follow(const struct pct_launch *launch)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launch->own)
        _exit(PCT_EXIT_INTERNAL); /* it has ended before this could be asked for */
}

static void take_output(int output)
{
    if (output < 0)
        return;
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
}

void pct_launch_go_aside(const struct pct_launch *launch, int output)
{
    follow(launch);
    setpgid(0, 0);
    signal(SIGTTOU, SIG_DFL);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(null, STDIN_FILENO);
    take_output(output);
}

void pct_launch_become_shell(const struct pct_launch *launch, const char *command, char **environment)
{
    sigprocmask(SIG_SETMASK, &launch->old_signals, NULL);
    char *arguments[] = { (char[]){ "sh" }, (char[]){ "-c" }, (char *)(uintptr_t)command, NULL };
    execve("/bin/sh", arguments, environment);
    _exit(errno == ENOENT ? 127 : 126);
}

/* Each run reads inherited files from where they stood, by a descriptor of its own: others read at the same time. */
static void take_inherited(const struct pct_launch *launch)
{
    for (unsigned i = 0; i < launch->inherited_count; i++) {
        const struct pct_inherited *file = &launch->inherited[i];
        const int again = open(file->path, O_RDONLY | O_CLOEXEC);
        if (again >= 0)
            dup2(again, file->fd);
        lseek(file->fd, file->place, SEEK_SET);
    }
}

/* What a target is started with. */
struct start {
    const struct pct_process *process;
    char **environment;
    char directory[PATH_MAX]; /* its current one; "": ours */
    int input;                /* -1: ours */
    int control;              /* of a fork server, which gets it under this number; -1: none */
};

/* Whether what this process executes next has the same addresses each time. */
static bool fix_addresses(void)
{
    int now = personality(0xffffffff);
    return now != -1 && (now & ADDR_NO_RANDOMIZE || personality((unsigned long)now | ADDR_NO_RANDOMIZE) != -1);
}

bool pct_launch_is_random(void)
{
    char setting = '2';
    int fd = open("/proc/sys/kernel/randomize_va_space", O_RDONLY | O_CLOEXEC), now = personality(0xffffffff);
    if (fd >= 0 && read(fd, &setting, 1) != 1)
        setting = '2';
    if (fd >= 0)
        close(fd);
    bool fixed = fix_addresses();
    if (now != -1)
        personality((unsigned long)now);
    return !fixed && setting != '0';
}

/* In the child: everything between fork and exec. Only async-signal-safe calls. */
__attribute__((noreturn)) static void become_target(const struct start *start, int complaint)
{
    const struct pct_process *process = start->process;
    const struct pct_launch *launch = process->launch;
    follow(launch);
    setpgid(0, 0);
    if (launch->terminal)
        tcsetpgrp(STDIN_FILENO, getpid());
    signal(SIGTTOU, SIG_DFL);
    if (start->input >= 0)
        dup2(start->input, STDIN_FILENO);
    take_output(process->output);
    take_inherited(launch);
    if (start->control >= 0)
        fcntl(start->control, F_SETFD, 0);
    if (!launch->aslr)
        fix_addresses();
    if (launch->memory) {
        /* The shim's own: for its threads, and an eighth, but no more than 1 GiB, for the trace (preload/run/start.c).
         */
        rlim_t more = launch->memory / 7 < GIB ? launch->memory / 7 : GIB;
        struct rlimit limit = { .rlim_cur = launch->memory + more + OWN_MEMORY };
        limit.rlim_max = limit.rlim_cur;
        setrlimit(RLIMIT_AS, &limit);
    }
    sigprocmask(SIG_SETMASK, &launch->old_signals, NULL);
    if (!start->directory[0] || !chdir(start->directory))
        execve(launch->program, process->command, start->environment);
    int reason = errno;
    if (write(complaint, &reason, sizeof reason) != sizeof reason)
        _exit(PCT_EXIT_INTERNAL);
    _exit(127);
}

static int complain_exec(const struct pct_launch *launch, int reason)
{
    if (reason == ENOENT)
        pct_cli_say("%s: the interpreter or dynamic linker that it asks for is not there", launch->program);
    else if (reason == ENOEXEC)
        pct_cli_say("%s: neither a program nor a script that names its interpreter (#!)", launch->program);
    else
        pct_cli_say("%s: %s", launch->program, strerror(reason));
    return reason == ENOENT ? 127 : 126;
}

static int complain_start(int reason)
{
    pct_cli_say("a run cannot be started: %s%s", strerror(reason),
                reason == EMFILE ? " (ulimit -n): fewer runs at a time (-j) take fewer" : "");
    return -PCT_EXIT_INTERNAL;
}

pid_t pct_launch_exec(const struct pct_process *process, char **environment, int input, int control)
{
    const struct pct_launch *launch = process->launch;
    struct start start = { .process = process, .environment = environment, .input = input, .control = control };
    if (launch->around.enter)
        pct_setup_teardown_directory(launch, process->worker, start.directory, sizeof start.directory);
    int complaint[2];
    if (pipe2(complaint, O_CLOEXEC))
        return complain_start(errno);
    fflush(NULL);
    pid_t pid = fork();
    if (!pid)
        become_target(&start, complaint[1]);
    int failed = errno;
    close(complaint[1]);
    if (pid < 0) {
        close(complaint[0]);
        if (failed == EAGAIN)
            return PCT_NO_PROCESS;
        return complain_start(failed);
    }
    setpgid(pid, pid);
    int reason = 0;
    ssize_t got;
    while ((got = read(complaint[0], &reason, sizeof reason)) < 0 && errno == EINTR)
        ;
    close(complaint[0]);
    if (got != sizeof reason)
        return pid;
    waitpid(pid, NULL, 0);
    pct_terminal_take(launch);
    return -complain_exec(launch, reason);
}
