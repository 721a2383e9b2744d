/* `pct run`: its options, the configuration that they make, and what is said at the end. campaign.c does the runs. */
#include <strategies/strategies.h>
#include <cli/campaign/campaign.h>
#include <cli/campaign/diagnosing.h>
#include <cli/campaign/guarantee_report.h>
#include <cli/base/cli.h>
#include <cli/base/status_line.h>
#include "configure.h"
#include "each_test.h"
#include "explore_first.h"
#include <cli/process/environment.h>
#include <cli/process/options.h>
#include <cli/process/settings.h>
#include <cli/campaign/outcome.h>
#include "parse.h"
#include "runs_options.h"
#include <cli/trace/races.h>
#include <cli/trace/report.h>
#include <cli/campaign/progress.h>
#include <cli/campaign/sampling.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_SHOW_OUTPUT = 2000, KEY_SAVE, KEY_STATE, KEY_BRIEF, KEY_BEGUN };

static const struct argp_option options[] = {
    { NULL, 0, NULL, 0, "Runs", 1 },
    { "runs", 'n', "N", 0, "number of runs, with consecutive seeds (default: 1)", 1 },
    { "keep-going", 'g', NULL, 0, "do all runs (default: stop at the first that fails)", 1 },
    { "jobs", 'j', "N", 0, "this many runs at a time; the outcome does not depend on it (default: 1)", 1 },
    { "state", KEY_STATE, "FILE", 0, "where to keep what was learned, or none (default: a file in ~/.local/state/pct)",
      2 },
    { NULL, 0, NULL, 0, "Output", 3 },
    { "show-output", KEY_SHOW_OUTPUT, NULL, 0,
      "pass the output of all runs through (default: of several runs, show that of the failing one)", 3 },
    { "trace", 't', "FILE", 0, "keep the trace of the first failing run, or of the only run", 3 },
    { "save", KEY_SAVE, "DIR", 0,
      "keep the traces of all failing runs, as DIR/seed-SEED.trace, and the cores that the kernel writes of them", 3 },
    { "quiet", 'q', NULL, 0, "print nothing but failures", 3 },
    /* For pct demon, and whoever counts failures: what is said of one costs more than the runs. */
    { "brief", KEY_BRIEF, NULL, OPTION_HIDDEN, NULL, 3 },
    { PCT_EACH_TEST_BEGUN, KEY_BEGUN, "FD", OPTION_HIDDEN, NULL, 3 },
    { 0 },
};

struct arguments {
    struct pct_campaign *campaign;
    struct pct_run_options schedules;
    struct pct_runs_options runs;
    const char *state;
    bool quiet, drawn;
    bool brief;   /* no stacks, no steps and no cause of a run that fails */
    bool counted; /* -n is given */
    int begun;    /* for --each-test: see there */
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *w = state->input;
    struct pct_campaign *c = w->campaign;
    const struct pct_setting settings[] = {
        { ARGP_KEY_INIT, .inputs = (void *[]){ &c->launch, &w->schedules, c->ok, &w->runs, NULL } },
        { 'n', .number = &c->runs, .least = 1, .most = UINT64_MAX / 2, .on = &w->counted },
        { KEY_STATE, .text = &w->state },
        { 'g', .on = &c->keep_going },
        { 'j', .count = &c->jobs, .least = 1, .most = 256 },
        { KEY_SHOW_OUTPUT, .on = &c->pass_output },
        { 't', .text = &c->keep },
        { KEY_SAVE, .text = &c->save },
        { 'q', .on = &w->quiet },
        { KEY_BRIEF, .on = &w->brief },
        { 0 },
    };
    if (pct_settings_take(settings, options, key, argument, state))
        return 0;
    if (key != KEY_BEGUN)
        return pct_options_parse_command(key, state, &c->launch, "pct run");
    w->begun = pct_each_test_take(argument);
    return 0;
}

static const struct argp_child children[] = { PCT_CONFIGURE_CHILDREN, { &pct_runs_options_argp, 0, NULL, 0 }, { 0 } };

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[--] COMMAND [ARGUMENT...]",
    .doc = "Run a program under control of pct, once or with many seeds.\v"
           "The exit status is 0 if no run failed, or that of the failing run with the lowest seed: the target's own, "
           "128 + the signal of a crash, 120 for a deadlock, 121 for a livelock, 123 if the target was not controlled, "
           "124 for a timeout. The last line that a failure prints is the command that replays it.",
    .children = children,
};

/* --confidence: the number of runs is found on the way. */
static int set_runs(struct pct_campaign *c, const struct arguments *w)
{
    uint64_t most;
    int status = pct_runs_options_confidence(c, w->counted, c->runs, &most);
    if (most)
        c->runs = c->limit = most;
    return status;
}

