/* Fork servers and whether to use them: see forkserver.h. */
#include "forkserver.h"
#include <cli/base/cli.h>
#include <cli/binary/elf_facts.h>
#include "environment.h"
#include "hosts.h"
#include "input.h"
#include "launch.h"
#include "request.h"
#include <cli/binary/locate.h>
#include "cpu_sharing.h"
#include <common/forkserver.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a server may take to come to where it forks, in seconds, and to answer when it is there. */
enum { START_SECONDS = 30, ANSWER_SECONDS = 10 };
/* A server that ended by itself is started again, up to this many times for each worker. */
enum { CRASHES = 3 };
/* Runs of each kind that decide which is faster: fewer, if one takes only this part of the other's time. A short run
 * that was slow when it was forked says little: the machine may have been busy with other things. */
enum { FEW = 3, MANY = 12 };
static const double much = 0.5, slow = 0.05;

static void never(struct pct_launch *launch, const char *why)
{
    launch->forks.state = PCT_FORKING_NO;
    snprintf(launch->forks.why, sizeof launch->forks.why, "%s", why);
}

void pct_forking_plan(struct pct_launch *launch, bool several, bool pass, const char *strategy)
{
    never(launch, "");
    if (!several || launch->exec || launch->replay)
        return;
    if (launch->drive.client)
        never(launch, "servers with a client (--drive) are not forked");
    else if (launch->aslr)
        never(launch, "forked runs would all have the same addresses (--aslr)");
    else if (pass)
        never(launch, "the output of one of them would be seen twice (--show-output)");
    else if (!strcmp(strategy, "none"))
        never(launch, "strategy none leaves the runs to the operating system");
    else
        launch->forks.state = PCT_FORKING_TRY;
    pct_forking_settle(launch);
}

void pct_forking_settle(struct pct_launch *launch)
{
    if (launch->inherited_count && launch->forks.state == PCT_FORKING_TRY)
        never(launch, "a file that it inherits to read from has one place for all forked runs");
}

/* One run starts by exec although others are forked. */
static void miss(struct pct_launch *launch, const char *why)
{
    launch->forks.missed++;
    snprintf(launch->forks.missed_why, sizeof launch->forks.missed_why, "%s", why);
}

bool pct_forking_explain(const struct pct_launch *launch, char *text, size_t size)
{
    const struct pct_forks *forks = &launch->forks;
    if (forks->why[0])
        snprintf(text, size, "each run was started by exec: %s", forks->why);
    else if (forks->missed)
        snprintf(text, size, "%llu run%s started by exec: %s", (unsigned long long)forks->missed,
                 forks->missed > 1 ? "s were" : " was", forks->missed_why);
    return forks->why[0] || forks->missed;
}

void pct_forking_print(FILE *out, const struct pct_launch *launch)
{
    char text[256];
    if (pct_forking_explain(launch, text, sizeof text))
        fprintf(out, "pct: %s\n", text);
}

static const char *text_of(uint32_t state)
{
    static const char *const texts[] = {
#define TEXT(id, text) text,
        PCT_FORKSERVER_STATES(TEXT)
#undef TEXT
    };
    return state < PCT_FORKSERVER_STATE_COUNT ? texts[state] : "the target has another version of libpct.so";
}

static const char ended[] = "its fork server has ended, or does not answer";

/* --- One server --------------------------------------------------------------------------------------------------- */

static void end_one(struct pct_forkserver *server)
{
    if (!server->pid)
        return;
    pct_cpu_sharing_part();
    close(server->socket);
    kill(server->pid, SIGKILL);
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    server->pid = 0;
}

void pct_forkserver_end(struct pct_launch *launch, unsigned worker)
{
    if (worker < PCT_FORKSERVERS)
        end_one(&launch->forks.servers[worker]);
}

void pct_forkservers_end(struct pct_launch *launch)
{
    pct_hosts_end(launch);
    for (unsigned i = 0; i < PCT_FORKSERVERS; i++)
        end_one(&launch->forks.servers[i]);
}

/* Returns 0, -EAGAIN when the time is over, or another negative errno: the other side has gone. */
static int read_reply(int socket, struct pct_forkserver_reply *reply, double seconds)
{
    double end = pct_cli_now() + seconds;
    for (;;) {
        ssize_t got = recv(socket, reply, sizeof *reply, MSG_DONTWAIT);
        if (got == sizeof *reply && reply->version == PCT_FORKSERVER_VERSION)
            return 0;
        if (got >= 0)
            return -EPIPE;
        if (errno != EAGAIN && errno != EINTR)
            return -errno;
        double left = end - pct_cli_now();
        if (left <= 0 || pct_signals_pending())
            return -EAGAIN;
        struct pollfd fd = { .fd = socket, .events = POLLIN };
        poll(&fd, 1, left < 0.05 ? (int)ceil(left * 1000) : 50);
    }
}

