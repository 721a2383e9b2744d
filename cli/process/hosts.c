/* Hosts: see hosts.h. */
#include "hosts.h"
#include "host_ring.h"
#include "hosts_print.h"
#include "launch.h"
#include "supervise.h"
#include <cli/base/cli.h>
#include <common/exploration.h>
#include <errno.h>
#include <fcntl.h>
#include <pct/random.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    FIRST = 3,       /* restored runs that are all made again, */
    ONE_IN = 256,    /* and of the later ones */
    FRUITLESS = 3,   /* hosts that have ended in their first run: there is no use in more, */
    ENDED = 8,       /* nor if this many have ended, */
    ONE_OF = 4,      /* and one for this many restored runs: a new one costs more than to fork a run */
    PAUSE = 4000000, /* ns: runs that take less together are over before they are looked at */
    DIGESTED = 1 << 20
};

static struct pct_host *host_of(const struct pct_launch *launch, unsigned worker)
{
    return launch->restore.hosts && worker < PCT_FORKSERVERS ? &launch->restore.hosts[worker] : NULL;
}

bool pct_hosts_has(const struct pct_launch *launch, pid_t pid)
{
    for (unsigned i = 0; launch->restore.hosts && i < PCT_FORKSERVERS; i++)
        if (launch->restore.hosts[i].pid == pid)
            return true;
    return false;
}

pid_t pct_hosts_server(const struct pct_launch *launch, unsigned worker)
{
    const struct pct_host *host = host_of(launch, worker);
    return host && host->pid ? host->pid : launch->forks.servers[worker].pid;
}

/* Forget this one, whose process has ended. */
static void forget(struct pct_host *host)
{
    if (host->socket > 0)
        close(host->socket);
    pct_host_ring_close(host->ring);
    for (unsigned i = 0; i < PCT_HOST_SLOTS; i++)
        free(host->slots[i].trace);
    *host = (struct pct_host){ .pid = 0 };
}

/* The host of a run in it, which may have ended; NULL: it has, and was forgotten. */
static struct pct_host *host_with(const struct pct_launch *launch, const struct pct_process *process)
{
    struct pct_host *host = host_of(launch, process->worker);
    return host && host->number && host->number == process->host_number ? host : NULL;
}