static int check_places(struct pct_campaign *c)
{
    char error[512];
    struct stat status;
    if (!c->keep)
        c->keep = pct_configure_choose(NULL, "PCT_TRACE");
    if (c->keep && !pct_trace_may_replace(c->keep, error, sizeof error))
        return pct_cli_usage("--trace=%s: %s", c->keep, error);
    if (c->save && mkdir(c->save, 0777) && errno != EEXIST)
        return pct_cli_usage("--save=%s: %s", c->save, strerror(errno));
    if (c->save && (stat(c->save, &status) || !S_ISDIR(status.st_mode)))
        return pct_cli_usage("--save=%s: not a directory", c->save);
    return 0;
}

/* In the run that measures k there are no change points. */
static const char *first_measures(const struct pct_campaign *c)
{
    const struct pct_strategy *first = pct_strategy_member(c->strategy, c->config.run.seed);
    return pct_cli_strategy_parameter(first, "depth") >= 0 ? "these runs, the first of which had depth 1"
                                                           : "these runs, the first of which had no change points";
}

/* What was learned about k; where the depth needs more, what that means. */
static void print_learned(const struct pct_campaign *c)
{
    struct pct_learned known = pct_learned_merge(&c->before, &c->learned);
    unsigned long long learned = pct_learned_k(&known), k = c->config.run.param[c->k];
    pct_cli_say("k=%llu, learned from %s (PCT, section 5.1.1)", learned && learned < k ? learned : k,
                c->before.runs ? "earlier runs" : first_measures(c));
    if (learned && learned < k && c->depth >= 0 && k == c->config.run.param[c->depth])
        pct_cli_say(
            "k=%llu was used all the same, so that the change points of depth %llu have room: bugs of that depth need "
            "more steps than these runs have; to find others, give a depth of at most %llu",
            k, k, learned);
}

static void print_summary(const struct pct_campaign *c, int status)
{
    char buffer[64];
    struct pct_cli_narrow narrow;
    FILE *out = pct_cli_narrow_begin(&narrow, stderr);
    fprintf(out, "pct: %s%llu %s in %s", status > 128 ? "interrupted; " : "", (unsigned long long)c->done,
            c->done == 1 ? "run" : "runs", pct_cli_format_duration(buffer, sizeof buffer, c->seconds));
    if (c->done > 1 && c->seconds > 0)
        fprintf(out, " (%.*f/s)", (double)c->done < 10 * c->seconds, (double)c->done / c->seconds);
    unsigned long long first = c->config.run.seed;
    if (c->done > 1)
        fprintf(out, ", seeds %llu to %llu: ", first, first + c->done - 1);
    else
        fprintf(out, ", seed %llu: ", first);
    if (c->failures) {
        fprintf(out, "%llu failed (", (unsigned long long)c->failures);
        const char *comma = "";
        for (unsigned i = 0; i < PCT_ENDING_COUNT; i++) {
            if (!c->by_ending[i])
                continue;
            fprintf(out, "%s%llu %s", comma, (unsigned long long)c->by_ending[i], pct_ending_name(i));
            comma = ", ";
        }
        fputs(")", out);
    } else
        fputs(c->undecided || c->ahead ? "none of these failed" : "no failure", out);
    fprintf(out, "; at most n=%u, k=%llu\n", c->max_threads, (unsigned long long)c->max_steps);
    pct_cli_narrow_end(&narrow);
    if (c->learns && c->done > 1 && !pct_sampling_groups(c))
        print_learned(c);
    if (c->unrecorded)
        pct_cli_say("no space for traces: %llu of these runs were not recorded", (unsigned long long)c->unrecorded);
    if (c->lost)
        pct_cli_say("%llu of these runs went on after the last step that pct saw: the target became a program that pct "
                    "could not follow (`pct doctor PROGRAM` says why; an empty environment is another reason), or "
                    "ended by a system call of its own",
                    (unsigned long long)c->lost);
    pct_forking_print(stderr, &c->launch);
    pct_hosts_print(stderr, &c->launch);
    pct_directed_say(c);
    if (c->config.memory_points == PCT_POINTS_LEARNED)
        pct_cli_say("of %zu places that access shared memory, the accesses of %zu were ordered in every run, and are "
                    "skipped in later ones",
                    c->ordered.count, pct_ordered_skipped(&c->ordered));
    pct_races_say_suppressed(c->suppressed, c->done > 1);
    /* The report of the run that failed has told of some already. */
    uint64_t untold[PCT_UNCONTROLLED_COUNT];
    for (unsigned i = 0; i < PCT_UNCONTROLLED_COUNT; i++)
        untold[i] = c->failed && c->first_result.trace.header.uncontrolled[i] ? 0 : c->uncontrolled[i];
    pct_report_print_uncontrolled(stderr, untold);
}

