/* Starting targets and waiting for them: see launch.h.
 *
 * The command is one thread with one loop. SIGCHLD and the signals that end us are blocked and taken by sigtimedwait(), so
 * nothing ever runs in a signal handler, and a signal can be neither lost nor met half-way through a start. */
#include "launch.h"
#include "children.h"
#include "cli.h"
#include "elf_facts.h"
#include "environment.h"
#include "locate.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a target that is over its time has left to write down where its threads are. */
#define LAST_WORD_SECONDS 2

static void signals_of_ours(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

/* What several runs read: a file can be read from its start by each; a pipe or a terminal cannot be shared by them. */
static int open_input(void)
{
    struct stat status;
    char path[64];
    if (!fstat(STDIN_FILENO, &status) && S_ISREG(status.st_mode)) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", STDIN_FILENO);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0)
            return fd;
    }
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* A program built with -fsanitize=thread gets our runtime library instead of the sanitizer's: one with the name that it asks
 * for is preloaded behind libpct.so, and the loader takes no second of that name. */
static int take_over_tsan(struct pct_launch *launch)
{
    static const char *const names[] = { "libtsan.so.2", "libclang_rt.tsan-x86_64.so" };
    char needed[128], path[sizeof launch->library_path];
    const char *slash = strrchr(launch->library_path, '/');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!pct_elf_needs(launch->program, names[i], needed, sizeof needed))
            continue;
        int length = snprintf(path, sizeof path, "%s:%.*s/tsan/%s", launch->library_path,
                              slash ? (int)(slash - launch->library_path) : 0, launch->library_path, names[i]);
        if ((size_t)length >= sizeof path || access(strchr(path, ':') + 1, R_OK))
            return pct_cli_usage(
                "%s was built with -fsanitize=thread, and the library that stands in for %s is not beside "
                "%s: run `make`, or `make install` again",
                launch->command[0], names[i], launch->library_path);
        strcpy(launch->library_path, path);
        return 0;
    }
    if (pct_elf_defines(launch->program, "__tsan_init"))
        return pct_cli_usage(
            "%s has the runtime of -fsanitize=thread inside, which does not run beside pct: build it with "
            "pct-clang or pct-cc, or link it with -shared-libsan",
            launch->command[0]);
    return 0;
}

int pct_launch_prepare(struct pct_launch *launch)
{
    char error[512];
    int status = pct_locate_command(launch->command[0], launch->program, sizeof launch->program);
    if (status) {
        pct_cli_say("%s: %s", launch->command[0],
                    status == 126 ? "is there, but cannot be executed" : "command not found");
        return status;
    }
    if (pct_locate_library(launch->library, launch->library_path, sizeof launch->library_path, error, sizeof error))
        return pct_cli_usage("%s", error);
    if (strpbrk(launch->library_path, " :"))
        return pct_cli_usage("%s: the linker splits LD_PRELOAD at spaces and colons; put the library elsewhere",
                             launch->library_path);
    /* AddressSanitizer insists on being the first library of all. */
    char first[128], list[sizeof launch->library_path];
    if (pct_elf_needs(launch->program, "libasan.so", first, sizeof first) &&
        (size_t)snprintf(list, sizeof list, "%s:%s", first, launch->library_path) < sizeof list)
        strcpy(launch->library_path, list);
    status = take_over_tsan(launch);
    if (status)
        return status;
    launch->input = launch->alone ? -1 : open_input();
    launch->terminal = launch->alone && isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
    sigset_t ours;
    signals_of_ours(&ours);
    /* A parent may have left SIGCHLD ignored; then there would be nothing to wait for. */
    signal(SIGCHLD, SIG_DFL);
    signal(SIGTTOU, SIG_IGN); /* tcsetpgrp() from the background */
    sigprocmask(SIG_BLOCK, &ours, &launch->old_signals);
    /* What a target leaves behind becomes our child, so that its end can be awaited. */
    if (!launch->alone)
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    return 0;
}

void pct_launch_finish(struct pct_launch *launch)
{
    if (launch->input >= 0)
        close(launch->input);
    sigprocmask(SIG_SETMASK, &launch->old_signals, NULL);
}

