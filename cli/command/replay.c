/* `pct replay`: repeat the run that a token or a trace names, and say whether it was the same run. */
#include <cli/analyze/program_changed.h>
#include "external_checker.h"
#include <cli/base/cli.h>
#include <cli/base/list.h>
#include "debug.h"
#include <cli/process/environment.h>
#include <cli/binary/locate.h>
#include <cli/process/options.h>
#include <cli/process/settings.h>
#include <cli/process/learned_sites.h>
#include <cli/campaign/engine.h>
#include <cli/campaign/outcome.h>
#include "parse.h"
#include <cli/trace/report.h>
#include <cli/trace/schedule.h>
#include <cli/trace/schedule_file.h>
#include <cli/binary/scope.h>
#include <strategies/strategies.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_GDB = 2000, KEY_LLDB, KEY_WITH, KEY_RR };

static const struct argp_option options[] = {
    { "runs", 'n', "N", 0, "replay N times, and count how many were identical (default: 1)", 1 },
    { "trace", 't', "FILE", 0, "keep the trace of the first replay", 1 },
    { "quiet", 'q', NULL, 0, "no report: say only whether the replay was identical", 1 },
    { "gdb", KEY_GDB, "ARGUMENTS", OPTION_ARG_OPTIONAL,
      "replay under gdb, with commands that go through the schedule (`help pct` there); ARGUMENTS are further ones for "
      "gdb",
      2 },
    { "lldb", KEY_LLDB, "ARGUMENTS", OPTION_ARG_OPTIONAL, "the same under lldb", 2 },
    { "with", KEY_WITH, "COMMAND", 0, "put this before the target: 'valgrind -q', for instance", 2 },
    { "rr", KEY_RR, NULL, 0, "record the replay with rr, where rr works", 2 },
    { 0 },
};

struct replay {
    struct pct_run_source source; /* the first member */
    struct pct_launch launch;
    const char *name; /* the token or the file, as given */
    const char *keep;
    uint64_t runs;
    bool quiet;
    const char *debugger;           /* the option: "--gdb", "--lldb" or NULL */
    int debugger_key;               /* its key */
    const char *debugger_arguments; /* or NULL */
    const char *with;               /* or NULL */
    struct pct_config config;
    char token[PCT_TOKEN_MAX]; /* without the hash: what the target gets, as in the run that is repeated */
    char file[PATH_MAX];       /* the trace to follow, or "" */
    char *list;                /* the strategy's, if that is not in the token; to be freed */
    bool is_schedule;          /* the file is the text of `pct minimize` */
    bool has_hash;
    uint64_t hash; /* the one to compare with */
    uint64_t begun, done, identical;
    int code; /* of the first replay */
};

static const char nothing_given[] = "no token and no trace is given: pct replay TOKEN -- COMMAND [ARGUMENT...]";

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct replay *r = state->input;
    const struct pct_setting settings[] = {
        { ARGP_KEY_INIT, .inputs = (void *[]){ &r->launch, NULL } },
        { 'n', .number = &r->runs, .least = 1, .most = UINT64_MAX },
        { 't', .text = &r->keep },
        { 'q', .on = &r->quiet },
        { KEY_WITH, .text = &r->with },
        { ARGP_KEY_END, .text = &r->name, .missing = nothing_given },
        { 0 },
    };
    if (pct_settings_take(settings, options, key, argument, state))
        return 0;
    switch (key) {
    case KEY_GDB:
    case KEY_LLDB:
        if (r->debugger && r->debugger_key != key)
            argp_error(state, "--gdb and --lldb exclude each other; give one");
        r->debugger = key == KEY_GDB ? "--gdb" : "--lldb";
        r->debugger_key = key;
        r->debugger_arguments = argument;
        return 0;
    case KEY_RR:
        r->with = "rr record";
        return 0;
    case ARGP_KEY_ARG:
        if (!r->name && pct_options_is_left_out(state, argument))
            argp_error(state, "%s", nothing_given);
        if (!r->name) {
            r->name = argument;
            return 0;
        }
        pct_options_take_command(state, &r->launch);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "TOKEN|FILE [--] COMMAND [ARGUMENT...]",
    .doc = "Repeat the run that a token names, or follow the schedule in a file (a trace, or what `pct minimize -o` "
           "wrote), and "
           "say whether it was the same run.\vThe exit status is that of the run, as for `pct run`; 122 if the replay "
           "was not identical.",
    .children = pct_options_launch,
};