static void end_one(struct pct_host *host)
{
    if (host->pid) {
        kill(-host->pid, SIGKILL);
        kill(host->pid, SIGKILL);
        while (waitpid(host->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    forget(host);
}

/* It is asked for no more: it ends now, or with the run under way, whose end is that run's to tell. */
static void retire(struct pct_host *host)
{
    if (host->over == host->asked)
        end_one(host);
    else
        host->spoiled = true;
}

void pct_hosts_end(struct pct_launch *launch)
{
    for (unsigned i = 0; launch->restore.hosts && i < PCT_FORKSERVERS; i++)
        end_one(&launch->restore.hosts[i]);
    free(launch->restore.hosts);
    launch->restore.hosts = NULL;
}

static void stop(struct pct_launch *launch, const char *why)
{
    snprintf(launch->restore.why, sizeof launch->restore.why, "%s", why);
}

uint64_t pct_hosts_points(const struct pct_config *config)
{
    const uint32_t numbers[] = { config->memory, config->memory_points, config->races, config->calls };
    XXH3_state_t state;
    if (config->memory == PCT_PATCH_OFF && !config->functions[0])
        return 0;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, numbers, sizeof numbers);
    XXH3_64bits_update(&state, config->modules, strlen(config->modules) + 1);
    XXH3_64bits_update(&state, config->functions, strlen(config->functions) + 1);
    return XXH3_64bits_digest(&state) | 1;
}

/* Why a run like this is none that is restored; PCT_HOST_NONE: it is one. */
static enum pct_host_reason bar(const struct pct_launch *launch, const struct pct_process *process)
{
    const struct pct_setup_teardown *around = &launch->around;
    if (around->scratch || around->setup || around->teardown)
        return PCT_HOST_AROUND;
    if (process->extras.learns)
        return PCT_HOST_LEARNS;
    const bool served = process->worker < PCT_FORKSERVERS;
    const uint64_t points = process->extras.points, ready = served ? launch->forks.servers[process->worker].points : 0;
    return points && ready && points != ready ? PCT_HOST_POINTS : PCT_HOST_NONE;
}

/* Whether this run, which is to be forked, may be restored instead. */
static bool may(const struct pct_launch *launch, const struct pct_process *process)
{
    const struct pct_hosts *all = &launch->restore;
    return all->wanted && all->on && !all->why[0] && launch->forks.state == PCT_FORKING_YES &&
           process->hosting == PCT_HOSTING_NO && process->output >= 0 &&
           (!process->extras.channel || process->extras.log) && process->worker < PCT_FORKSERVERS &&
           !bar(launch, process);
}

void pct_hosts_let(struct pct_launch *launch, bool may)
{
    launch->restore.on = may;
    if (pct_supervised_is_anew())
        stop(launch, pct_hosts_text(PCT_HOST_DIFFERS));
}

int pct_hosts_begin_anew(struct pct_launch *launch)
{
    pct_cli_say("%s: all runs are made again, by fork", launch->restore.why);
    pct_supervised_begin_anew();
    pct_cli_say("there is no process that could do so; --engine=fork");
    return PCT_EXIT_INTERNAL;
}

/* --- Requests ----------------------------------------------------------------------------------------------------- */

/* The slot that has this trace, and with it its output: the two stay together (scratch.c). If none has, it is the one
 * that no run has had for longest, and *files is set. PCT_HOST_SLOTS: none. */
static unsigned choose_slot(struct pct_host *host, const char *trace, bool *files)
{
    unsigned free_one = PCT_HOST_SLOTS;
    *files = false;
    for (unsigned i = 0; i < PCT_HOST_SLOTS; i++) {
        if (host->slots[i].trace && !strcmp(host->slots[i].trace, trace))
            return i;
        if (host->slots[i].over <= host->over &&
            (free_one == PCT_HOST_SLOTS || host->slots[i].over < host->slots[free_one].over))
            free_one = i;
    }
    *files = true;
    if (free_one < PCT_HOST_SLOTS) {
        free(host->slots[free_one].trace);
        host->slots[free_one].trace = strdup(trace);
    }
    return free_one;
}

bool pct_hosts_ask(struct pct_launch *launch, struct pct_process *process)
{
    struct pct_host *host = host_of(launch, process->worker);
    const enum pct_host_reason barred = bar(launch, process);
    bool files;
    if (barred && launch->restore.on) {
        launch->restore.others++;
        launch->restore.others_why = barred;
    }
    if (!may(launch, process) || !host || !host->pid)
        return false;
    const unsigned slot =
        host->cpu == process->cpu && !host->spoiled ? choose_slot(host, process->trace_path, &files) : PCT_HOST_SLOTS;
    process->host_turn = host->asked;
    if (slot == PCT_HOST_SLOTS || !host->slots[slot].trace ||
        !pct_host_ring_ask(host->ring, host->socket, process, slot, files)) {
        retire(host);
        return false;
    }
    process->hosting = PCT_HOSTING_RESTORED;
    process->host_number = host->number;
    host->slots[slot].over = ++host->asked;
    process->queued = process->host_turn > host->over;
    process->pid = process->queued ? 0 : host->pid;
    process->forked = true;
    pct_time_limit_begin(process);
    return true;
}

bool pct_hosts_open(struct pct_launch *launch, struct pct_process *process, int files[2])
{
    struct pct_hosts *all = &launch->restore;
    int ends[2];
    if (!may(launch, process))
        return false;
    if (!all->hosts && !(all->hosts = calloc(PCT_FORKSERVERS, sizeof *all->hosts)))
        return false;
    struct pct_host *host = host_of(launch, process->worker);
    if (host->socket > 0) /* that of another run is about to be */
        return false;
    struct pct_host_ring *ring = pct_host_ring_make(&files[1]);
    if (!ring)
        return false;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
        pct_host_ring_close(ring);
        close(files[1]);
        return false;
    }
    /* What it says comes with a signal, like the end of any process. */
    fcntl(ends[0], F_SETOWN, getpid());
    fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK);
    *host = (struct pct_host){ .socket = ends[0],
                               .ring = ring,
                               .cpu = process->cpu,
                               .contexts = !all->kernel_threads,
                               .slots = { { strdup(process->trace_path), 1 } },
                               .number = ++all->opened,
                               .asked = 1 };
    process->hosting = PCT_HOSTING_FIRST;
    process->host_number = host->number;
    process->host_turn = 0;
    files[0] = ends[1];
    return true;
}

