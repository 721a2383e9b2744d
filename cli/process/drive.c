/* Servers and their clients: see drive.h. */
#include "drive.h"
#include <cli/base/cli.h>
#include "environment.h"
#include "launch.h"
#include <cli/binary/locate.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Between two looks at the server's output, or for readiness: at first often, because a campaign waits in each run. */
static const double pause_least = 0.002, pause_most = 0.05;

static int parse_signal(const char *text)
{
    uint64_t number;
    char error[64];
    if (!strcmp(text, "none"))
        return 0;
    if (!pct_config_parse_u64(&number, text, 1, 64, "", error, sizeof error))
        return (int)number;
    if (!strncmp(text, "SIG", 3))
        text += 3;
    for (int signal = 1; signal < NSIG; signal++)
        if (sigabbrev_np(signal) && !strcmp(sigabbrev_np(signal), text))
            return signal;
    return -1;
}

/* Is text at {worker} or {N+worker}? Then what stands for it, and what follows it in *behind. */
static bool read_worker(const char *text, unsigned worker, unsigned long *value, const char **behind)
{
    if (*text++ != '{')
        return false;
    unsigned long base = 0;
    if (*text >= '0' && *text <= '9') {
        char *end;
        base = strtoul(text, &end, 10);
        if (*end != '+')
            return false;
        text = end + 1;
    }
    *value = base + worker;
    *behind = text + sizeof "worker}" - 1;
    return !strncmp(text, "worker}", sizeof "worker}" - 1);
}

static bool names_worker(const char *text)
{
    unsigned long value;
    const char *behind;
    while (*text && !read_worker(text, 0, &value, &behind))
        text++;
    return *text;
}

/* A number is at most this much longer than what it stands for: the sum may have a digit more. */
static size_t room_for(const char *text)
{
    return 2 * strlen(text) + 1;
}

/* Copy text to *end with the worker's number in its places. */
static void expand(char **end, const char *text, unsigned worker)
{
    unsigned long value;
    const char *behind;
    while (*text) {
        if (read_worker(text, worker, &value, &behind)) {
            *end += sprintf(*end, "%lu", value);
            text = behind;
        } else
            *(*end)++ = *text++;
    }
    *(*end)++ = 0;
}

/* Whether several servers can be told from each other. */
static bool can_share(const struct pct_drive *drive, enum pct_readiness_kind kind)
{
    return kind == PCT_READINESS_LINE || kind == PCT_READINESS_REGEX || names_worker(drive->ready);
}

unsigned pct_drive_limit(const struct pct_drive *drive, unsigned jobs)
{
    char error[512];
    struct pct_readiness ready;
    if (!drive->ready || pct_readiness_parse(&ready, drive->ready, error, sizeof error))
        return jobs;
    pct_readiness_free(&ready);
    return can_share(drive, ready.kind) ? jobs : 1;
}

static int check_ready(const struct pct_drive *drive, unsigned jobs)
{
    char error[512], *text = malloc(room_for(drive->ready)), *end = text;
    struct pct_readiness ready;
    if (!text)
        return pct_cli_no_memory("");
    expand(&end, drive->ready, 0);
    int failed = pct_readiness_parse(&ready, text, error, sizeof error);
    free(text);
    if (failed)
        return pct_cli_usage("%s", error);
    pct_readiness_free(&ready);
    if (jobs == 1 || can_share(drive, ready.kind))
        return 0;
    if (ready.kind == PCT_READINESS_PORT)
        return pct_cli_usage("%u workers cannot share port %u: write {%u+worker} in its place in COMMAND, --ready and "
                             "--drive, or use --jobs=1",
                             jobs, ready.port, ready.port);
    return pct_cli_usage("%u workers cannot share one path: write {worker} into it in COMMAND, --ready and --drive, or "
                         "use --jobs=1",
                         jobs);
}