/* The token of the file, a schedule or a trace, and its hash. */
static int read_file(struct replay *r, char *token, size_t size)
{
    static struct pct_trace trace;
    char error[512];
    if (pct_schedule_file_is(r->name)) {
        r->is_schedule = true;
        return pct_schedule_file_read(r->name, token, &r->list, error, sizeof error)
                   ? pct_cli_usage("%s: %s", r->name, error)
                   : 0;
    }
    if (pct_trace_open(&trace, r->name, error, sizeof error) != PCT_TRACE_GOOD)
        return pct_cli_usage("%s: %s", r->name, error);
    if (pct_report_several(stderr, &trace, &r->list))
        return PCT_EXIT_USAGE;
    snprintf(token, size, "%s", trace.header.token);
    if (!r->launch.command) {
        pct_report_ask_command(&trace);
        return PCT_EXIT_USAGE;
    }
    if (!trace.complete)
        pct_cli_say("only the first %llu of %llu steps are in this trace: the replay will leave it there",
                    (unsigned long long)trace.count, (unsigned long long)trace.header.steps);
    r->has_hash =
        trace.complete && trace.header.verdict != PCT_VERDICT_RUNNING && trace.header.verdict != PCT_VERDICT_TIMEOUT;
    r->hash = trace.header.hash;
    pct_trace_close(&trace);
    if (!realpath(r->name, r->file))
        return pct_cli_usage("%s: %s", r->name, strerror(errno));
    r->launch.replay = r->list ? NULL : r->file;
    return 0;
}

/* Of a script's trace that says what several processes did: the run is theirs, not the script's. */
static void take_orders(struct pct_config *config)
{
    snprintf(config->strategy, sizeof config->strategy, "%s", pct_strategy_processes.name);
    config->given = 0;
}

/* The list, in the configuration if it fits. */
static void take_list(struct replay *r, const struct pct_strategy *strategy)
{
    if (!pct_list_take(&r->config, strategy, r->list))
        return;
    free(r->list);
    r->list = NULL;
}

/* The configuration that the token, trace or schedule names, and what of its run is compared. */
static int read_named(struct replay *r)
{
    char token[PCT_TOKEN_MAX] = "", error[512];
    bool is_file;
    int failed = pct_locate_named(r->name, &is_file);
    if (failed)
        return failed;
    if (is_file)
        failed = read_file(r, token, sizeof token);
    else if (pct_long_token_part(r->name, token, &r->list, error, sizeof error))
        failed = pct_cli_usage("%s", error);
    if (failed)
        return failed;
    if (!r->launch.command)
        return pct_cli_usage("no command is given: pct replay TOKEN -- COMMAND [ARGUMENT...]");
    if (pct_config_parse_token(&r->config, token, pct_cli_find_strategy, error, sizeof error))
        return pct_cli_usage(is_file ? "the token in %2$s: %1$s" : "%s", error, r->name);
    if (is_file && r->list && !r->is_schedule)
        take_orders(&r->config);
    if (r->list)
        take_list(r, pct_cli_find_strategy(r->config.strategy, error, sizeof error));
    if (!is_file && !strcmp(r->config.strategy, "script"))
        return pct_cli_usage(
            "the schedule of this run was a script's, and is not in its token: replay the trace, or the "
            "token that pct script printed");
    if (!is_file || r->is_schedule) {
        r->has_hash = r->config.has_hash;
        r->hash = r->config.hash;
    }
    r->config.has_hash = false;
    return 0;
}

/* What a debugger cannot do. */
static int check_debugger(const struct replay *r)
{
    if (r->with || r->runs > 1 || r->keep || r->launch.drive.client || r->launch.timeout > 0)
        return pct_cli_usage("%s cannot be combined with --with, --rr, --runs, --trace, --timeout or --drive",
                             r->debugger);
    if (r->list)
        return pct_cli_usage(
            "%s: this schedule is too long for a debugger's environment; `pct minimize` makes it smaller", r->debugger);
    if (r->config.watch[0])
        return pct_cli_usage("%s: debuggers take the signals of watchpoints (watch=%s) for their own; `pct explain` "
                             "and `pct trace --sites` show the schedule",
                             r->debugger, r->launch.watch);
    return 0;
}

static int prepare(struct replay *r)
{
    char error[512];
    int failed = pct_environment_check(true);
    if (!failed)
        failed = read_named(r);
    if (failed)
        return failed;
    pct_scope_want(&r->launch, &r->config);
    failed = pct_cli_check_strategy(&r->config);
    if (!failed)
        failed = pct_ordered_check(r->config.ordered);
    if (failed)
        return failed;
    pct_config_format_token(r->token, sizeof r->token, &r->config,
                            pct_cli_find_strategy(r->config.strategy, error, sizeof error));
    failed = r->debugger ? check_debugger(r) : 0;
    if (failed)
        return failed;
    if (r->keep && !pct_trace_may_replace(r->keep, error, sizeof error))
        return pct_cli_usage("--trace=%s: %s", r->keep, error);
    return 0;
}

