/* What run and replay print about a run that failed: see outcome.h. */
#include "outcome.h"
#include <cli/base/cli.h>
#include <cli/base/color.h>
#include <cli/binary/controllability.h>
#include <cli/process/options.h>
#include <cli/trace/report.h>
#include <common/config.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

const char *pct_outcome_format(char *buffer, size_t size, const struct pct_process *process,
                               const struct pct_result *result)
{
    const char *name = pct_ending_name(result->ending);
    char client[96];
    switch (result->ending) {
    case PCT_ENDING_EXIT:
        snprintf(buffer, size, "%s %d", name, result->code);
        break;
    case PCT_ENDING_CRASH:
    case PCT_ENDING_KILLED:
    case PCT_ENDING_KILLED_PCT:
        snprintf(buffer, size, "%s by signal %d (%s)", name, result->code - 128,
                 sigdescr_np(result->code - 128) ? sigdescr_np(result->code - 128) : "unknown");
        break;
    default:
        snprintf(buffer, size, "%s", name);
    }
    if (result->children) {
        size_t length = strlen(buffer);
        snprintf(buffer + length, size - length, " in a child process");
    }
    if (process->driven) {
        size_t length = strlen(buffer);
        snprintf(buffer + length, size - length, "%s%s", result->ending == PCT_ENDING_CLIENT ? ": " : "; client: ",
                 pct_drive_format_client(client, sizeof client, process));
    }
    return buffer;
}

/* In a report: no terminal, nor the log of a CI, shall obey it. False: it is empty. */
static bool quote(int output)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    bool some = out && pct_output_copy(output, out);
    if (out && !fclose(out) && some) {
        for (char *zero = text; (zero = memchr(zero, 0, size - (size_t)(zero - text)));)
            *zero = '?';
        pct_cli_print_lines(stdout, text, 0);
    }
    free(text);
    return some;
}

/* Without a heading it stands for itself, as it is without pct. */
static void show(const char *who, int output)
{
    if (output < 0)
        return;
    if (who)
        pct_cli_say("what the %s wrote:", who);
    if (!who)
        pct_output_copy(output, stdout);
    else if (!quote(output))
        fputs("(nothing)\n", stderr);
    fflush(stdout);
}

void pct_outcome_show_output(const struct pct_process *process, bool heading)
{
    const struct pct_driven *driven = process->driven;
    fflush(stderr);
    if (!driven) {
        show(heading ? "target" : NULL, process->output);
    } else if (!driven->pass) {
        show("server", process->output);
        if (driven->phase != PCT_DRIVE_STARTING)
            show("client", driven->output);
    }
}

#define FILTER                                                                                                         \
    ", by a filter of system calls (seccomp), perhaps for a call of pct's own: docs/SANDBOX.md says which it must "    \
    "let pass"

/* A SIGSYS that was sent is recorded; that of a filter which kills, no handler gets. */
static bool is_ended_by_filter(const struct pct_process *process)
{
    return WIFSIGNALED(process->status) && WTERMSIG(process->status) == SIGSYS;
}

bool pct_outcome_headline(char *buffer, size_t size, const struct pct_process *process, const struct pct_result *result)
{
    char ending[256];
    if (process->driven && pct_drive_format(buffer, size, process, result))
        return true;
    pct_outcome_format(ending, sizeof ending, process, result);
    if (result->ending == PCT_ENDING_TIMEOUT)
        snprintf(buffer, size, "timeout: killed after %g s of real time%s", process->allowed,
                 process->cut ? ", which is far longer than other runs took" : "");
    else if (result->ending == PCT_ENDING_KILLED_PCT)
        snprintf(buffer, size, "%s: three times in a row, while no other run was under way", ending);
    else if (result->trace.header.verdict == PCT_VERDICT_RUNNING)
        snprintf(buffer, size, "the target ended before pct could record how: %s%s", ending,
                 is_ended_by_filter(process) ? FILTER : "");
    else if (result->trace.header.verdict == PCT_VERDICT_EXIT)
        /* The kernel's word counts: the target may have crashed after it had begun to end. */
        snprintf(buffer, size, "the target ended with %s", ending);
    else
        return false;
    return true;
}