void pct_hosts_began(struct pct_launch *launch, struct pct_process *process)
{
    struct pct_host *host = host_with(launch, process);
    if (process->hosting != PCT_HOSTING_FIRST)
        return;
    if (host)
        host->pid = process->pid;
    else
        process->hosting = PCT_HOSTING_NO; /* meanwhile all were ended */
}

/* --- Ends --------------------------------------------------------------------------------------------------------- */

static enum pct_host_reason is_refused(int status)
{
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS ? PCT_HOST_CALL : PCT_HOST_NONE;
}

/* Of a process that has said nothing, in the run or between two: nobody sends these. SIGBUS comes where a file has no
 * room. */
static bool has_crashed(int status)
{
    const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return signal == SIGSEGV || signal == SIGILL || signal == SIGFPE;
}

/* As the kernel would tell it. */
static int status_of(const struct pct_host_reply *reply)
{
    return reply->status < 0 ? W_EXITCODE(0, -reply->status) : W_EXITCODE(reply->status & 0xff, 0);
}

/* What the host has said of its end, if it has. */
static void hear(const struct pct_host *host, struct pct_process *process)
{
    struct pct_host_reply reply;
    for (ssize_t got; (got = recv(host->socket, &reply, sizeof reply, MSG_DONTWAIT)) > 0;)
        if (got == sizeof reply && reply.version == PCT_HOST_VERSION && !process->host_said) {
            process->host_reply = reply;
            process->host_said = true;
        }
}

bool pct_hosts_run(const struct pct_process *process)
{
    return process->hosting == PCT_HOSTING_FIRST || process->hosting == PCT_HOSTING_RESTORED;
}

bool pct_hosts_whole(const struct pct_process *process)
{
    return process->hosting == PCT_HOSTING_RESTORED && process->host_said && !process->host_reply.reason;
}

unsigned pct_hosts_queue(const struct pct_launch *launch, unsigned worker)
{
    const struct pct_host *host = host_of(launch, worker);
    const bool can = launch->restore.on && !launch->restore.why[0] && host && host->pid && host->over && !host->spoiled;
    return can ? PCT_HOST_QUEUE - 1 : 0;
}

bool pct_hosts_waits(struct pct_launch *launch, struct pct_process *process)
{
    const struct pct_host *host = process->queued ? host_with(launch, process) : NULL;
    if (!host || process->host_turn != host->over)
        return process->queued;
    process->queued = false;
    process->pid = host->pid;
    process->started = host->told ? (double)host->told / 1e9 : pct_cli_now();
    pct_time_limit_begin(process);
    return false;
}

bool pct_hosts_lost(const struct pct_launch *launch, const struct pct_process *process)
{
    return pct_hosts_run(process) && process->forked && (process->queued || process->pid) &&
           !host_with(launch, process);
}

/* Its first run may be over before the fork server has told us which process it is; what it says would then be taken
 * for this run's once more. */
static bool is_due(const struct pct_host *host, const struct pct_process *process)
{
    return pct_hosts_run(process) && host && process->pid && host->pid == process->pid &&
           host->over == process->host_turn;
}

bool pct_hosts_let_begin(const struct pct_launch *launch, const struct pct_process *process,
                         const struct pct_process *processes, int count)
{
    if (pct_hosts_queue(launch, process->worker))
        return true;
    for (int i = 0; i < count; i++) {
        const struct pct_process *other = &processes[i];
        const bool goes_on = other->pid || other->asked || other->postponed > 0;
        if (other->running && other != process && other->worker == process->worker &&
            (goes_on || (pct_hosts_lost(launch, other) && other->index < process->index)))
            return false;
    }
    return true;
}

bool pct_hosts_over(struct pct_launch *launch, struct pct_process *process)
{
    struct pct_host *host = host_with(launch, process);
    if (!is_due(host, process))
        return false;
    const int over = pct_host_ring_over(host->ring, host->over, &process->host_reply);
    if (over <= 0)
        hear(host, process);
    if (over < 0)
        kill(host->pid, SIGKILL); /* its end is this run's */
    if (over <= 0)
        return false;
    process->host_said = true;
    process->status = status_of(&process->host_reply);
    process->ended = (double)process->host_reply.time / 1e9;
    host->taken = process->host_reply.time - host->told;
    host->told = process->host_reply.time;
    host->over++;
    if (host->spoiled)
        end_one(host);
    return true;
}