/* The descriptor under which a server has its end of the socket: a copy of `end`, beyond those that the target will
 * get. Not too far beyond: the kernel copies a process's table of descriptors up to the last one, and one of 1024 takes
 * 3 us of each run. */
static int copy_beyond(int end)
{
    enum { BEYOND = 192 };
    struct rlimit limit;
    bool few = !getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur <= BEYOND;
    return fcntl(end, F_DUPFD_CLOEXEC, few ? (int)limit.rlim_cur - 1 : BEYOND);
}

/* The last variable is padding, of any name. */
static void bind_at_start(char **environment)
{
    char *pad = NULL;
    for (char **at = environment; *at; at++)
        pad = *at;
    if (pad && strlen(pad) > sizeof PCT_PAD_BIND)
        memcpy(pad, PCT_PAD_BIND, sizeof PCT_PAD_BIND - 1);
}

/* Fork and exec the server. Returns 0 or a negative errno. */
static int start_process(struct pct_forkserver *server, const struct pct_launch *launch,
                         const struct pct_process *process, const char *trace, int control)
{
    struct pct_process served = *process;
    served.extras.sites = launch->sites;
    char **environment = pct_environment_make(&served, trace);
    if (environment)
        bind_at_start(environment);
    int input = pct_input_open(launch);
    pid_t pid = !environment ? -1 : pct_launch_exec(process, environment, input, control);
    if (input >= 0)
        close(input);
    free(environment);
    if (pid < 0)
        return pid == PCT_NO_PROCESS ? -EAGAIN : -ENOEXEC;
    server->pid = pid;
    server->cpu = process->cpu;
    server->points = process->extras.points;
    server->next = server->asked;
    server->run = 0;
    return 0;
}

/* What a server that has been started says first. */
static void hear(struct pct_forkserver *server, struct pct_launch *launch)
{
    struct pct_forkserver_reply reply;
    int failed = read_reply(server->socket, &reply, launch->timeout > 0 ? launch->timeout : START_SECONDS);
    if (failed == -EAGAIN && pct_signals_pending())
        never(launch, ""); /* there are no more runs */
    else if (failed == -EAGAIN)
        never(launch, "the target does not come to its main in time");
    else if (failed)
        never(launch, "the target ends before main");
    else if (reply.state)
        never(launch, text_of(reply.state));
    if (failed || reply.state)
        end_one(server);
}

static off_t size_of(int output)
{
    struct stat status;
    return output < 0 || fstat(output, &status) ? 0 : status.st_size;
}

/* Its runs would not have written what it has, while oracles look at all that a run writes. had: before it. */
static void be_silent(struct pct_forkserver *server, struct pct_launch *launch, int output, off_t had)
{
    if (!server->pid || size_of(output) == had)
        return;
    never(launch, "the target writes before main");
    end_one(server);
    if (ftruncate(output, had)) /* the run starts by exec, and writes it again */
        pct_cli_say("cannot shorten the scratch file for the output: %s", strerror(errno));
}

static void start(struct pct_forkserver *server, struct pct_launch *launch, const struct pct_process *process)
{
    char trace[PATH_MAX];
    const off_t had = size_of(process->output);
    int ends[2] = { -1, -1 };
    int control = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) ? -1 : copy_beyond(ends[1]);
    int fd = control < 0 ? -1 : pct_scratch_make_trace(trace, sizeof trace, control, launch->trace_size);
    server->socket = ends[0];
    int failed = fd < 0 ? fd : start_process(server, launch, process, trace, control);
    if (ends[1] >= 0)
        close(ends[1]);
    if (control >= 0)
        close(control);
    if (failed) {
        if (failed == -EAGAIN)
            miss(launch, "there was no process left for a fork server");
        else
            never(launch, "a fork server could not be started");
        if (ends[0] >= 0)
            close(ends[0]);
    } else {
        hear(server, launch);
        be_silent(server, launch, process->output, had);
    }
    if (fd >= 0) {
        close(fd);
        unlink(trace);
    }
}

/* This server is of no use any more. */
static void lose(struct pct_launch *launch, struct pct_forkserver *server)
{
    miss(launch, ended);
    server->crashes++;
    end_one(server);
}

/* Whether a run may wait in a server until the one before it is over. All runs of a worker are, or
 * their answers could come in any order. */