/* The file is not the target's. */
static bool is_cut_by_file(const struct pct_process *process)
{
    return process->output >= 0 && WIFSIGNALED(process->status) && WTERMSIG(process->status) == SIGXFSZ;
}

void pct_outcome_write_report(FILE *out, const struct pct_process *process, const struct pct_result *result)
{
    char headline[512];
    if (result->children) {
        const struct pct_trace_header *child = &result->child.header;
        fprintf(out, "%u child process%s of the run failed; process %d of", result->children,
                result->children > 1 ? "es" : "", child->pid);
        fputc(' ', out);
        pct_cli_print_clean(out, child->command, sizeof child->command);
        fputs(":\n", out);
        pct_report_print(out, &result->child, NULL, PCT_REPORT_LINES);
        fputs("the first process of the run:\n", out);
        pct_report_print(out, &result->trace, NULL, 0);
        return;
    }
    bool own = pct_outcome_headline(headline, sizeof headline, process, result);
    if (is_cut_by_file(process))
        fputs("perhaps no failure of the target: of several runs its output goes to a file, for which its own limit "
              "holds (RLIMIT_FSIZE); that of a single one, without -n, does not\n",
              out);
    pct_report_print(out, &result->trace, own ? headline : NULL, PCT_REPORT_LINES);
    if (result->ending == PCT_ENDING_TIMEOUT && process->waited >= process->allowed / 2)
        fprintf(out, "the machine was busy: the run's threads, taken together, waited %.3g s for a CPU\n",
                process->waited);
    if (result->ending == PCT_ENDING_TIMEOUT)
        pct_cli_print_lines(out, process->children_did, 0);
}

void pct_outcome_report(const struct pct_process *process, const struct pct_result *result)
{
    pct_outcome_write_report(stderr, process, result);
}

void pct_outcome_report_briefly(const struct pct_process *process, const struct pct_result *result)
{
    char headline[512];
    bool own = pct_outcome_headline(headline, sizeof headline, process, result);
    pct_report_print_ending(stderr, &result->trace, own ? headline : NULL);
}

void pct_outcome_write_replay(FILE *out, const struct pct_launch *launch, const struct pct_process *process,
                              const struct pct_result *result, const char *token)
{
    fputs("replay ", out);
    pct_options_print(out, launch, process, result->ending == PCT_ENDING_TIMEOUT);
    pct_cli_print_quoted(out, token);
    fputs(" -- ", out);
    pct_cli_print_command(out, process->command);
}

void pct_outcome_print_replay(const struct pct_launch *launch, const struct pct_process *process,
                              const struct pct_result *result)
{
    pct_outcome_print_replay_of(launch, process, result, result->trace.header.token);
}

void pct_outcome_print_replay_of(const struct pct_launch *launch, const struct pct_process *process,
                                 const struct pct_result *result, const char *token)
{
    const struct pct_trace_header *header = &result->trace.header;
    if (!strcmp(header->strategy, "none"))
        pct_cli_say("strategy none leaves the order to the operating system: a replay need not do the same");
    else if (header->verdict == PCT_VERDICT_RUNNING)
        pct_cli_say("the token has no hash, as the target ended where pct does not see it: a replay cannot say whether "
                    "it did the same");
    if (launch->input_kept)
        pct_cli_say("its standard input came by a pipe: give the replay the same");
    if (launch->arguments_kept)
        pct_cli_say("an argument names a pipe: give the replay the same");
    fputs("pct: this replays it:\n", stderr);
    pct_color(stderr, PCT_COLOR_COMMAND);
    pct_cli_print_quoted(stderr, pct_cli_program);
    fputc(' ', stderr);
    pct_outcome_write_replay(stderr, launch, process, result, token);
    pct_color(stderr, PCT_COLOR_NONE);
    fputc('\n', stderr);
}