/* Of short runs half of those that are left, so that neither side waits for the other. */
static uint64_t count_awaited(const struct pct_host *host)
{
    const uint64_t half = (host->asked - host->over + 1) / 2;
    if (host->spoiled || half * host->taken <= PAUSE)
        return host->spoiled ? 1 : half;
    return host->taken < PAUSE ? PAUSE / host->taken : 1;
}

bool pct_hosts_await(struct pct_launch *launch, const struct pct_process *processes, int count)
{
    bool sleeps = true;
    for (int i = 0; i < count; i++) {
        struct pct_host *host = host_with(launch, &processes[i]);
        if (!processes[i].running || !is_due(host, &processes[i]))
            continue;
        sleeps &= pct_host_ring_await(host->ring, host->over + count_awaited(host));
    }
    return sleeps;
}

void pct_hosts_forget(struct pct_launch *launch, const struct pct_process *process)
{
    struct pct_host *host = host_with(launch, process);
    if (host && process->queued)
        host->spoiled = true;
    else if (host && host->pid == process->pid)
        forget(host);
}

/* Whether it is worth it. */
static void judge(struct pct_launch *launch)
{
    const struct pct_hosts *all = &launch->restore;
    const uint64_t ends = all->ended + all->failed;
    if (all->fruitless >= FRUITLESS || (ends >= ENDED && ends * ONE_OF > all->restored))
        stop(launch, all->failed > all->ended ? pct_hosts_text(PCT_HOST_FAILED) : all->ended_why);
}

void pct_hosts_ended(struct pct_launch *launch, struct pct_process *process)
{
    struct pct_hosts *all = &launch->restore;
    struct pct_host *host = host_of(launch, process->worker);
    if (!host || !process->pid || host->pid != process->pid || !pct_hosts_run(process))
        return;
    if (!process->host_said)
        hear(host, process);
    if (!process->host_said) /* a thread that lets no signal in cannot say which call it was */
        process->host_reply = (struct pct_host_reply){ .reason = is_refused(process->status),
                                                       .call = -1,
                                                       .status = -WTERMSIG(process->status) };
    process->host_ended = true;
    const bool contexts = host->contexts;
    forget(host);
    bool first = process->hosting == PCT_HOSTING_FIRST, failed = process->host_reply.reason == PCT_HOST_FAILED;
    /* Later ones keep kernel threads: one that said nothing may be for that, too. */
    if (contexts && (process->host_reply.reason == PCT_HOST_CONTEXT || !process->host_said)) {
        all->kernel_threads = true;
        return;
    }
    if (failed)
        all->failed++;
    else {
        all->ended++;
        pct_hosts_describe(all->ended_why, sizeof all->ended_why, &process->host_reply);
    }
    all->fruitless = !first ? 0 : all->fruitless + (!failed && process->host_reply.reason != PCT_HOST_WATCHDOG);
    judge(launch);
}

/* Of what was written, as far as it is compared; of an explored run also the log. */
static uint64_t digest(const struct pct_process *process)
{
    struct pct_channel *log = process->extras.log;
    char buffer[4096];
    XXH3_state_t state;
    ssize_t got;
    XXH3_64bits_reset(&state);
    for (off_t at = 0; at < DIGESTED && (got = pread(process->output, buffer, sizeof buffer, at)) > 0; at += got)
        XXH3_64bits_update(&state, buffer, (size_t)got);
    if (log)
        XXH3_64bits_update(&state, pct_channel_log(log),
                           (log->log_count < log->log_max ? log->log_count : log->log_max) *
                               sizeof(struct pct_log_entry));
    return XXH3_64bits_digest(&state);
}

/* How a run ended, as its host or the kernel says. */
static uint64_t ending(int status, uint64_t number)
{
    return number | (uint64_t)(WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status)) << 32;
}

