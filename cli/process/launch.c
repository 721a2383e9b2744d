/* Starting targets and waiting for them: see launch.h.
 *
 * The command is one thread with one loop. SIGCHLD and the signals that end us are blocked and taken by sigtimedwait(),
 * so nothing ever runs in a signal handler, and a signal can be neither lost nor met half-way through a start. */
#include "launch.h"
#include <common/demon.h>
#include <common/exploration.h>
#include "child_failures.h"
#include <cli/base/cli.h>
#include <cli/binary/elf_facts.h>
#include "descendants.h"
#include "environment.h"
#include "input.h"
#include <cli/binary/locate.h>
#include <cli/binary/scope.h>
#include "supervise.h"
#include "terminal.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long to wait until the kernel gives us a process, when no run goes on that has too many. */
#define NO_PROCESS_SECONDS 10

/* How often it is asked. */
#define NO_PROCESS_INTERVAL 0.05

/* How long a fork server may take to make a run that is to be ended at once. */
#define PATIENCE_SECONDS 10

/* A program built with -fsanitize=thread gets our runtime library instead of the sanitizer's: one with the name that it
 * asks for is preloaded behind libpct.so, and the loader takes no second of that name. */
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

/* Preload this library, too, which lies beside libpct.so. */
static int take_library(struct pct_launch *launch, const char *name)
{
    char path[sizeof launch->library_path];
    int folder = (int)strcspn(launch->library_path, ":"); /* of libpct.so, the first */
    while (folder && launch->library_path[folder - 1] != '/')
        folder--;
    int length = snprintf(path, sizeof path, "%s:%.*s%s", launch->library_path, folder, launch->library_path, name);
    if ((size_t)length >= sizeof path || access(strrchr(path, ':') + 1, R_OK))
        return pct_cli_usage("%s is not beside %s: run `make`, or `make install` again", name, launch->library_path);
    strcpy(launch->library_path, path);
    return 0;
}

/* Explored runs have an allocator whose addresses do not depend on the schedule. Not beside AddressSanitizer's, which
 * is to find what it finds. */
static int take_explored(struct pct_launch *launch)
{
    char needed[128];
    if (!launch->explored || pct_elf_needs(launch->program, "libasan.so", needed, sizeof needed) ||
        pct_elf_defines(launch->program, "__asan_init"))
        return 0;
    return take_library(launch, "libpct-explored.so");
}

/* The thread of --demon is made by a library of its own. */
static int take_demon(struct pct_launch *launch)
{
    char magic[8] = "";
    if (!launch->demon)
        return 0;
    FILE *file = fopen(launch->demon, "re");
    bool fine = file && fread(magic, sizeof magic, 1, file) == 1 && !memcmp(magic, PCT_DEMON_MAGIC, sizeof magic);
    if (file)
        fclose(file);
    if (!fine && !memcmp(magic, PCT_DEMON_MAGIC, sizeof PCT_DEMON_MAGIC - 2)) /* but for its version */
        return pct_cli_usage("--demon: %s is another version of pct's: `pct demon` makes it again", launch->demon);
    if (!fine || !realpath(launch->demon, launch->plan))
        return pct_cli_usage("--demon: %s is not a plan that `pct demon` has written", launch->demon);
    launch->exec = true; /* the thread is there before a fork server could be */
    return take_library(launch, "libpct-demon.so");
}