static bool may_wait(const struct pct_launch *launch)
{
    static int able = -1; /* Linux 5.3 */
    const struct pct_setup_teardown *around = &launch->around;
    if (able < 0) {
        int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
        able = fd >= 0;
        if (able)
            close(fd);
    }
    return able && !around->scratch && !around->setup && !around->teardown;
}

int pct_forkserver_ask(struct pct_launch *launch, struct pct_process *process, int input)
{
    struct pct_forkserver *server = &launch->forks.servers[process->worker];
    struct pct_forkserver_request request = { .version = PCT_FORKSERVER_VERSION,
                                              .input = input >= 0,
                                              .output = process->output >= 0,
                                              .sites = pct_request_sites(process),
                                              .followed =
                                                  (process->cpu >= 0 || launch->restore.wanted) && may_wait(launch) };
    const size_t values = pct_request_write(request.text, sizeof request.text, process);
    if (!values) {
        miss(launch, "the path of the scratch file is too long");
        return -ENAMETOOLONG;
    }
    int files[PCT_REQUEST_FILES], count = 0, host[2];
    request.host = pct_hosts_open(launch, process, host);
    request.contexts = !launch->restore.kernel_threads;
    request.followed &= !request.host; /* it is not over when its run is */
    if (request.input)
        files[count++] = input;
    if (request.output)
        files[count++] = process->output;
    if (request.host) {
        files[count++] = host[0];
        files[count++] = process->trace;
        files[count++] = host[1];
    }
    process->answer = pct_cli_now() + ANSWER_SECONDS;
    process->turn = server->asked++;
    /* The end of its first run wakes us only if it is awaited, and for that we have to know which process it is. */
    if (request.host) {
        fcntl(server->socket, F_SETOWN, getpid());
        fcntl(server->socket, F_SETFL, O_ASYNC);
    }
    const size_t size = offsetof(struct pct_forkserver_request, text) + values;
    bool sent = pct_request_send(server->socket, &request, size, files, count);
    for (int i = 0; request.host && i < 2; i++)
        close(host[i]);
    if (sent)
        return 0;
    lose(launch, server);
    return -EPIPE;
}

int pct_forkserver_read_pid(struct pct_launch *launch, struct pct_process *process, double seconds)
{
    struct pct_forkserver *server = &launch->forks.servers[process->worker];
    struct pct_forkserver_reply reply = { .pid = 0 };
    if (!server->pid || process->turn < server->next)
        return -EPIPE; /* another server was asked */
    if (server->run || process->turn > server->next)
        process->answer = pct_cli_now() + ANSWER_SECONDS; /* the one before it is not over */
    int failed = process->turn > server->next ? -EAGAIN : read_reply(server->socket, &reply, seconds);
    if (failed == -EAGAIN && pct_cli_now() < process->answer)
        return failed;
    server->next++;
    process->asked = false;
    if (process->hosting == PCT_HOSTING_FIRST)
        fcntl(server->socket, F_SETFL, 0);
    if (!failed && reply.pid > 0) {
        /* The one before it has just ended, if that was not seen yet. */
        process->started = server->run ? pct_cli_now() : fmax(process->started, server->over);
        process->pid = server->run = reply.pid;
        pct_time_limit_begin(process);
        pct_hosts_began(launch, process);
        return 0;
    }
    /* It said no, has ended or hangs. A run that it makes all the same finds nobody to answer, and ends. */
    if (failed)
        lose(launch, server);
    else
        miss(launch, text_of(reply.state));
    return failed ? failed : -ENOEXEC;
}

void pct_forkserver_over(struct pct_launch *launch, const struct pct_process *process)
{
    struct pct_forkserver *server = &launch->forks.servers[process->worker];
    if (!process->forked || server->run != process->pid)
        return;
    server->run = 0;
    server->over = pct_cli_now();
}

/* --- Which way ---------------------------------------------------------------------------------------------------- */

bool pct_forking_use(struct pct_launch *launch, struct pct_process *process)
{
    struct pct_forks *forks = &launch->forks;
    if (forks->state < PCT_FORKING_TIME || process->worker >= PCT_FORKSERVERS)
        return false;
    /* A server's environment is that of all its runs; but they may be recorded with sites. */
    const char *sites = process->extras.sites;
    if (process->extras.schedule || (sites && strcmp(sites, "on") != 0 && strcmp(sites, "calls") != 0))
        return false;
    if (forks->state == PCT_FORKING_TIME && forks->timed[PCT_FORKING_FORK] > forks->timed[PCT_FORKING_EXEC])
        return false;
    struct pct_forkserver *server = &forks->servers[process->worker];
    if (!server->pid && server->crashes < CRASHES)
        start(server, launch, process);
    if (!server->pid || server->cpu != process->cpu) {
        if (server->crashes >= CRASHES)
            miss(launch, ended);
        return false;
    }
    if (forks->state == PCT_FORKING_YES && process->cpu < 0 && !launch->running)
        pct_cpu_sharing_stay(pct_hosts_server(launch, process->worker));
    else
        pct_cpu_sharing_part();
    return true;
}