/* Where the replay of a trace left it, worked out from both: the shim stops at the first step that differs, but cannot
 * see steps that never came. Returns false if there is no such place. */
static bool print_difference(const struct replay *r, const struct pct_result *result)
{
    static struct pct_trace recorded;
    char error[256], expected[96] = "the end of the run", came[96] = "the end of the run";
    if (!r->file[0] || pct_trace_open(&recorded, r->file, error, sizeof error) != PCT_TRACE_GOOD || recorded.first)
        return false;
    const struct pct_trace *made = &result->trace;
    uint64_t i = 0;
    while (i < recorded.count && i < made->count && recorded.records[i] == made->records[i])
        i++;
    bool differs = i < recorded.count || i < made->count;
    unsigned here = 0, there = 0;
    if (i < recorded.count) {
        here = PCT_RECORD_THREAD(recorded.records[i]);
        pct_schedule_format(expected, sizeof expected, PCT_RECORD_OP(recorded.records[i]),
                            PCT_RECORD_ARG(recorded.records[i]), PCT_RECORD_OBJECT(recorded.records[i]));
    }
    if (i < made->count) {
        there = PCT_RECORD_THREAD(made->records[i]);
        pct_schedule_format(came, sizeof came, PCT_RECORD_OP(made->records[i]), PCT_RECORD_ARG(made->records[i]),
                            PCT_RECORD_OBJECT(made->records[i]));
    }
    if (differs && i < recorded.count && i < made->count)
        pct_cli_say("did NOT replay: at step %llu: expected thread %u: %s, came thread %u: %s",
                    (unsigned long long)i + 1, here, expected, there, came);
    else if (differs)
        pct_cli_say("did NOT replay: at step %llu: expected %s, came %s", (unsigned long long)i + 1, expected, came);
    pct_trace_close(&recorded);
    return differs;
}

/* One line on whether this was the same run; counts it if so. */
static void compare(struct replay *r, const struct pct_process *process, const struct pct_result *result)
{
    const struct pct_trace_header *header = &result->trace.header;
    char ending[256];
    pct_outcome_format(ending, sizeof ending, process, result);
    bool whole = result->state == PCT_TRACE_GOOD && !result->unrecorded && header->verdict != PCT_VERDICT_RUNNING;
    bool child = pct_result_child_diverged(result);
    bool same = r->has_hash && whole && header->hash == r->hash && header->verdict != PCT_VERDICT_DIVERGENCE && !child;
    r->identical += same;
    if (r->runs > 1)
        return;
    if (result->unrecorded)
        pct_cli_say("ran, but there was no space for a trace, so there is nothing to compare: %s", ending);
    else if (same)
        pct_cli_say("replayed identically (hash %016llx, %llu steps): %s", (unsigned long long)header->hash,
                    (unsigned long long)header->steps, ending);
    else if (header->verdict == PCT_VERDICT_DIVERGENCE)
        pct_cli_say("did NOT replay: %s", header->message);
    else if (child)
        pct_cli_say("did NOT replay: child process %d left the recorded schedule %s", result->child.header.pid,
                    result->child.header.message);
    else if (r->has_hash && whole && print_difference(r, result))
        return;
    else if (!r->has_hash)
        pct_cli_say("ran, but there is no hash to compare with (%s): %s",
                    r->is_schedule ? "the schedule was edited"
                                   : "the run that it repeats was killed, or ended where pct does not see it",
                    ending);
    else if (!whole)
        pct_cli_say("did NOT replay: this run was killed, the recorded one was not: %s", ending);
    else
        pct_cli_say("did NOT replay: the trace has hash %016llx, not %016llx, after %llu steps: %s",
                    (unsigned long long)header->hash, (unsigned long long)r->hash, (unsigned long long)header->steps,
                    ending);
}

/* What the target's standard output is. */
static const char *output_kind(const struct replay *r)
{
    struct stat output;
    if (r->runs > 1)
        return "a file";
    if (fstat(STDOUT_FILENO, &output))
        return "nowhere";
    return S_ISREG(output.st_mode)   ? "a file"
           : isatty(STDOUT_FILENO)   ? "a terminal"
           : S_ISCHR(output.st_mode) ? "a device"
                                     : "a pipe";
}