int pct_launch_prepare(struct pct_launch *launch)
{
    char error[512];
    int status = pct_locate_command(launch->command[0], launch->program, sizeof launch->program);
    if (status) {
        pct_cli_say("%s: %s", launch->command[0], pct_locate_complaint(launch->command[0], status));
        return status;
    }
    unsigned bits, machine;
    if (pct_elf_is_foreign(launch->program, &bits, &machine)) {
        pct_cli_say("%s: it is for another architecture (%u bits, ELF machine %u); this pct is for x86-64",
                    launch->program, bits, machine);
        return 126;
    }
    if (pct_locate_library(launch->library, launch->library_path, sizeof launch->library_path, error, sizeof error))
        return pct_cli_usage("%s", error);
    if (strpbrk(launch->library_path, " :"))
        return pct_cli_usage("%s: the linker splits LD_PRELOAD at spaces and colons; put the library elsewhere",
                             launch->library_path);
    status = take_explored(launch);
    if (!status)
        status = take_demon(launch);
    if (status)
        return status;
    /* AddressSanitizer insists on being the first library of all. */
    char first[128], list[sizeof launch->library_path];
    if (pct_elf_needs(launch->program, "libasan.so", first, sizeof first) &&
        (size_t)snprintf(list, sizeof list, "%s:%s", first, launch->library_path) < sizeof list) {
        if (launch->memory)
            return pct_cli_usage("--memory-limit: %s was built with AddressSanitizer, which takes terabytes of address "
                                 "space; ASAN_OPTIONS=hard_rss_limit_mb=N bounds its memory",
                                 launch->program);
        strcpy(launch->library_path, list);
    }
    launch->random = !launch->aslr && pct_launch_is_random();
    /* Before there is a file of ours, which they may leave no room for. */
    if (!launch->alone)
        pct_scratch_remove_stale();
    status = take_over_tsan(launch);
    if (!status)
        status = pct_scope_prepare(launch);
    if (!status)
        status = pct_setup_teardown_prepare(launch);
    if (!status)
        status = pct_input_prepare(launch);
    pct_forking_settle(launch);
    if (status)
        return status;
    pct_launch_spare();
    pct_supervise(launch);
    launch->own = getpid();
    launch->terminal = launch->alone && isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
    /* A parent may have left SIGCHLD ignored; then there would be nothing to wait for. */
    signal(SIGCHLD, SIG_DFL);
    signal(SIGTTOU, SIG_IGN); /* tcsetpgrp() from the background */
    pct_signals_block(&launch->old_signals);
    /* What a target leaves behind becomes our child, so that its end can be awaited. */
    if (!launch->alone)
        prctl(PR_SET_CHILD_SUBREAPER, 1);
    return 0;
}

void pct_launch_say_random(const struct pct_launch *launch)
{
    if (launch->random)
        pct_cli_say("address-space randomisation stays on, as personality() is refused here (docker: --security-opt "
                    "seccomp=unconfined): a program that decides by addresses does not replay");
}

void pct_launch_finish(struct pct_launch *launch)
{
    pct_forkservers_end(launch);
    pct_launch_sweep(launch);
    pct_scratches_remove(launch);
    pct_scope_finish(launch);
    pct_setup_teardown_finish(launch);
    pct_input_close(launch);
    pct_signals_drain(launch);
    sigprocmask(SIG_SETMASK, &launch->old_signals, NULL);
}

static void set_postponed(struct pct_process *process, struct pct_launch *launch, double until)
{
    launch->postponed -= process->postponed > 0;
    launch->postponed += until > 0;
    process->postponed = until;
}

/* Start the run by exec. Returns 0, or an exit status for the command, after a message. Another run may be a fork bomb,
 * which is ended when its time is over; until then, this one is postponed. */
static int start_by_exec(struct pct_process *process, struct pct_launch *launch)
{
    char **environment = pct_environment_make(process, process->trace_path);
    if (!environment) {
        return pct_cli_no_memory("");
    }
    /* Each run reads its input from the start; the descriptor is shared with the child, so its offset must be new. */
    int input = pct_input_open(launch);
    pid_t pid = pct_launch_exec(process, environment, input, -1);
    if (input >= 0)
        close(input);
    free(environment);
    process->forked = process->asked = false;
    process->pid = pid > 0 ? pid : 0;
    if (pid > 0)
        pct_time_limit_begin(process);
    if (pid == PCT_NO_PROCESS && process->postponed <= 0)
        set_postponed(process, launch, pct_cli_now() + NO_PROCESS_SECONDS);
    else if (pid != PCT_NO_PROCESS)
        set_postponed(process, launch, 0);
    return pid > 0 || pid == PCT_NO_PROCESS ? 0 : -pid;
}

static void fail_to_start(struct pct_process *process, struct pct_launch *launch)
{
    set_postponed(process, launch, 0);
    process->status = W_EXITCODE(PCT_EXIT_INTERNAL, 0);
    process->unstarted = true;
}