int pct_drive_check(struct pct_drive *drive, unsigned jobs)
{
    bool other = drive->stop || drive->ready_timeout > 0 || drive->stop_timeout > 0;
    if (!drive->ready && !drive->client && !other)
        return 0;
    if (!drive->ready)
        return pct_cli_usage("--drive and --stop need --ready, which says when the client can begin");
    if (!drive->client)
        return pct_cli_usage("--ready needs --drive, which names the client");
    drive->signal = drive->stop ? parse_signal(drive->stop) : SIGTERM;
    if (drive->signal < 0)
        return pct_cli_usage("--stop: '%s' is no signal, by name or by number, and not none", drive->stop);
    drive->ready_timeout = drive->ready_timeout > 0 ? drive->ready_timeout : PCT_DRIVE_READY_TIMEOUT;
    drive->stop_timeout = drive->stop_timeout > 0 ? drive->stop_timeout : PCT_DRIVE_STOP_TIMEOUT;
    return check_ready(drive, jobs);
}

/* One block: the structure, the vector, the strings. */
static struct pct_driven *make(const struct pct_launch *launch, unsigned worker)
{
    const struct pct_drive *drive = &launch->drive;
    size_t count = 0, room = room_for(drive->ready) + room_for(drive->client);
    for (; launch->command[count]; count++)
        room += room_for(launch->command[count]);
    struct pct_driven *d = calloc(1, sizeof *d + (count + 1) * sizeof *d->command + room);
    if (!d)
        return NULL;
    d->drive = drive;
    d->output = -1;
    d->command = (char **)(d + 1);
    char *end = (char *)(d->command + count + 1);
    for (size_t i = 0; i < count; i++) {
        d->command[i] = end;
        /* The program itself was looked up once, for all. */
        if (i)
            expand(&end, launch->command[i], worker);
        else
            end = stpcpy(end, launch->command[i]) + 1;
    }
    d->ready_text = end;
    expand(&end, drive->ready, worker);
    d->client = end;
    expand(&end, drive->client, worker);
    return d;
}

int pct_drive_open(struct pct_process *process, const struct pct_launch *launch, bool pass)
{
    char error[512];
    struct pct_driven *d = make(launch, process->worker);
    if (!d || pct_readiness_parse(&d->ready, d->ready_text, error, sizeof error)) {
        pct_cli_say("%s", d ? error : "out of memory");
        free(d);
        return PCT_EXIT_INTERNAL;
    }
    process->driven = d;
    process->command = d->command;
    d->pass = pass;
    d->pause = pause_least;
    d->limit = pct_cli_now() + d->drive->ready_timeout;
    if (pct_readiness_begin(&d->ready, error, sizeof error)) {
        pct_cli_say("%s", error);
        return PCT_EXIT_INTERNAL;
    }
    if (pass)
        return 0;
    d->output = pct_locate_nameless();
    if (d->output < 0) {
        pct_cli_say("cannot make a scratch file for the output of the client: %s", strerror(-d->output));
        return PCT_EXIT_INTERNAL;
    }
    fcntl(d->output, F_SETFL, O_APPEND);
    return 0;
}

void pct_drive_close(struct pct_process *process)
{
    struct pct_driven *d = process->driven;
    if (!d)
        return;
    if (d->output >= 0)
        close(d->output);
    pct_readiness_free(&d->ready);
    free(d);
    process->driven = NULL;
}

/* In the child. Where the server is pinned to one CPU, the client goes to the others: the server would lose time to it,
 * and the client would run only while the server waits. */
__attribute__((noreturn)) static void become_client(const struct pct_process *process, const struct pct_launch *launch,
                                                    char **environment)
{
    const struct pct_driven *d = process->driven;
    pct_launch_go_aside(launch, d->output);
    cpu_set_t server, ours;
    if (!sched_getaffinity(process->pid, sizeof server, &server) && CPU_COUNT(&server) == 1 &&
        !sched_getaffinity(0, sizeof ours, &ours)) {
        CPU_XOR(&server, &server, &ours);
        CPU_AND(&ours, &ours, &server);
        sched_setaffinity(0, sizeof ours, &ours); /* refused if nothing is left */
    }
    pct_launch_become_shell(launch, d->client, environment);
}