/* The races of runs that did not fail, by the first of them. */
static void print_races(const struct pct_campaign *c)
{
    if (!c->raced && !c->possibly_raced)
        return;
    const struct pct_trace_header *header = &c->race_result.trace.header;
    const struct pct_trace *raced = pct_result_raced(&c->race_result);
    if (c->raced)
        pct_cli_say("%llu of the runs that did not fail had data races; the first is that of seed %llu:",
                    (unsigned long long)c->raced, (unsigned long long)header->seed);
    else
        pct_cli_say("%llu of the runs that did not fail possibly had data races; the first is that of seed %llu:",
                    (unsigned long long)c->possibly_raced, (unsigned long long)header->seed);
    if (raced != &c->race_result.trace)
        pct_cli_say("in a child, process %d:", raced->header.pid);
    pct_report_print_races(stderr, raced);
    pct_outcome_print_replay(&c->launch, &c->race, &c->race_result);
}

/* With --quiet: somebody has ended the campaign before its end. */
static void print_interrupted(const struct pct_campaign *c)
{
    unsigned long long done = c->done, first = c->config.run.seed;
    if (done)
        pct_cli_say("interrupted; %llu run%s done, seeds %llu to %llu, %llu failed", done, done == 1 ? "" : "s", first,
                    first + done - 1, (unsigned long long)c->failures);
    else
        pct_cli_say("interrupted; no run was done");
}

static void print_guarantee(const struct pct_campaign *c, bool quiet)
{
    struct pct_cli_narrow narrow;
    pct_guarantee_report_print(pct_cli_narrow_begin(&narrow, stderr), c, quiet);
    pct_cli_narrow_end(&narrow);
}

/* No run failed. */
static int finish_passed(struct pct_campaign *c, const struct arguments *w, int status)
{
    if (!w->quiet && (!status || status > 128))
        print_summary(c, status);
    if (!w->quiet && !status && c->runs == 1)
        pct_cli_say("token %s", c->last_token);
    /* Whoever gives a seed, a strategy or a number of runs has meant this one. */
    if (!w->quiet && !status && w->drawn && !w->counted && !w->schedules.strategy && c->max_threads > 1)
        pct_cli_say("that was one schedule of many: pct run -n 1000 tries a thousand");
    if ((!status || status > 128) && c->done && (c->done > 1 || c->confidence > 0))
        print_guarantee(c, w->quiet);
    print_races(c);
    return status || pct_guarantee_report_reached(c) ? status : PCT_EXIT_CONFIDENCE;
}

static int finish_failed(struct pct_campaign *c, const struct arguments *w, int status)
{
    struct pct_result *result = &c->first_result;
    char ending[256];
    unsigned long long seed = c->config.run.seed + c->first.index;
    if (c->runs > 1 && !c->pass_output) {
        pct_cli_say(c->exploring.failed ? "an explored schedule failed" : "seed %llu failed", seed);
        pct_outcome_show_output(&c->first, true);
    }
    print_races(c);
    pct_outcome_format(ending, sizeof ending, &c->first, result);
    if (c->exploring.failed)
        pct_cli_say("explored, behind %llu runs, in run %llu: %s", (unsigned long long)c->done,
                    (unsigned long long)c->exploring.runs, ending);
    else
        pct_cli_say("seed %llu: %s", seed, ending);
    if (w->brief)
        pct_outcome_report_briefly(&c->first, result);
    else
        pct_outcome_report(&c->first, result);
    pct_setup_teardown_keep(stderr, &c->first);
    /* Whoever asked for one run, or for what has one schedule, does not expect more. */
    if (!status && !w->brief && (c->runs > 1 || c->confidence > 0) && pct_campaign_threads(result) > 1)
        pct_diagnosing_show(stderr, &c->launch, &c->first, result, c->ok);
    if (!w->quiet)
        print_summary(c, status);
    pct_outcome_print_replay(&c->launch, &c->first, result);
    return status ? status : result->code;
}

static int finish(struct pct_campaign *c, const struct arguments *w, int status)
{
    if (w->quiet && status > 128)
        print_interrupted(c);
    if (status > 128)
        pct_progress_say_undecided(c);
    return c->failed ? finish_failed(c, w, status) : finish_passed(c, w, status);
}

