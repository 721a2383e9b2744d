/* How a run ended: from the trace's header, which the shim wrote, and the status that the kernel gave. They are asked
 * together because either can be silent: a killed process wrote nothing, and a deadlock is a plain exit to the kernel.
 */
#include "child_failures.h"
#include "hosts.h"
#include "launch.h"
#include <cli/base/cli.h>
#include <common/config.h>
#include <pct/strategy.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

const char *pct_ending_name(enum pct_ending ending)
{
    static const char *const names[PCT_ENDING_COUNT] = {
        [PCT_ENDING_EXIT] = "exit status",
        [PCT_ENDING_CRASH] = "crash",
        [PCT_ENDING_ASSERTION] = "assertion",
        [PCT_ENDING_DEADLOCK] = "deadlock",
        [PCT_ENDING_LIVELOCK] = "livelock",
        [PCT_ENDING_DIVERGENCE] = "divergence",
        [PCT_ENDING_INTERNAL] = "internal error",
        [PCT_ENDING_KILLED] = "killed",
        [PCT_ENDING_TIMEOUT] = "timeout",
        [PCT_ENDING_NOT_CONTROLLED] = "not controlled",
        [PCT_ENDING_RACE] = "data race",
        [PCT_ENDING_NOT_READY] = "not ready",
        [PCT_ENDING_EARLY] = "ended early",
        [PCT_ENDING_NOT_STOPPED] = "not stopped",
        [PCT_ENDING_CLIENT] = "client failed",
        [PCT_ENDING_NO_CLIENT] = "no client",
        [PCT_ENDING_SANITIZER] = "sanitizer report",
        [PCT_ENDING_OUTPUT] = "wrong output",
        [PCT_ENDING_ORACLE] = "oracle",
        [PCT_ENDING_SETUP] = "setup failed",
        [PCT_ENDING_TEARDOWN] = "teardown failed",
        [PCT_ENDING_KILLED_PCT] = "killed pct",
    };
    return names[ending];
}

static void set(struct pct_result *result, enum pct_ending ending, int code)
{
    result->ending = ending;
    result->code = code;
}

/* What the kernel says, where the shim did not say more. */
static void set_from_status(struct pct_result *result, int status, enum pct_ending by_signal)
{
    if (WIFSIGNALED(status))
        set(result, by_signal, 128 + WTERMSIG(status));
    else
        set(result, PCT_ENDING_EXIT, WEXITSTATUS(status));
}

/* The shim was there, but the trace is empty: all that is known is how the target ended. */
static void set_unrecorded(struct pct_result *result, const struct pct_process *process, const char *why)
{
    struct pct_trace_header *header = &result->trace.header;
    int code = WIFEXITED(process->status) ? WEXITSTATUS(process->status) : -1;
    result->state = PCT_TRACE_GOOD;
    result->unrecorded = result->trace.complete = true;
    header->verdict = code == PCT_EXIT_DEADLOCK     ? PCT_VERDICT_DEADLOCK
                      : code == PCT_EXIT_LIVELOCK   ? PCT_VERDICT_LIVELOCK
                      : code == PCT_EXIT_DIVERGENCE ? PCT_VERDICT_DIVERGENCE
                      : code == PCT_EXIT_RACE       ? PCT_VERDICT_RACE
                      : code == PCT_EXIT_INTERNAL   ? PCT_VERDICT_INTERNAL
                      : code < 0                    ? PCT_VERDICT_CRASH
                                                    : PCT_VERDICT_EXIT;
    header->signal = code < 0 ? WTERMSIG(process->status) : 0;
    header->exit_status = code;
    header->culprit = PCT_NO_THREAD;
    snprintf(header->token, sizeof header->token, "%s", process->token);
    struct pct_config config;
    char error[512];
    if (!pct_config_parse_token(&config, process->token, pct_cli_find_strategy, error, sizeof error)) {
        snprintf(header->strategy, sizeof header->strategy, "%.*s", (int)sizeof header->strategy - 1, config.strategy);
        header->seed = config.run.seed;
    }
    snprintf(header->message, sizeof header->message, "%s", why);
}

/* What the shim says; what the kernel says where the shim did not say more. */
static void set_from_verdict(struct pct_result *result, const struct pct_trace_header *header, int status)
{
    switch (header->verdict) {
    case PCT_VERDICT_RUNNING:
        result->unseen = WIFEXITED(status);
        set_from_status(result, status, PCT_ENDING_KILLED);
        break;
    case PCT_VERDICT_EXIT:
        /* A signal after the shim's verdict is a crash all the same. */
        set_from_status(result, status, PCT_ENDING_CRASH);
        break;
    case PCT_VERDICT_CRASH:
    case PCT_VERDICT_ASSERTION: {
        int signal = WIFSIGNALED(status)                         ? WTERMSIG(status)
                     : header->signal > 0 && header->signal < 65 ? header->signal
                                                                 : SIGABRT;
        set(result, header->verdict == PCT_VERDICT_CRASH ? PCT_ENDING_CRASH : PCT_ENDING_ASSERTION, 128 + signal);
        break;
    }
    case PCT_VERDICT_DEADLOCK:
        set(result, PCT_ENDING_DEADLOCK, PCT_EXIT_DEADLOCK);
        break;
    case PCT_VERDICT_LIVELOCK:
        set(result, PCT_ENDING_LIVELOCK, PCT_EXIT_LIVELOCK);
        break;
    case PCT_VERDICT_DIVERGENCE:
        set(result, PCT_ENDING_DIVERGENCE, PCT_EXIT_DIVERGENCE);
        break;
    case PCT_VERDICT_RACE:
        set(result, PCT_ENDING_RACE, PCT_EXIT_RACE);
        break;
    default:
        set(result, PCT_ENDING_INTERNAL, PCT_EXIT_INTERNAL);
    }
}