/* How many explored runs have failed like this one, as far as can be seen here. 0: it is the first, or nobody knows. */
static uint64_t count_failed(struct pct_hosts *all, const struct pct_process *process)
{
    struct pct_trace_header header;
    if (pread(process->trace, &header, sizeof header, 0) != sizeof header)
        return 0;
    header.message[sizeof header.message - 1] = 0;
    const uint64_t kind = XXH3_64bits_withSeed(header.message, strlen(header.message),
                                               ending(process->status, process->host_reply.verdict)) |
                          1;
    for (unsigned i = 0; i < sizeof all->kinds / sizeof *all->kinds; i++) {
        if (!all->kinds[i].kind)
            all->kinds[i].kind = kind;
        if (all->kinds[i].kind == kind)
            return all->kinds[i].count++;
    }
    return 0;
}

bool pct_hosts_again(struct pct_launch *launch, struct pct_process *process, bool *exec)
{
    static const bool counting[] = {
#define COUNTS(id, counts, text) counts,
        PCT_HOST_REASONS(COUNTS)
#undef COUNTS
    };
    struct pct_hosts *all = &launch->restore;
    const struct pct_host_reply *reply = &process->host_reply;
    bool restored = process->hosting == PCT_HOSTING_RESTORED, tried = process->extras.channel || all->tries;
    bool counts = process->host_said && reply->reason < PCT_HOST_REASON_COUNT && counting[reply->reason];
    /* As it was told to us, or as the kernel says. */
    bool well = counts && WIFEXITED(process->status) && !WEXITSTATUS(process->status);
    process->host_restored = restored;
    counts |= process->host_said && reply->reason == PCT_HOST_FAILED;
    /* What exploration finds, and a search, is made again by exec in any case, from its token. */
    bool whole = well || (tried && pct_hosts_whole(process));
    const uint64_t failed = whole && !well ? count_failed(all, process) : FIRST;
    *exec = !failed || (!whole && (counts || !process->host_said));
    all->restored += restored && counts;
    const bool branched = restored && counts && reply->from;
    all->branched += branched;
    /* That its host goes on does not make up for the run by exec. */
    if (!whole && pct_hosts_whole(process) && reply->verdict != PCT_VERDICT_EXIT) {
        all->failed++;
        judge(launch);
    }
    if (!whole)
        return true;
    if (!restored)
        return false;
    if (failed >= FIRST && all->restored > FIRST && (!branched || all->branched > FIRST) &&
        pct_random(all->restored, 0, 0) % ONE_IN) {
        all->unchecked++;
        if (tried) /* its token does not name all of it, or nobody asks */
            return false;
        all->last.reply = *reply;
        all->last.digest = digest(process);
        memcpy(all->last.token, process->token, sizeof all->last.token);
        return false;
    }
    return true;
}

static void differs(struct pct_launch *launch)
{
    stop(launch, pct_hosts_text(PCT_HOST_DIFFERS));
    pct_hosts_end(launch);
    launch->restore.broken |= launch->restore.unchecked != 0;
}

void pct_hosts_compare(struct pct_launch *launch, struct pct_process *process)
{
    struct pct_hosts *all = &launch->restore;
    const struct pct_host_reply *a = &process->host_reply;
    struct pct_trace_header b;
    bool failed = a->reason == PCT_HOST_FAILED;
    if (!process->host_restored || process->timed_out || (a->reason && !failed))
        return; /* there is nothing to compare it with */
    if (!process->host_said) {
        if (has_crashed(status_of(a)) && ending(process->status, 0) != ending(status_of(a), 0))
            differs(launch);
        return;
    }
    if (pread(process->trace, &b, sizeof b, 0) != sizeof b)
        memset(&b, 0, sizeof b);
    /* By exec, memory may stand elsewhere, and the log says where. */
    const bool digests = process->forked || !process->extras.log;
    bool same = a->verdict == b.verdict && a->hash == b.hash && a->steps == b.steps && a->threads == b.threads &&
                (failed || ending(process->status, 0) == ending(status_of(a), 0)) &&
                (failed || !digests || process->host_digest == digest(process));
    if (same) {
        all->compared++;
        return;
    }
    differs(launch);
}

const char *pct_hosts_last(const struct pct_launch *launch)
{
    return *launch->restore.last.token ? launch->restore.last.token : NULL;
}

void pct_hosts_compare_last(struct pct_launch *launch, struct pct_process *process)
{
    process->host_restored = process->host_said = true;
    process->host_reply = launch->restore.last.reply;
    process->host_digest = launch->restore.last.digest;
    pct_hosts_compare(launch, process);
}

void pct_hosts_remember(struct pct_process *process)
{
    process->host_digest = digest(process);
}