/* Try again. Returns when to try next. */
static double retry(struct pct_launch *launch, struct pct_process *process)
{
    double now = pct_cli_now();
    if (launch->running > launch->postponed)
        process->postponed = now + NO_PROCESS_SECONDS; /* another run may have them */
    pct_launch_sweep(launch);
    if (start_by_exec(process, launch))
        fail_to_start(process, launch);
    if (process->postponed > 0 && now >= process->postponed) {
        pct_cli_say("no process can be made: the limit of the user, the container or the machine is reached (ulimit "
                    "-u, pids.max, "
                    "kernel.pid_max); end others, or raise it");
        fail_to_start(process, launch);
    }
    if (process->pid)
        process->started = now;
    return process->postponed > 0 ? now + NO_PROCESS_INTERVAL : 0;
}

/* Have it forked. False: it is to be started by exec. */
static bool start_by_fork(struct pct_process *process, struct pct_launch *launch)
{
    if (!pct_forking_use(launch, process))
        return false;
    if (pct_hosts_ask(launch, process))
        return true;
    int input = launch->input_is_file ? pct_input_open(launch) : -1; /* all may share /dev/null */
    process->forked = process->asked = !pct_forkserver_ask(launch, process, input);
    if (!process->asked && process->hosting == PCT_HOSTING_FIRST) {
        pct_hosts_forget(launch, process);
        process->hosting = PCT_HOSTING_NO;
    }
    if (input >= 0)
        close(input);
    return process->asked;
}

/* Begin the run itself. Returns 0 or an exit status for the command, after a message. */
static int begin(struct pct_process *process, struct pct_launch *launch)
{
    process->phase = PCT_PHASE_RUN;
    process->started = pct_cli_now();
    if (launch->drive.client) {
        int failed = pct_drive_open(process, launch, process->pass);
        if (failed)
            return failed;
    }
    return start_by_fork(process, launch) ? 0 : start_by_exec(process, launch);
}

/* One of the commands around the run goes on, or has ended: go to the next phase. */
static void advance(struct pct_process *process, struct pct_launch *launch)
{
    if (!pct_setup_teardown_is_over(process))
        return;
    if (process->phase == PCT_PHASE_TEARDOWN || process->trouble == PCT_PHASE_SETUP)
        process->phase = PCT_PHASE_OVER;
    else if (process->phase == PCT_PHASE_SETUP && begin(process, launch))
        fail_to_start(process, launch);
    if (process->phase == PCT_PHASE_OVER)
        pct_setup_teardown_clear(process);
}