/* A trap that pct makes (int3, watchpoints) has met a thread that blocks SIGTRAP, or a process that has no handler for
 * it, past the shim: the kernel kills, and no handler gets it. The target's own SIGTRAP is recorded. */
static bool is_killed_by_trap(const struct pct_result *result)
{
    const struct pct_trace_header *header = &result->trace.header;
    struct pct_config config;
    char error[512];
    return result->ending == PCT_ENDING_KILLED && result->code == 128 + SIGTRAP &&
           header->verdict == PCT_VERDICT_RUNNING &&
           !pct_config_parse_token(&config, header->token, pct_cli_find_strategy, error, sizeof error) &&
           (pct_config_traps(&config) || config.watch[0]);
}

bool pct_outcome_is_void(const struct pct_result *result)
{
    return result->state != PCT_TRACE_GOOD || result->ending == PCT_ENDING_NO_CLIENT ||
           result->ending == PCT_ENDING_SETUP || result->ending == PCT_ENDING_TEARDOWN || is_killed_by_trap(result);
}

int pct_outcome_explain(const struct pct_launch *launch, const struct pct_process *process,
                        const struct pct_result *result)
{
    if (process->unstarted)
        return PCT_EXIT_INTERNAL;
    pct_outcome_show_output(process, false);
    if (result->ending == PCT_ENDING_SETUP || result->ending == PCT_ENDING_TEARDOWN) {
        bool setup = result->ending == PCT_ENDING_SETUP;
        int status = process->errand_status;
        pct_cli_say("the command of %s failed (%s %d): %s", setup ? "--setup" : "--teardown",
                    WIFSIGNALED(status) ? "signal" : "status",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                    setup ? launch->around.setup : launch->around.teardown);
        return result->code;
    }
    if (result->ending == PCT_ENDING_NO_CLIENT) {
        pct_cli_say("the client could not be run (the shell's status is %d): %s", result->code,
                    process->driven->client);
        return result->code;
    }
    if (is_killed_by_trap(result)) {
        pct_cli_say(
            "no failure of the program: SIGTRAP was blocked at a scheduling point by an int3 or a watchpoint, by "
            "a signal mask that pct did not see (a system call without libc) or since one is pending; leave "
            "that code out (--memory-modules), or take --memory=globals or pct-cc");
        return PCT_EXIT_INTERNAL;
    }
    if (pct_result_is_internal(result)) {
        pct_outcome_report(process, result);
        pct_cli_say("no failure of the program: pct could not go on, so no further runs are made");
        pct_outcome_print_replay(launch, process, result);
        return PCT_EXIT_INTERNAL;
    }
    if (result->ending != PCT_ENDING_NOT_CONTROLLED) {
        pct_cli_say("%s", result->state == PCT_TRACE_EMPTY ? result->trace.header.message : result->error);
        return result->code ? result->code : PCT_EXIT_INTERNAL;
    }
    bool explained = pct_controllability_explain(launch->program);
    /* The shim ends a target with this status, after a message, when it does not like what it was told. */
    if (!explained && WIFEXITED(process->status) && WEXITSTATUS(process->status) == PCT_EXIT_USAGE) {
        pct_cli_say("%s did not start under control, or ended with status %d before pct came up", launch->command[0],
                    PCT_EXIT_USAGE);
        return PCT_EXIT_USAGE;
    }
    if (!explained && WIFSIGNALED(process->status)) {
        const char *name = sigdescr_np(WTERMSIG(process->status));
        pct_cli_say("%s did not start under control, or was ended by signal %d (%s) before pct came up",
                    launch->command[0], WTERMSIG(process->status), name ? name : "unknown");
        return PCT_EXIT_NOT_CONTROLLED;
    }
    pct_cli_say("%s was not controlled%s", launch->command[0],
                explained ? "" : ": libpct.so was not preloaded into it; `pct doctor` may tell more");
    return PCT_EXIT_NOT_CONTROLLED;
}