/* In the child: everything between fork and exec. Only async-signal-safe calls. */
__attribute__((noreturn)) static void become_target(const struct pct_process *process, const struct pct_launch *launch,
                                                    char **environment, int input, int complaint)
{
    /* The target does not outlive us, not even when we are killed by SIGKILL. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    if (launch->terminal)
        tcsetpgrp(STDIN_FILENO, getpid());
    signal(SIGTTOU, SIG_DFL);
    if (input >= 0)
        dup2(input, STDIN_FILENO);
    if (process->output >= 0) {
        dup2(process->output, STDOUT_FILENO);
        dup2(process->output, STDERR_FILENO);
    }
    if (!launch->aslr) {
        int now = personality(0xffffffff);
        if (now != -1)
            personality((unsigned long)now | ADDR_NO_RANDOMIZE);
    }
    sigprocmask(SIG_SETMASK, &launch->old_signals, NULL);
    execve(launch->program, process->command, environment);
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

static int make_trace(struct pct_process *process)
{
    process->trace = pct_locate_scratch(process->trace_path, sizeof process->trace_path, false);
    if (process->trace < 0) {
        pct_cli_say("cannot make a scratch file for the trace: %s", strerror(-process->trace));
        process->trace_path[0] = 0;
        return PCT_EXIT_INTERNAL;
    }
    /* The shim overwrites this; if it does not, it never ran. A file that it has emptied means that there is no space. */
    char room[PCT_TRACE_HEADER_SIZE] = { 0 };
    struct pct_trace_header header = { .version = PCT_TRACE_VERSION,
                                       .header_size = PCT_TRACE_HEADER_SIZE,
                                       .launcher = getpid() };
    memcpy(header.magic, PCT_TRACE_MAGIC, sizeof header.magic);
    memcpy(room, &header, sizeof header);
    int failed = pct_cli_write_all(process->trace, room, sizeof room);
    if (failed)
        pct_cli_say("cannot write to %s: %s", process->trace_path, strerror(-failed));
    return failed ? PCT_EXIT_INTERNAL : 0;
}

static int make_output(struct pct_process *process)
{
    char path[PATH_MAX];
    process->output = pct_locate_scratch(path, sizeof path, true);
    if (process->output < 0) {
        pct_cli_say("cannot make a scratch file for the output: %s", strerror(-process->output));
        return PCT_EXIT_INTERNAL;
    }
    unlink(path);
    /* Standard output and standard error share it: each write goes to the end. */
    fcntl(process->output, F_SETFL, O_APPEND);
    return 0;
}

/* Fork and exec, and learn whether that worked. */
static int start(struct pct_process *process, const struct pct_launch *launch, char **environment)
{
    int complaint[2];
    if (pipe2(complaint, O_CLOEXEC)) {
        pct_cli_say("pipe: %s", strerror(errno));
        return PCT_EXIT_INTERNAL;
    }
    /* Each run reads its input from the start; the descriptor is shared with the child, so its offset must be new. */
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", launch->input);
    int input = launch->input < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    fflush(NULL);
    pid_t pid = fork();
    if (!pid)
        become_target(process, launch, environment, input, complaint[1]);
    int failed = errno;
    close(complaint[1]);
    if (input >= 0)
        close(input);
    if (pid < 0) {
        close(complaint[0]);
        pct_cli_say("fork: %s", strerror(failed));
        return PCT_EXIT_INTERNAL;
    }
    setpgid(pid, pid);
    int reason = 0;
    ssize_t got;
    while ((got = read(complaint[0], &reason, sizeof reason)) < 0 && errno == EINTR)
        ;
    close(complaint[0]);
    if (got == sizeof reason) {
        waitpid(pid, NULL, 0);
        if (launch->terminal)
            tcsetpgrp(STDIN_FILENO, getpgrp());
        return complain_exec(launch, reason);
    }
    process->pid = pid;
    return 0;
}

int pct_process_start(struct pct_process *process, const struct pct_launch *launch, const char *token, int cpu,
                      bool capture)
{
    *process = (struct pct_process){ .index = process->index,
                                     .worker = process->worker,
                                     .children = launch->children,
                                     .command = launch->command,
                                     .trace = -1,
                                     .output = -1 };
    snprintf(process->token, sizeof process->token, "%s", token);
    int failed = make_trace(process);
    if (!failed && (capture || launch->drive.client))
        failed = make_output(process);
    if (!failed && launch->drive.client)
        failed = pct_drive_open(process, launch, !capture);
    char **environment =
        failed ? NULL : pct_environment_make(launch, process->command, token, process->trace_path, cpu);
    if (!failed && !environment) {
        pct_cli_say("out of memory");
        failed = PCT_EXIT_INTERNAL;
    }
    if (!failed)
        failed = start(process, launch, environment);
    free(environment);
    process->running = !failed;
    if (failed)
        pct_process_close(process);
    else if (launch->timeout > 0)
        process->deadline = pct_cli_now() + launch->timeout;
    return failed;
}

/* The terminal's user has stopped the target (Ctrl-Z): stop with it, and go on with it. */
static void follow_stop(const struct pct_launch *launch, const struct pct_process *process)
{
    if (!launch->terminal)
        return;
    tcsetpgrp(STDIN_FILENO, getpgrp());
    raise(SIGSTOP);
    tcsetpgrp(STDIN_FILENO, process->pid);
    kill(-process->pid, SIGCONT);
}

int pct_process_reap_group(pid_t leader)
{
    int status = 0;
    /* Before its id is free for another process. */
    kill(-leader, SIGKILL);
    while (waitpid(leader, &status, WUNTRACED) < 0 && errno == EINTR)
        ;
    /* Killed processes end at once, but for one that another user owns, or that the kernel holds. */
    double end = pct_cli_now() + 2;
    pid_t pid;
    while ((pid = waitpid(-leader, NULL, WNOHANG)) >= 0 && pct_cli_now() < end)
        if (!pid)
            usleep(500);
    return status;
}