/* It was not the recorded run: what may be known of why. */
static void say_why(const struct replay *r)
{
    pct_cli_say("the target's output goes to %s now: if it went to something else then, and the target acts by that "
                "(Python and Node do), replay it there: on a terminal, with `| cat`, with `> FILE`, or one of several "
                "runs, which write to a file, with -n 2",
                output_kind(r));
    pct_program_changed_say(r->name, &r->config, r->launch.program);
    pct_program_changed_offer(r->name, &r->config);
}

/* After the first replay: its output, its trace, its report. */
static void show(struct replay *r, struct pct_process *process, const struct pct_result *result)
{
    char error[256];
    pct_outcome_show_output(process, false);
    if (r->keep && !result->unrecorded && pct_trace_save(&result->trace, r->keep, error, sizeof error))
        pct_cli_say("the trace was not saved: %s: %s", r->keep, error);
    compare(r, process, result);
    if (r->has_hash && !r->identical && r->runs == 1 && !result->unrecorded)
        say_why(r);
    bool clean = result->ending == PCT_ENDING_EXIT && !result->code;
    if (!r->quiet && !clean && result->ending != PCT_ENDING_DIVERGENCE)
        pct_outcome_report(process, result);
    else if (pct_result_raced(result))
        pct_report_print_races(stderr, pct_result_raced(result));
    if (clean && !r->quiet)
        pct_report_print_uncontrolled(stderr, result->trace.header.uncontrolled);
}

static int next(struct pct_run_source *source, struct pct_run_spec *spec)
{
    struct replay *r = (struct replay *)source;
    if (r->begun == r->runs)
        return PCT_RUNS_WAIT;
    spec->index = r->begun++;
    spec->config = r->config;
    spec->list = r->list;
    return PCT_RUNS_ON;
}

static int ended(struct pct_run_source *source, struct pct_ended_run *run)
{
    struct replay *r = (struct replay *)source;
    if (r->done++) {
        compare(r, &run->process, &run->result);
        return PCT_RUNS_ON;
    }
    r->code = run->result.code;
    show(r, &run->process, &run->result);
    return PCT_RUNS_ON;
}

/* All replays, one after the other. Returns 0 or an exit status. */
static int run_all(struct replay *r)
{
    struct pct_engine engine = {
        .launch = &r->launch, .jobs = 1, .room = 1, .pass = r->runs == 1, .single = r->runs == 1, .quiet = true
    };
    r->source = (struct pct_run_source){ .next = next, .ended = ended };
    int failed = pct_engine_run(&engine, &r->source);
    if (engine.signal)
        pct_cli_say("interrupted; %llu replay%s done, %llu identical", (unsigned long long)r->done,
                    r->done == 1 ? "" : "s", (unsigned long long)r->identical);
    return failed;
}

int pct_cmd_replay(int argc, char **argv)
{
    static struct replay replay;
    replay.runs = 1;
    pct_parse(&argp, argc, argv, 1, &replay);
    int failed = prepare(&replay);
    if (!failed && replay.with)
        failed = pct_external_checker_prepare(&replay.launch, replay.with);
    replay.launch.alone = replay.runs == 1 && !replay.launch.drive.client;
    if (!failed)
        failed = pct_drive_check(&replay.launch.drive, 1);
    if (!failed)
        failed = pct_launch_prepare(&replay.launch);
    if (failed)
        return failed;
    if (!replay.quiet)
        pct_launch_say_random(&replay.launch);
    if (replay.debugger) {
        bool same;
        if (replay.launch.stdin_file && !replay.launch.stdin_given)
            pct_cli_say("under %s the program reads what the debugger does; --stdin=%s lets it read that",
                        replay.debugger + 2, replay.launch.stdin_file);
        int status = pct_debug(replay.debugger_key == KEY_GDB ? PCT_DEBUG_GDB : PCT_DEBUG_LLDB, &replay.launch,
                               replay.token, replay.debugger_arguments, replay.has_hash ? &replay.hash : NULL, &same);
        if (!same)
            say_why(&replay);
        pct_launch_finish(&replay.launch);
        return status;
    }
    failed = run_all(&replay);
    pct_launch_finish(&replay.launch);
    if (failed)
        return failed;
    if (replay.runs > 1 && replay.has_hash)
        pct_cli_say("replayed identically %llu times of %llu (hash %016llx)", (unsigned long long)replay.identical,
                    (unsigned long long)replay.runs, (unsigned long long)replay.hash);
    if (replay.runs > 1 && replay.has_hash && !replay.identical)
        say_why(&replay);
    return replay.has_hash && replay.identical < replay.runs ? PCT_EXIT_DIVERGENCE : replay.code;
}