bool pct_forking_queues(const struct pct_launch *launch)
{
    bool restores = launch->restore.wanted && !launch->restore.why[0]; /* pct_hosts_queue() */
    return launch->forks.state == PCT_FORKING_YES && !restores && may_wait(launch);
}

/* Which kind is faster, by the times so far. */
static void decide(struct pct_launch *launch)
{
    struct pct_forks *forks = &launch->forks;
    double exec = forks->fastest[PCT_FORKING_EXEC], fork = forks->fastest[PCT_FORKING_FORK];
    char text[2][64], why[sizeof forks->why];
    bool clear = fork < much * exec || (exec < much * fork && exec > slow);
    unsigned least = clear ? FEW : MANY;
    if (forks->timed[PCT_FORKING_EXEC] < least || forks->timed[PCT_FORKING_FORK] < least)
        return;
    if (fork < exec) {
        forks->state = PCT_FORKING_YES;
        return;
    }
    snprintf(why, sizeof why, "that takes %s, and forking the target %s",
             pct_cli_format_duration(text[0], sizeof text[0], exec),
             pct_cli_format_duration(text[1], sizeof text[1], fork));
    never(launch, why);
}

void pct_forking_note(struct pct_launch *launch, bool forked, double seconds)
{
    struct pct_forks *forks = &launch->forks;
    enum { EXEC = PCT_FORKING_EXEC, FORK = PCT_FORKING_FORK };
    if (forks->state == PCT_FORKING_NO || forks->state == PCT_FORKING_YES)
        return;
    int kind = forked ? FORK : EXEC;
    if (!forks->timed[kind]++ || seconds < forks->fastest[kind])
        forks->fastest[kind] = seconds;
    if (forks->state == PCT_FORKING_TIME)
        decide(launch);
}

/* What of a run must not depend on how it was started. */
static bool is_same(const struct pct_result *a, const struct pct_result *b)
{
    return a->state == b->state && a->trace.header.verdict == b->trace.header.verdict &&
           a->trace.header.hash == b->trace.header.hash && a->trace.header.steps == b->trace.header.steps;
}

void pct_forking_try(struct pct_launch *launch, const struct pct_process *first, const struct pct_result *result)
{
    struct pct_forks *forks = &launch->forks;
    struct pct_process again = { .worker = first->worker, .index = UINT64_MAX };
    struct pct_result forked;
    int ended = -1;
    if (forks->state != PCT_FORKING_TRY || launch->running || first->killed_pct)
        return;
    if (result->state != PCT_TRACE_GOOD || result->unrecorded) {
        never(launch, "the first run left no trace to compare a forked one with");
        return;
    }
    double patience = 20 * forks->fastest[PCT_FORKING_EXEC] + START_SECONDS;
    forks->state = PCT_FORKING_TIME;
    if (pct_process_start(&again, launch, first->token, &first->extras, first->cpu, true)) {
        never(launch, "a forked run could not be started");
        return;
    }
    int signal = pct_launch_wait(launch, &again, 1, pct_cli_now() + patience, &ended);
    if (signal)
        kill(getpid(), signal); /* for whoever waits next */
    if (ended < 0)
        pct_process_kill(&again, SIGKILL);
    pct_process_result(&again, &forked);
    if (!again.forked && forks->state != PCT_FORKING_NO)
        never(launch, "a fork server of the target forks no run");
    else if (ended < 0 && signal)
        never(launch, ""); /* likewise */
    else if (ended < 0)
        never(launch, "the first run did not end when it was forked");
    else if (again.forked && (first->status != again.status || !is_same(result, &forked)))
        never(launch, "the first run went another way when it was forked");
    else if (again.forked && (launch->restore.wanted /* which few are forked for */ ||
                              forks->fastest[PCT_FORKING_FORK] < much * forks->fastest[PCT_FORKING_EXEC]))
        forks->state = PCT_FORKING_YES;
    pct_result_close(&forked);
    pct_process_close(&again);
    if (forks->state == PCT_FORKING_NO)
        pct_forkservers_end(launch);
}