/* Has this one ended? Then its pid becomes 0. */
static void reap(const struct pct_launch *launch, struct pct_process *process)
{
    siginfo_t info = { 0 };
    if (!process->pid || waitid(P_PID, (id_t)process->pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) ||
        info.si_pid != process->pid)
        return;
    bool stopped = info.si_code != CLD_EXITED && info.si_code != CLD_KILLED && info.si_code != CLD_DUMPED;
    if (!stopped && (!launch->alone || process->timed_out) && !pct_drive_take_rest(process))
        process->status = pct_process_reap_group(process->pid);
    else
        waitpid(process->pid, &process->status, WUNTRACED);
    if (stopped) {
        follow_stop(launch, process);
        return;
    }
    if (launch->terminal)
        tcsetpgrp(STDIN_FILENO, getpgrp());
    process->pid = 0;
}

/* Look at all of them. Returns the index of one that is over, or -1 and in *next when to look again, 0 for when a child has
 * changed. */
static int look(const struct pct_launch *launch, struct pct_process *processes, int count, double *next)
{
    *next = 0;
    for (int i = 0; i < count; i++) {
        struct pct_process *process = &processes[i];
        if (!process->running)
            continue;
        reap(launch, process);
        double then = process->driven ? pct_drive_step(process, launch) : 0;
        if (!process->pid && (!process->driven || pct_drive_over(process))) {
            process->running = false;
            return i;
        }
        if (then > 0 && (*next <= 0 || then < *next))
            *next = then;
    }
    return -1;
}

/* Ask the shim for its last word: where each thread is. False: it does not listen. */
static bool ask_for_last_word(const struct pct_process *process)
{
    uint32_t watched = 0, request = 1;
    return pread(process->trace, &watched, sizeof watched, offsetof(struct pct_trace_header, watched)) ==
               sizeof watched &&
           watched &&
           pwrite(process->trace, &request, sizeof request, offsetof(struct pct_trace_header, request)) ==
               sizeof request;
}

/* End what is over its time; returns when the next one will be, or `next` if that is earlier; 0 for never. */
static double enforce_deadlines(struct pct_process *processes, int count, double now, double next)
{
    for (int i = 0; i < count; i++) {
        struct pct_process *process = &processes[i];
        if (!process->running || process->deadline <= 0)
            continue;
        if (now >= process->deadline) {
            bool asked = process->timed_out;
            process->timed_out = true;
            process->deadline = !asked && process->pid && ask_for_last_word(process) ? now + LAST_WORD_SECONDS : 0;
            if (process->deadline <= 0) {
                pct_drive_kill(process);
                if (process->pid) {
                    kill(-process->pid, SIGKILL);
                    kill(process->pid, SIGKILL);
                }
                next = now;
            }
        }
        if (process->deadline > 0 && (next <= 0 || process->deadline < next))
            next = process->deadline;
    }
    return next;
}

int pct_launch_wait(const struct pct_launch *launch, struct pct_process *processes, int count, double until, int *ended)
{
    sigset_t ours;
    signals_of_ours(&ours);
    for (;;) {
        double next;
        *ended = look(launch, processes, count, &next);
        if (*ended >= 0)
            return 0;
        double now = pct_cli_now();
        next = enforce_deadlines(processes, count, now, next);
        if (until > 0 && now >= until)
            return 0;
        if (until > 0 && (next <= 0 || until < next))
            next = until;
        double left = next > now ? next - now : next > 0 ? 0 : 3600;
        struct timespec wait = { .tv_sec = (time_t)left, .tv_nsec = (long)((left - floor(left)) * 1e9) };
        int signal = sigtimedwait(&ours, NULL, &wait);
        if (signal > 0 && signal != SIGCHLD)
            return signal;
    }
}

void pct_process_kill(struct pct_process *process, int signal)
{
    process->running = false;
    pct_drive_kill(process);
    if (!process->pid)
        return;
    double end = pct_cli_now() + 2;
    kill(-process->pid, signal);
    siginfo_t info = { 0 };
    while (signal != SIGKILL && !info.si_pid && pct_cli_now() < end) {
        usleep(5000);
        waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    }
    kill(process->pid, SIGKILL);
    process->status = pct_process_reap_group(process->pid);
    process->pid = 0;
}

void pct_process_close(struct pct_process *process)
{
    pct_drive_close(process);
    if (process->trace_path[0]) {
        pct_children_remove(process->trace_path);
        unlink(process->trace_path);
        close(process->trace);
        process->trace_path[0] = 0;
        if (process->output >= 0)
            close(process->output);
        process->output = process->trace = -1;
    }
}

bool pct_output_copy(int output, FILE *out)
{
    enum { MOST = 1 << 18 };
    struct stat status;
    if (output < 0 || fstat(output, &status) || !status.st_size)
        return false;
    off_t from = status.st_size > MOST ? status.st_size - MOST : 0;
    if (from)
        fprintf(out, "[%lld bytes before this are left out]\n", (long long)from);
    char buffer[65536];
    ssize_t got;
    while ((got = pread(output, buffer, sizeof buffer, from)) > 0) {
        fwrite(buffer, 1, (size_t)got, out);
        from += got;
    }
    return true;
}
