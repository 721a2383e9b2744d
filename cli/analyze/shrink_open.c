/* The failing run that is to be made small: see shrink.h. Reads the token or file, finds out how it fails, and how
 * often; a failure that the schedule does not decide alone is judged by its rate. */
#include "program_changed.h"
#include <cli/base/list.h>
#include <cli/binary/locate.h>
#include <cli/process/learned_sites.h>
#include "shrink.h"
#include <cli/process/environment.h>
#include <cli/process/hosts.h>
#include "nearest_schedule.h"
#include <cli/process/options.h>
#include <cli/process/settings.h>
#include <cli/base/status_line.h>
#include <cli/trace/report.h>
#include <cli/trace/schedule_file.h>
#include <cli/binary/scope.h>
#include "queries.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* How often a run is repeated to see whether the schedule decides it; and if not, to measure a rate. */
enum { REPEATS = 2, RATE_RUNS = 20, RATE_MOST = 60, JOBS_MAX = 256, SECONDS_MAX = 1000000, SECONDS = 20 };
enum { KEY_SECONDS = 4100, KEY_QUICK, KEY_ENGINE };

static const struct argp_option options[] = {
    { "jobs", 'j', "N", 0, "this many runs at a time; the result does not depend on it (default: one on each CPU)", 1 },
    { "seconds", KEY_SECONDS, "N", 0,
      "stop after this many seconds (default: 20), as after Ctrl-C: what was found so far is the result", 1 },
    { "engine", KEY_ENGINE, "NAME", 0,
      "how the runs that it tries are made: fork (also auto, the default), or restore: in one process, whose memory is "
      "put back after each, where the program allows it",
      1 },
    { "quick", KEY_QUICK, NULL, 0, "reverse each ordering once, and do not look for what else decides it", 1 },
    { 0 },
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct pct_shrink *s = state->input;
    const struct pct_setting settings[] = {
        { 'j', .count = &s->runs.jobs, .least = 1, .most = JOBS_MAX },
        { KEY_QUICK, .on = &s->runs.quick },
        { ARGP_KEY_END, .text = &s->name, .missing = "no token and no file is given" },
        { 0 },
    };
    if (pct_settings_take(settings, options, key, argument, state))
        return 0;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &s->runs.launch;
        s->runs.seconds = SECONDS;
        s->runs.begun = pct_cli_now();
        return 0;
    case KEY_SECONDS:
        s->runs.seconds = (double)pct_options_number(state, "--seconds", argument, 0, SECONDS_MAX);
        return 0;
    case KEY_ENGINE:
        pct_options_engine(state, &s->runs.launch, argument);
        return 0;
    case ARGP_KEY_ARG:
        if (!s->name && pct_options_is_left_out(state, argument))
            argp_error(state, "no token and no file is given: %s TOKEN -- COMMAND [ARGUMENT...]", state->name);
        if (!s->name) {
            s->name = argument;
            return 0;
        }
        pct_options_take_command(state, &s->runs.launch);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = { .options = options, .parser = parse, .children = pct_options_launch };
const struct argp_child pct_shrink_options[] = { { &argp, 0, NULL, 0 }, { 0 } };

/* The token in the file: a trace or a schedule. */
static int read_file(struct pct_shrink *s, char *token, size_t size)
{
    static struct pct_trace trace;
    char error[512];
    if (pct_schedule_file_is(s->name))
        return pct_schedule_file_read(s->name, token, &s->runs.list, error, sizeof error)
                   ? pct_cli_usage("%s: %s", s->name, error)
                   : 0;
    if (pct_trace_open(&trace, s->name, error, sizeof error) != PCT_TRACE_GOOD)
        return pct_cli_usage("%s: neither a schedule nor a trace: %s", s->name, error);
    if (pct_report_several(stderr, &trace, NULL))
        return PCT_EXIT_USAGE;
    snprintf(token, size, "%s", trace.header.token);
    if (!s->runs.launch.command) {
        pct_report_ask_command(&trace);
        pct_trace_close(&trace);
        return PCT_EXIT_USAGE;
    }
    snprintf(s->recorded, sizeof s->recorded, "%s", token);
    if (!trace.complete || trace.header.verdict == PCT_VERDICT_RUNNING)
        pct_cli_say("this trace was cut short: the run is repeated from the token in it");
    pct_trace_close(&trace);
    return 0;
}

static int read_name(struct pct_shrink *s)
{
    char token[PCT_TOKEN_MAX], error[512];
    int failed = pct_environment_check(true);
    if (failed)
        return failed;
    bool is_file;
    failed = pct_locate_named(s->name, &is_file);
    if (failed)
        return failed;
    if (is_file)
        failed = read_file(s, token, sizeof token);
    else if (pct_long_token_part(s->name, token, &s->runs.list, error, sizeof error))
        failed = pct_cli_usage("%s", error);
    if (failed)
        return failed;
    if (pct_config_parse_token(&s->runs.config, token, pct_cli_find_strategy, error, sizeof error))
        return pct_cli_usage(is_file ? "the token in %2$s: %1$s" : "%s", error, s->name);
    if (!strcmp(s->runs.config.strategy, "none"))
        return pct_cli_usage("strategy none leaves the order to the operating system: there is no schedule to look at");
    if (!is_file && !strcmp(s->runs.config.strategy, "script"))
        return pct_cli_usage("the schedule of this run was a script's, and is not in its token: give the one that pct "
                             "script printed, or the trace");
    if (!strcmp(s->runs.config.strategy, "processes"))
        return pct_cli_usage("this is the schedule of several processes, and to take a switch away in one changes the "
                             "others: `pct replay` repeats it, and the script that made it, which `pct add --script` "
                             "keeps, says what orders it");
    pct_scope_want(&s->runs.launch, &s->runs.config);
    if (!s->runs.launch.command)
        return pct_cli_usage("no command is given: TOKEN -- COMMAND [ARGUMENT...]");
    failed = pct_cli_check_strategy(&s->runs.config);
    return failed ? failed : pct_ordered_check(s->runs.config.ordered);
}

/* None of the runs of the failing schedule did: s->runs.failure is how the last one ended. */
static int explain_pass(const struct pct_shrink *s, bool same)
{
    char text[1200];
    const struct pct_query_runs *t = &s->runs;
    /* What a client does is not in the steps. */
    if ((!same || t->launch.drive.client) && (t->late || t->cut)) {
        pct_cli_say("out of time (--seconds=%.0f): the run was made %llu time%s, and has not failed again", t->seconds,
                    (unsigned long long)t->made, t->made == 1 ? "" : "s");
        return PCT_EXIT_DIVERGENCE;
    }
    if (same)
        return pct_cli_usage("the run of this token does not fail, and did not when it was recorded: only failing runs "
                             "can be minimized");
    if (!s->runs.config.has_hash)
        return pct_cli_usage("the run of this token did not fail: only failing runs can be minimized");
    pct_cli_say("the token does not fail any more: %s", pct_failure_format(text, sizeof text, &s->runs.failure));
    pct_cli_say("the run took other steps than when it failed: the program was rebuilt, or its input, arguments, "
                "environment or libraries differ");
    pct_program_changed_say(s->name, &s->runs.config, s->runs.launch.program);
    pct_cli_say("`pct run` finds a schedule that fails now, if there is one");
    if (s->runs.launch.drive.client && !s->recorded[0])
        pct_cli_say("clients act at other moments each time, which a trace holds and a token does not: "
                    "`pct run -t FILE` keeps that of a failing run, and `pct explain FILE` explains it");
    return PCT_EXIT_DIVERGENCE;
}

/* The failing schedule, run again and again. */
struct again {
    struct pct_query_runs *runs;
    uint64_t hash; /* of the run that was found */
    bool other;    /* one of these took other steps */
    unsigned failed, made, most, least;
    unsigned otherwise; /* failed in another way */
};

static int ask_again(void *context, size_t number, struct pct_query *query)
{
    const struct again *a = context;
    query->expected = a->most;
    return !number;
}

static enum pct_answer answer_again(void *context, size_t number, struct pct_query *query, struct pct_query_run *run)
{
    struct again *a = context;
    struct pct_failure failure;
    (void)number;
    a->made++;
    a->failed += run->fails;
    a->otherwise += !run->fails && pct_failure_read(&failure, &run->result);
    a->other = a->other || run->result.trace.header.hash != a->hash;
    if (!run->fails || a->other)
        a->most = query->expected = RATE_RUNS;
    bool over = a->made >= a->least && pct_query_runs_over(a->runs);
    return a->made < a->most && !over ? PCT_ANSWER_MORE : PCT_ANSWER_STOP;
}

/* Whether it always fails. With as many runs at a time as there will be: at least `most`, or RATE_RUNS where one of
 * them takes other steps; but as the time goes, no more than REPEATS. Returns 0, or a status. */
static int run_again(struct again *a, struct pct_query_runs *runs, uint64_t hash, unsigned most)
{
    static const double share = 0.25;
    *a = (struct again){ .runs = runs, .hash = hash, .most = most, .least = REPEATS };
    struct pct_queries queries = { .ask = ask_again, .answer = answer_again, .context = a, .must = true };
    pct_queries_step(runs, "measuring how often it fails", 1);
    pct_query_runs_share(runs, share);
    int failed = pct_queries_run(runs, &queries);
    pct_query_runs_share(runs, 1);
    return failed;
}

/* How often the failing run fails, if not always; and whether its schedule decides all. The run that was found does not
 * count: it is one that failed. */
static int judge(struct pct_shrink *s, uint64_t hash)
{
    struct pct_query_runs *t = &s->runs;
    struct again a, alone;
    unsigned jobs = t->jobs;
    t->repeat = 1;
    t->rate = 1;
    if (run_again(&a, t, hash, jobs > REPEATS ? jobs : REPEATS))
        return t->status;
    t->steady = a.failed == a.made && !a.other;
    /* Not by the steps: a signal from outside, or a client, comes at other ones whether there is a second run or not.
     */
    if (a.failed == a.made)
        return 0;
    /* Runs at the same time may meet: in a file, at a port. Then all of them fail where there is one at a time; or, if
     * something else decides, too, none fails otherwise. */
    if (jobs > 1) {
        t->jobs = 1;
        if (run_again(&alone, t, hash, RATE_RUNS))
            return t->status;
        /* Too few of them tell nothing. */
        if (alone.made == RATE_RUNS &&
            (alone.failed == alone.made || (a.otherwise && !alone.otherwise && alone.failed > a.failed))) {
            pct_status_line_clear(t->progress.quiet);
            pct_cli_say("runs made at the same time disturb each other (do they write the same file?), so they are "
                        "made one by one; with --scratch, or {worker} in a server's port or path, there could be %u",
                        jobs);
            a = alone;
        } else {
            t->jobs = jobs;
        }
        if (a.failed == a.made)
            return 0;
    }
    /* Enough runs that a schedule as good as this one seldom fails in less than half of its rate. */
    double rate = a.failed ? (double)a.failed / a.made : 1.0 / RATE_RUNS;
    t->rate = rate / 2;
    t->repeat = rate > 12.0 / RATE_MOST ? (unsigned)(12 / rate + 0.5) : RATE_MOST;
    pct_status_line_clear(t->progress.quiet);
    pct_cli_say(
        "something besides the schedule decides: it failed %u times of %u; every schedule is judged by up to %u runs",
        a.failed, a.made, t->repeat);
    return 0;
}

/* Where the schedule that is given does not fail any more: the nearest one that does. *found: there is one. */
static int go_nearby(struct pct_shrink *s, bool *found)
{
    struct pct_query_runs *t = &s->runs;
    char token[PCT_TOKEN_MAX], error[256];
    int failed = pct_nearest_schedule_find(t, found);
    pct_status_line_clear(t->progress.quiet);
    failed = failed ? failed : pct_query_runs_status(t);
    if (failed || !*found)
        return failed;
    pct_config_format_token(token, sizeof token, &t->config,
                            pct_cli_find_strategy(t->config.strategy, error, sizeof error));
    pct_cli_say(
        "the schedule does not fail any more (the program was rebuilt, or its input or libraries differ); this goes "
        "on with the nearest one that does: %s",
        t->list ? "(too long for a line)" : token);
    pct_program_changed_say(s->name, &t->config, t->launch.program);
    return 0;
}

/* Runs of the failing schedule, until one fails. */
struct first {
    struct pct_query_runs *runs;
    struct pct_query_run *failing; /* this one, */
    bool failed;                   /* if there is one */
    bool same;                     /* the last one was the run of the token, step by step */
};

static int ask_first(void *context, size_t number, struct pct_query *query)
{
    (void)context;
    query->expected = 1;
    return number < RATE_RUNS - 1;
}

static enum pct_answer answer_first(void *context, size_t number, struct pct_query *query, struct pct_query_run *run)
{
    struct first *first = context;
    const struct pct_config *config = &first->runs->config;
    (void)number;
    (void)query;
    first->same = config->has_hash && run->result.trace.header.hash == config->hash;
    first->failed = pct_failure_read(&first->runs->failure, &run->result);
    if (!first->failed)
        return PCT_ANSWER_NEXT;
    run->taken = true;
    *first->failing = *run;
    return PCT_ANSWER_STOP;
}

/* A run that waits for clients may do so for ever: the limit of the first, where the user sets none. */
static int run_first(struct first *first, struct pct_query_run *run)
{
    struct pct_query_runs *t = first->runs;
    bool limited = t->launch.timeout <= 0 && !t->launch.drive.client && t->seconds > 0;
    t->launch.timeout = limited ? t->seconds : t->launch.timeout;
    int failed = pct_query_run_again(t, run);
    t->launch.timeout = limited ? 0 : t->launch.timeout;
    if (failed || !limited || run->result.ending != PCT_ENDING_TIMEOUT)
        return failed;
    pct_query_run_close(run);
    pct_status_line_clear(t->progress.quiet);
    pct_cli_say(
        "the run has not ended in %.0f s: if it waits for clients, give --ready and --drive, as when the failure "
        "was found; if it needs longer, --timeout",
        t->seconds);
    return t->status = PCT_EXIT_DIVERGENCE;
}

/* Run the failing schedule until it fails, but not without end. */
static int try_first(struct first *first)
{
    static struct pct_query_run run;
    struct pct_query_runs *t = first->runs;
    struct pct_queries queries = { .ask = ask_first, .answer = answer_first, .context = first };
    pct_queries_step(t, "running it", 0);
    /* The first alone: it mostly fails, and how runs are started is found out by it. */
    if (run_first(first, &run))
        return t->status;
    if (answer_first(first, 0, NULL, &run) != PCT_ANSWER_STOP) {
        pct_query_run_close(&run);
        pct_queries_run(t, &queries);
    }
    pct_status_line_clear(t->progress.quiet);
    return t->status;
}

/* A run that fails, of the schedule that is given or the nearest one that does; the caller closes it. Returns 0, or the
 * exit status for the command, after a message. */
static int first_failure(struct pct_shrink *s, struct pct_query_run *run)
{
    struct first first = { .runs = &s->runs, .failing = run };
    bool moved = false;
    static const double share = 0.5; /* for what is told of one that comes, or of a recorded one */
    pct_query_runs_share(&s->runs, share);
    int failed = try_first(&first);
    if (!failed && !first.failed && !first.same)
        failed = go_nearby(s, &moved);
    if (!failed && moved)
        failed = try_first(&first);
    pct_query_runs_share(&s->runs, 1);
    if (failed || first.failed)
        return failed;
    return explain_pass(s, first.same);
}

int pct_shrink_open(struct pct_shrink *s)
{
    static struct pct_query_run run;
    struct pct_query_runs *t = &s->runs;
    int failed = read_name(s);
    if (!t->jobs) {
        cpu_set_t set;
        t->jobs = sched_getaffinity(0, sizeof set, &set) ? 1 : (unsigned)CPU_COUNT(&set);
        t->jobs = pct_drive_limit(&t->launch.drive, t->jobs < JOBS_MAX ? t->jobs : JOBS_MAX);
    }
    if (!failed)
        failed = pct_drive_check(&t->launch.drive, t->jobs);
    if (!failed)
        failed = pct_launch_prepare(&t->launch);
    t->width = t->jobs;
    t->launch.sites = NULL; /* each run says which it wants */
    if (failed)
        return failed;
    pct_query_runs_begin(t);
    pct_forking_plan(&t->launch, true, false, t->config.strategy);
    t->launch.restore.tries = true;
    pct_hosts_let(&t->launch, true);
    failed = first_failure(s, &run);
    if (failed)
        return failed;
    const struct pct_trace *trace = &run.result.trace;
    s->steps = trace->header.steps;
    s->switches = trace->header.switches;
    s->preemptions = trace->header.preemptions;
    s->given = pct_long_token_of(trace->header.token, t->list);
    if (!s->given)
        return pct_cli_no_memory("");
    uint64_t hash = trace->header.hash;
    if (t->config.has_hash && hash != t->config.hash) {
        pct_cli_say(
            "the run took other steps than the one of the token (the program was rebuilt, or its input or libraries "
            "differ), but it fails: the analysis goes on with this failure");
        pct_program_changed_say(s->name, &t->config, t->launch.program);
    }
    if (!trace->complete) {
        pct_cli_say("only the first %llu of %llu steps could be recorded: there is no room for the rest",
                    (unsigned long long)trace->count, (unsigned long long)trace->header.steps);
        failed = PCT_EXIT_USAGE;
    } else if (pct_switches_from_trace(&s->minimal, trace) || pct_switches_from_outside(&s->awaited, trace)) {
        pct_cli_say("out of memory");
        failed = PCT_EXIT_INTERNAL;
    }
    pct_query_run_close(&run);
    failed = failed ? failed : judge(s, hash);
    pct_status_line_clear(t->progress.quiet);
    return failed;
}