static void start_client(struct pct_process *process, const struct pct_launch *launch)
{
    struct pct_driven *d = process->driven;
    char **environment = pct_environment_plain();
    fflush(NULL);
    pid_t pid = environment ? fork() : -1;
    if (!pid)
        become_client(process, launch, environment);
    if (pid < 0) {
        pct_cli_say("the client cannot be started: %s", strerror(errno));
        d->status = W_EXITCODE(126, 0);
    } else {
        d->pid = pid;
        setpgid(pid, pid);
    }
    free(environment);
}

static void reap_client(struct pct_driven *d)
{
    siginfo_t info = { 0 };
    if (!d->pid || waitid(P_PID, (id_t)d->pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid != d->pid)
        return;
    d->status = pct_process_reap_group(d->pid);
    d->pid = 0;
}

/* Those whose parent has ended have become our children. */
static void reap_rest(struct pct_driven *d)
{
    pid_t pid;
    while (d->rest && (pid = waitpid(-d->rest, NULL, WNOHANG)))
        if (pid < 0) {
            kill(-d->rest, SIGKILL); /* who has a parent elsewhere */
            d->rest = 0;
        }
}

static void pass_output(struct pct_process *process)
{
    struct pct_driven *d = process->driven;
    char buffer[1 << 14];
    ssize_t got;
    while ((got = pread(process->output, buffer, sizeof buffer, d->passed)) > 0) {
        fwrite(buffer, 1, (size_t)got, stderr);
        d->passed += got;
    }
}

static void give_up(struct pct_process *process, enum pct_drive_trouble trouble)
{
    process->driven->trouble = trouble;
    if (process->pid)
        kill(-process->pid, SIGKILL);
    pct_drive_kill(process);
}

/* Go to the phase that comes next if its time has come. */
static void advance(struct pct_process *process, const struct pct_launch *launch, double now)
{
    struct pct_driven *d = process->driven;
    bool server = process->pid;
    if (d->phase == PCT_DRIVE_STARTING && server && pct_readiness_check(&d->ready, process->output)) {
        d->phase = PCT_DRIVE_DRIVING;
        d->limit = 0;
        start_client(process, launch);
    }
    if (d->phase == PCT_DRIVE_DRIVING && !server && !d->limit)
        d->limit = now + d->drive->stop_timeout;
    if (d->phase == PCT_DRIVE_DRIVING && !d->pid) {
        d->phase = PCT_DRIVE_STOPPING;
        d->limit = now + d->drive->stop_timeout;
        d->stop_sent = server && d->drive->signal && !kill(process->pid, d->drive->signal);
    }
}

double pct_drive_step(struct pct_process *process, const struct pct_launch *launch)
{
    static const enum pct_drive_trouble troubles[] = { PCT_DRIVE_NOT_READY, PCT_DRIVE_CLIENT_LEFT,
                                                       PCT_DRIVE_NOT_STOPPED };
    struct pct_driven *d = process->driven;
    double now = pct_cli_now();
    reap_client(d);
    reap_rest(d);
    if (d->pass)
        pass_output(process);
    if (!process->timed_out && d->trouble == PCT_DRIVE_NONE)
        advance(process, launch, now);
    if (pct_drive_over(process) || process->timed_out || d->trouble != PCT_DRIVE_NONE)
        return 0;
    if (d->limit > 0 && now >= d->limit) {
        give_up(process, troubles[d->phase]);
        return 0;
    }
    if (d->phase != PCT_DRIVE_STARTING && !d->pass)
        return d->limit;
    d->pause = d->pause * 1.5 < pause_most ? d->pause * 1.5 : pause_most;
    return d->limit > 0 && d->limit < now + d->pause ? d->limit : now + d->pause;
}

bool pct_drive_take_rest(struct pct_process *process)
{
    struct pct_driven *d = process->driven;
    if (!d || !d->stop_sent || d->trouble != PCT_DRIVE_NONE || process->timed_out)
        return false;
    d->rest = process->pid;
    kill(-d->rest, d->drive->signal);
    return true;
}

bool pct_drive_over(const struct pct_process *process)
{
    const struct pct_driven *d = process->driven;
    return !process->pid && !d->pid && !d->rest;
}

void pct_drive_kill(struct pct_process *process)
{
    struct pct_driven *d = process->driven;
    if (d && d->rest)
        kill(-d->rest, SIGKILL);
    if (!d || !d->pid)
        return;
    kill(d->pid, SIGKILL);
    siginfo_t info;
    while (waitid(P_PID, (id_t)d->pid, &info, WEXITED | WNOWAIT) && errno == EINTR)
        ;
    reap_client(d);
}

static int code_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void pct_drive_result(const struct pct_process *process, struct pct_result *result)
{
    const struct pct_driven *d = process->driven;
    int stop = d->drive->signal, code = code_of(d->status);
    bool exited = result->ending == PCT_ENDING_EXIT;
    if (result->ending == PCT_ENDING_TIMEOUT)
        return;
    if (d->trouble == PCT_DRIVE_NOT_READY || d->trouble == PCT_DRIVE_NOT_STOPPED) {
        result->ending = d->trouble == PCT_DRIVE_NOT_READY ? PCT_ENDING_NOT_READY : PCT_ENDING_NOT_STOPPED;
        result->code = PCT_EXIT_TIMEOUT;
        return;
    }
    /* Servers that catch the signal may end by it all the same, or as a shell says it. */
    if (d->stop_sent && result->code == 128 + stop &&
        (exited || result->ending == PCT_ENDING_KILLED || result->ending == PCT_ENDING_CRASH)) {
        result->ending = PCT_ENDING_EXIT;
        result->code = 0;
        exited = true;
    }
    bool driven = d->phase != PCT_DRIVE_STARTING;
    if (exited && !d->stop_sent && (stop || !driven)) {
        result->ending = PCT_ENDING_EARLY;
        result->code = result->code ? result->code : 1;
    } else if (exited && code) {
        result->ending = code == 126 || code == 127 ? PCT_ENDING_NO_CLIENT : PCT_ENDING_CLIENT;
        result->code = code;
    }
}

const char *pct_drive_format_client(char *buffer, size_t size, const struct pct_process *process)
{
    const struct pct_driven *d = process->driven;
    int code = code_of(d->status);
    if (d->phase == PCT_DRIVE_STARTING)
        snprintf(buffer, size, "not started");
    else if (d->trouble == PCT_DRIVE_CLIENT_LEFT)
        snprintf(buffer, size, "did not end within %g s after the server", d->drive->stop_timeout);
    else if (WIFSIGNALED(d->status))
        snprintf(buffer, size, "killed by signal %d (%s)", code - 128, sigdescr_np(code - 128));
    else
        snprintf(buffer, size, "exit status %d", code);
    return buffer;
}

bool pct_drive_format(char *buffer, size_t size, const struct pct_process *process, const struct pct_result *result)
{
    const struct pct_driven *d = process->driven;
    char text[256];
    switch (result->ending) {
    case PCT_ENDING_NOT_READY:
        pct_readiness_format(&d->ready, text, sizeof text);
        snprintf(buffer, size, "not ready: %s within %g s: %s, or does it need more time (--ready-timeout)?", text,
                 d->drive->ready_timeout, pct_readiness_advice(&d->ready));
        return true;
    case PCT_ENDING_EARLY:
        pct_readiness_format(&d->ready, text, sizeof text);
        if (d->phase == PCT_DRIVE_STARTING)
            snprintf(buffer, size, "the server ended with exit status %d before it was ready: %s",
                     WEXITSTATUS(process->status), text);
        else
            snprintf(buffer, size, "the server ended with exit status %d before it was stopped (see --stop)",
                     WEXITSTATUS(process->status));
        return true;
    case PCT_ENDING_NOT_STOPPED:
        snprintf(buffer, size, "the server did not end within %g s (--stop-timeout) after %s%s", d->drive->stop_timeout,
                 d->stop_sent ? "SIG" : "the client, which should have stopped it",
                 d->stop_sent ? sigabbrev_np(d->drive->signal) : "");
        return true;
    case PCT_ENDING_CLIENT:
        snprintf(buffer, size, "the client failed: %s", pct_drive_format_client(text, sizeof text, process));
        return true;
    default:
        return false;
    }
}