int pct_process_start(struct pct_process *process, struct pct_launch *launch, const char *token,
                      const struct pct_run_extras *extras, int cpu, bool capture)
{
    *process = (struct pct_process){ .index = process->index,
                                     .worker = process->worker,
                                     .again = process->again,
                                     .children = launch->children,
                                     .command = launch->command,
                                     .launch = launch,
                                     .extras = extras ? *extras : (struct pct_run_extras){ 0 },
                                     .cpu = cpu,
                                     .pass = !capture,
                                     .phase = PCT_PHASE_RUN,
                                     .trouble = PCT_PHASE_RUN,
                                     .trace = -1,
                                     .output = -1 };
    snprintf(process->token, sizeof process->token, "%s", token);
    if (!process->extras.sites)
        process->extras.sites = launch->sites;
    if (process->extras.log)
        pct_channel_renew(process->extras.log);
    int failed = pct_scratch_open(process, launch, capture || launch->drive.client);
    process->killed_pct = failed ? 0 : pct_supervised_convict(process);
    if (process->killed_pct) {
        process->phase = PCT_PHASE_OVER;
        process->status = W_EXITCODE(0, SIGKILL);
    } else if (!failed) {
        pct_supervised_begin(process);
        failed = pct_setup_teardown_open(process);
        if (!failed && !pct_setup_teardown_start(process, PCT_PHASE_SETUP))
            failed = begin(process, launch);
    }
    process->running = !failed;
    launch->running += !failed;
    if (failed)
        pct_process_close(process);
    return failed;
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

/* Learn the process id of a run that was asked for. Where there is none, start it by exec: nothing of it has run. */
static void learn_pid(struct pct_launch *launch, struct pct_process *process)
{
    int failed = pct_forkserver_read_pid(launch, process, 0);
    if (failed == -EAGAIN && pct_cli_now() < process->answer)
        return;
    process->asked = false;
    if (failed)
        pct_hosts_forget(launch, process);
    if (failed && start_by_exec(process, launch))
        fail_to_start(process, launch);
}

/* Has this one ended? Then its pid becomes 0. */
static void reap(struct pct_launch *launch, struct pct_process *process)
{
    siginfo_t info = { 0 };
    if (pct_hosts_waits(launch, process))
        return;
    if (pct_hosts_over(launch, process)) {
        pct_forkserver_over(launch, process);
        process->pid = 0;
        return;
    }
    if (!process->pid || waitid(P_PID, (id_t)process->pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) ||
        info.si_pid != process->pid)
        return;
    if (info.si_code != CLD_EXITED && info.si_code != CLD_KILLED && info.si_code != CLD_DUMPED) {
        /* It may go on already, and have ended since: that is for the next look. */
        info.si_pid = 0;
        if (!waitid(P_PID, (id_t)process->pid, &info, WSTOPPED | WNOHANG) && info.si_pid)
            pct_terminal_follow_stop(launch, process, info.si_status);
        return;
    }
    if ((!launch->alone || process->timed_out) && !pct_drive_take_rest(process))
        process->status = pct_process_reap_group(process->pid);
    else if (waitpid(process->pid, &process->status, WNOHANG) <= 0)
        return;
    pct_terminal_take(launch);
    pct_hosts_ended(launch, process);
    pct_forkserver_over(launch, process);
    launch->past[launch->reaped++ % (sizeof launch->past / sizeof *launch->past)] = process->pid;
    process->pid = 0;
}

/* In a host it was not, or not to the end. */
static void begin_anew(struct pct_launch *launch, struct pct_process *process, bool exec)
{
    process->pid = 0;
    process->queued = false;
    if (process->extras.log)
        pct_channel_renew(process->extras.log);
    process->forked = process->timed_out = process->slow = process->preloaded = false;
    process->status = 0;
    process->ended = 0;
    process->started = pct_cli_now();
    if (!pct_scratch_renew(process) || ((exec || !start_by_fork(process, launch)) && start_by_exec(process, launch)))
        fail_to_start(process, launch);
}

/* Whether a run in a host, which is over, begins again without. */
static bool begin_again(struct pct_launch *launch, struct pct_process *process)
{
    bool exec;
    if (process->hosting == PCT_HOSTING_AGAIN)
        pct_hosts_compare(launch, process);
    if (!pct_hosts_run(process) || !pct_hosts_again(launch, process, &exec))
        return false;
    pct_hosts_remember(process);
    process->hosting = PCT_HOSTING_AGAIN;
    begin_anew(launch, process, exec);
    return process->pid || process->asked || process->postponed > 0;
}

/* The run has ended: what is left to be done is the teardown. */
static void end_run(struct pct_launch *launch, struct pct_process *process)
{
    process->seconds = (process->ended > 0 ? process->ended : pct_cli_now()) - process->started;
    pct_forking_note(launch, process->forked, process->seconds);
    pct_time_limit_learn(process);
    process->deadline = 0;
    process->phase = PCT_PHASE_OVER;
    if (!pct_setup_teardown_start(process, PCT_PHASE_TEARDOWN))
        pct_setup_teardown_clear(process);
}

/* Returns when to look again, 0 for when a child has changed. */
static double look_at_run(struct pct_launch *launch, struct pct_process *process, const struct pct_process *processes,
                          int count)
{
    double again = process->postponed > 0 ? retry(launch, process) : 0;
    if (process->postponed > 0)
        return again;
    if (pct_hosts_lost(launch, process)) {
        process->queued = true;
        process->pid = 0;
        if (!pct_hosts_let_begin(launch, process, processes, count))
            return 0;
        process->hosting = PCT_HOSTING_NO;
        begin_anew(launch, process, false);
    }
    if (process->asked)
        learn_pid(launch, process);
    reap(launch, process);
    double then = process->driven ? pct_drive_step(process, launch) : process->asked ? process->answer : 0;
    if (process->postponed > 0)
        return pct_cli_now() + NO_PROCESS_INTERVAL;
    if (process->queued)
        return 0;
    if (!process->pid && !process->asked && begin_again(launch, process))
        return process->asked ? process->answer : 0;
    if (!process->pid && !process->asked && (!process->driven || pct_drive_over(process)))
        end_run(launch, process);
    return then;
}

/* Look at all of them. Returns the index of one that is over, or -1 and in *next when to look again, 0 for when a child
 * has changed. */
static int look(struct pct_launch *launch, struct pct_process *processes, int count, double *next)
{
    *next = 0;
    for (int i = 0; i < count; i++) {
        struct pct_process *process = &processes[i];
        if (!process->running)
            continue;
        double then = 0;
        for (enum pct_phase phase = PCT_PHASE_OVER; process->phase != phase && process->phase != PCT_PHASE_OVER;) {
            phase = process->phase;
            then = phase == PCT_PHASE_RUN ? look_at_run(launch, process, processes, count) : 0;
            if (phase != PCT_PHASE_RUN)
                advance(process, launch);
        }
        if (process->phase == PCT_PHASE_OVER) {
            process->running = false;
            launch->running--;
            pct_supervised_end(process);
            return i;
        }
        if (then > 0 && (*next <= 0 || then < *next))
            *next = then;
    }
    return -1;
}

/* A target that writes without end would fill the disk: of what it has written, only the last part is kept. Returns
 * when to look again, or `next` if that is earlier. */
static double bound_output(struct pct_process *processes, int count, double now, double next)
{
    enum { KEPT = 1 << 20, MOST = 16 << 20 };
    static const double interval = 0.25;
    for (int i = 0; i < count; i++) {
        struct pct_process *process = &processes[i];
        struct stat status;
        if (!process->running || process->output < 0 || process->driven)
            continue;
        if (!process->queued && !fstat(process->output, &status) && status.st_size - process->dropped > MOST) {
            off_t from = process->dropped, to = (status.st_size - KEPT) & ~(off_t)4095;
            if (!fallocate(process->output, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from))
                process->dropped = to;
        }
        if (next <= 0 || now + interval < next)
            next = now + interval;
    }
    return next;
}

int pct_launch_wait(struct pct_launch *launch, struct pct_process *processes, int count, double until, int *ended)
{
    static const double longest = 1; /* to notice when the machine stood still */
    sigset_t ours;
    pct_signals_of_ours(&ours);
    for (;;) {
        double next;
        *ended = look(launch, processes, count, &next);
        if (*ended >= 0)
            return 0;
        if (!pct_hosts_await(launch, processes, count))
            continue;
        double now = pct_cli_now();
        next = pct_deadlines_enforce(processes, count, now, next);
        next = bound_output(processes, count, now, next);
        pct_supervised_follow(now);
        if (until > 0 && now >= until)
            return 0;
        if (until > 0 && (next <= 0 || until < next))
            next = until;
        double left = next <= 0 ? longest : next <= now ? 0 : fmin(next - now, longest);
        struct timespec wait = { .tv_sec = (time_t)left, .tv_nsec = (long)((left - floor(left)) * 1e9) };
        siginfo_t info = { 0 };
        int signal = sigtimedwait(&ours, &info, &wait);
        pct_time_limit_forgive(processes, count, pct_cli_now() - now - left);
        signal = signal > 0 ? pct_signals_heed(launch, &info) : 0;
        if (signal)
            return signal;
    }
}

static void kill_run(struct pct_process *process, int signal)
{
    double end = pct_cli_now() + 2;
    kill(-process->pid, signal);
    siginfo_t info = { 0 };
    while (signal != SIGKILL && !info.si_pid && pct_cli_now() < end) {
        usleep(5000);
        waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    }
    kill(process->pid, SIGKILL);
    process->status = pct_process_reap_group(process->pid);
    pct_terminal_take(process->launch);
    pct_hosts_forget(process->launch, process);
    pct_forkserver_over(process->launch, process);
    process->pid = 0;
}

void pct_process_kill(struct pct_process *process, int signal)
{
    process->launch->running -= process->running;
    process->running = false;
    set_postponed(process, process->launch, 0);
    pct_drive_kill(process);
    pct_setup_teardown_kill(process);
    if (process->asked)
        pct_forkserver_read_pid(process->launch, process, PATIENCE_SECONDS);
    if (process->pid)
        kill_run(process, signal);
    else
        pct_hosts_forget(process->launch, process);
    pct_setup_teardown_end(process);
}

void pct_process_close(struct pct_process *process)
{
    pct_supervised_end(process);
    pct_drive_close(process);
    if (process->launch && !process->clean)
        pct_launch_sweep(process->launch);
    pct_setup_teardown_close(process);
    pct_scratch_close(process);
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