static void set_from_end(struct pct_process *process, struct pct_result *result)
{
    result->error[0] = result->complaint[0] = 0;
    result->unrecorded = result->unseen = false;
    result->children = result->raced = 0;
    result->state = pct_trace_open_fd(&result->trace, process->trace, result->error, sizeof result->error);
    const struct pct_trace_header *header = &result->trace.header;
    int status = process->status;
    struct stat file;
    if (result->state == PCT_TRACE_EMPTY && !fstat(process->trace, &file) && !file.st_size)
        set_unrecorded(result, process, "no space for the trace: the run was not recorded");
    else if (result->state == PCT_TRACE_EMPTY && process->timed_out &&
             (process->forked || process->index || process->launch->controls || process->preloaded || process->cut))
        /* Earlier runs were under control, or this one was about to be; or it was given less time than runs have. */
        set_unrecorded(result, process, "it ran out of time before its first step");
    else if (result->state != PCT_TRACE_GOOD && process->killed_pct)
        set_unrecorded(result, process, "it has killed pct before its first step");
    if (process->killed_pct) {
        set(result, PCT_ENDING_KILLED_PCT, 128 + process->killed_pct);
        return;
    }
    if (process->unstarted) {
        set(result, PCT_ENDING_INTERNAL, PCT_EXIT_INTERNAL);
        return;
    }
    if (result->state == PCT_TRACE_EMPTY && process->launch->controls && WIFSIGNALED(status) &&
        WTERMSIG(status) == SIGKILL) {
        /* Earlier runs were under control, and none ends by itself in this way. */
        set_unrecorded(result, process, "it was killed before its first step");
        set_from_status(result, status, PCT_ENDING_KILLED);
        return;
    }
    if (result->state == PCT_TRACE_EMPTY) {
        /* The shim came up but refused: the same status as for bad usage, and it left its reason in the header. */
        if (WIFEXITED(status) && (header->message[0] || WEXITSTATUS(status) == PCT_EXIT_INTERNAL))
            set(result, PCT_ENDING_INTERNAL, WEXITSTATUS(status));
        else
            set(result, PCT_ENDING_NOT_CONTROLLED, PCT_EXIT_NOT_CONTROLLED);
        return;
    }
    if (process->timed_out) {
        set(result, PCT_ENDING_TIMEOUT, PCT_EXIT_TIMEOUT);
        return;
    }
    set_from_verdict(result, header, status);
}

/* A child that pct ended (or that crashed, if that counts) has failed for the whole run, unless the run has a failure
 * of its own. Where pct itself failed in one, what others made of that is no failure of theirs. */
static void set_from_children(const struct pct_process *process, struct pct_result *result)
{
    if (process->childless)
        return;
    result->children = pct_children_find(process->trace_path, process->children, &result->child, &result->raced);
    bool own = result->ending != PCT_ENDING_EXIT && result->ending < PCT_ENDING_NOT_READY;
    if (result->children && (!own || result->child.header.verdict == PCT_VERDICT_INTERNAL))
        set_from_verdict(result, &result->child.header, W_EXITCODE(PCT_EXIT_INTERNAL, 0));
}

void pct_process_result(struct pct_process *process, struct pct_result *result)
{
    set_from_end(process, result);
    process->launch->controls |= result->state == PCT_TRACE_GOOD && !result->unrecorded;
    const struct pct_trace_header *header = &result->trace.header;
    /* A run that was killed has counted nothing. */
    process->childless = result->state == PCT_TRACE_GOOD && !result->unrecorded &&
                         header->verdict != PCT_VERDICT_RUNNING && !header->uncontrolled[PCT_UNCONTROLLED_CHILD];
    process->clean = process->childless && (pct_hosts_whole(process) ||
                                            (result->ending == PCT_ENDING_EXIT && header->verdict == PCT_VERDICT_EXIT));
    if (process->trouble != PCT_PHASE_RUN) {
        set(result, process->trouble == PCT_PHASE_SETUP ? PCT_ENDING_SETUP : PCT_ENDING_TEARDOWN, PCT_EXIT_INTERNAL);
        process->clean = false;
        return;
    }
    if (process->driven && result->state == PCT_TRACE_GOOD)
        pct_drive_result(process, result);
    if (result->state == PCT_TRACE_GOOD)
        set_from_children(process, result);
}

bool pct_result_is_whole(const struct pct_result *result)
{
    return !result->unrecorded && !result->unseen && result->trace.complete;
}

bool pct_result_lacks_space(const struct pct_result *result)
{
    return result->unrecorded && result->ending != PCT_ENDING_TIMEOUT && result->ending != PCT_ENDING_KILLED &&
           result->ending != PCT_ENDING_KILLED_PCT;
}

bool pct_result_is_internal(const struct pct_result *result)
{
    return result->ending == PCT_ENDING_INTERNAL && result->state == PCT_TRACE_GOOD && !result->unrecorded;
}

const struct pct_trace *pct_result_raced(const struct pct_result *result)
{
    if (result->trace.header.races || (result->trace.header.possible_races && !result->raced))
        return &result->trace;
    return result->raced ? &result->child : NULL;
}

bool pct_result_child_diverged(const struct pct_result *result)
{
    return result->children && result->child.header.verdict == PCT_VERDICT_DIVERGENCE;
}

bool pct_result_fails(const struct pct_result *result, const bool ok[256])
{
    return result->ending != PCT_ENDING_EXIT || !ok[result->code & 0xff];
}

void pct_result_close(struct pct_result *result)
{
    pct_trace_close(&result->trace);
    if (result->children || result->raced)
        pct_trace_close(&result->child);
    result->children = result->raced = 0;
}