/* --explore. *first: what came of it. */
static int explore(const struct arguments *w, struct pct_explore_first *first)
{
    struct pct_campaign *c = w->campaign;
    if (c->save || c->pass_output)
        return pct_cli_usage("--explore takes no %s", c->save ? "--save" : "--show-output");
    *first = (struct pct_explore_first){
        .campaign = c, .schedules = &w->schedules, .trace = c->keep, .seconds = w->runs.explore, .quiet = w->quiet
    };
    return pct_explore_first(first);
}

/* Without it. */
static void plan_exploring(const struct arguments *w, struct pct_explore_first *first)
{
    *first = (struct pct_explore_first){ .campaign = w->campaign, .schedules = &w->schedules };
    pct_explore_plan(first, w->campaign->runs);
}

static void save_state(const struct pct_campaign *c, struct pct_state_file *state, bool quiet)
{
    struct pct_learned learned = pct_learned_merge(&c->before, &c->learned);
    if (c->whole.runs)
        learned = c->whole; /* runs with a sample teach nothing about those without */
    state->ordered = c->config.ordered;
    pct_state_save(state, &learned, quiet);
}

/* What was asked for: the campaign's configuration, and whether it can be made. Returns 0 or an exit status. */
static int configure(struct pct_campaign *c, struct arguments *w)
{
    int status = pct_configure(c, &w->schedules, &w->drawn);
    if (!status)
        status = set_runs(c, w);
    if (!status)
        status = check_places(c);
    if (c->jobs > c->runs)
        c->jobs = (unsigned)c->runs;
    return status ? status : pct_drive_check(&c->launch.drive, c->jobs);
}

/* How the runs are made. Returns 0 or an exit status. */
static int prepare(struct pct_campaign *c, const struct arguments *w)
{
    if (c->runs > 1)
        pct_time_limit_by_default(&c->launch, c->ok);
    c->launch.alone = c->runs == 1 && !c->launch.drive.client;
    c->progress = c->runs > 1 && !w->quiet && !c->pass_output && pct_status_line_obeys();
    c->tells = !w->quiet;
    c->repeat = !w->quiet || c->confidence > 0;
    pct_forking_plan(&c->launch, c->runs > 1, c->pass_output, c->config.strategy);
    c->other.quiet = c->systematic.quiet = w->quiet;
    c->cycles.may = c->systematic.may;
    c->systematic.most = c->systematic.may ? PCT_SYSTEMATIC_MOST : 0;
    pct_configure_memory(c, w->quiet);
    return pct_campaign_prepare(c);
}

/* Take over what earlier runs of the program have shown. */
static void open_state(struct pct_campaign *c, const char *path, struct pct_state_file *state)
{
    pct_state_open(state, path, c->launch.program, c->launch.command, pct_state_counts_by(&c->config, c->strategy));
    /* What was learned about k holds for what was skipped then. */
    if (!state->ordered || pct_ordered_load(&c->ordered, state->ordered)) {
        c->config.ordered = state->ordered;
        c->before = state->learned;
    }
    c->may_sample &= c->runs > 1 && !(c->confidence > 0);
}

int pct_cmd_run(int argc, char **argv)
{
    static struct pct_campaign campaign; /* large, like the next */
    static struct pct_state_file state;
    struct arguments arguments = { .campaign = &campaign, .runs = { .campaign = &campaign } };
    campaign.runs = campaign.jobs = campaign.stride = 1;
    campaign.ok[0] = true;
    pct_parse(&argp, argc, argv, 0, &arguments);
    if (arguments.runs.each_test)
        return pct_each_test(argv, campaign.launch.command, arguments.runs.framework, NULL, true);
    int status = pct_environment_check(false);
    struct pct_explore_first first = { .complete = false };
    if (!status && arguments.runs.explore > 0)
        status = explore(&arguments, &first);
    if (status || first.complete)
        return status ? status : first.status;
    status = configure(&campaign, &arguments);
    campaign.found = first.status == 1;
    if (!status && !arguments.runs.explore_said)
        plan_exploring(&arguments, &first);
    if (!status)
        status = prepare(&campaign, &arguments);
    if (status)
        return status;
    pct_each_test_begun(arguments.begun);
    if (!arguments.quiet)
        pct_launch_say_random(&campaign.launch);
    open_state(&campaign, arguments.state, &state);
    status = pct_campaign_run(&campaign);
    if (!status && campaign.failed)
        pct_each_test_ended(arguments.begun);
    if (campaign.launch.restore.broken) {
        status = pct_hosts_begin_anew(&campaign.launch);
    } else {
        save_state(&campaign, &state, arguments.quiet);
        status = finish(&campaign, &arguments, status);
    }
    pct_campaign_close(&campaign);
    pct_launch_finish(&campaign.launch);
    return campaign.found && (!status || status == PCT_EXIT_CONFIDENCE) ? 1 : status;
}
