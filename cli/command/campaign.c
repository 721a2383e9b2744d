/* `pct campaign`: its options, and the way from them to the file, the runs and the report. campaign.c does the runs,
 * recorder.c keeps them. */
#include <cli/campaign/calibrate.h>
#include <cli/campaign/campaign_file.h>
#include <cli/export/campaign_report.h>
#include <cli/campaign/guarantee_report.h>
#include <cli/campaign/memo.h>
#include <cli/base/cli.h>
#include <cli/explore/keep.h>
#include "configure.h"
#include "each_test.h"
#include "explore_first.h"
#include <cli/process/environment.h>
#include <cli/export/export.h>
#include <cli/process/input.h>
#include <cli/process/options.h>
#include <cli/process/settings.h>
#include "parse.h"
#include "runs_options.h"
#include <cli/trace/races.h>
#include <cli/campaign/progress.h>
#include <cli/campaign/recorder.h>
#include <cli/process/supervise.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <strategies/strategies.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_DB = 5000, KEY_SHARD, KEY_FRESH, KEY_EXPECT_SAME, KEY_SATURATED, KEY_MEMO };

/* --until-saturated, unless it says how many. */
#define SATURATED_RUNS 100

static const struct argp_option options[] = {
    { NULL, 0, NULL, 0, "Runs", 1 },
    { "runs", 'n', "N", 0, "number of runs, with consecutive seeds (default: 1000)", 1 },
    { "until-saturated", KEY_SATURATED, "N", OPTION_ARG_OPTIONAL,
      "with -S maple: end when N runs in a row (default: 100) exposed no new interleaving and nothing that was "
      "predicted is left to try",
      1 },
    { "memo", KEY_MEMO, "FILE", 0,
      "with -S maple: try no interleaving again that the campaign of this file, with other inputs or of an earlier "
      "build, has exposed or tried, as far as the functions are the same",
      1 },
    { "jobs", 'j', "N", 0, "this many runs at a time (default: one on each CPU)", 1 },
    { "first", 'x', NULL, 0, "stop at the first failure (default: do all runs)", 1 },
    { "db", KEY_DB, "FILE", 0, "the campaign file; if it is there, its campaign goes on (default: pct-campaign.db)",
      1 },
    { "fresh", KEY_FRESH, NULL, 0, "begin anew, and keep an older campaign file as FILE.old", 1 },
    { "shard", KEY_SHARD, "I/OF", 0,
      "of all runs, do the I-th and from there each OF-th; needs --seed and --epoch, the same for all shards", 1 },
    { NULL, 0, NULL, 0, "Output", 3 },
    { "quiet", 'q', NULL, 0, "no progress, and a report only of findings", 3 },
    { "expect-same", KEY_EXPECT_SAME, NULL, 0, "output that is not that of the first run of the calibration", 4 },
    { 0 },
};

struct command {
    struct pct_campaign *campaign;
    struct pct_campaign_plan plan;
    struct pct_run_options schedules;
    struct pct_runs_options runs;
    struct pct_oracle oracle;
    const char *shard;
    uint64_t most; /* with --confidence, the runs that -n allows */
    bool planned;  /* that the confidence takes plan.total runs */
    bool quiet, fresh;
    struct pct_exports exports;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct command *w = state->input;
    struct pct_campaign *c = w->campaign;
    const struct pct_setting settings[] = {
        { ARGP_KEY_INIT,
          .inputs = (void *[]){ &c->launch, &w->schedules, c->ok, &w->runs, &w->oracle, &w->exports, NULL } },
        { 'n', .number = &w->plan.total, .least = 1, .most = INT64_MAX / 2, .on = &w->plan.counted },
        { 'j', .count = &c->jobs, .least = 1, .most = 256 },
        { 'x', .off = &c->keep_going },
        { KEY_MEMO, .text = &w->plan.memo },
        { KEY_DB, .text = &w->plan.path },
        { KEY_FRESH, .on = &w->fresh },
        { KEY_SHARD, .text = &w->shard },
        { 'q', .on = &w->quiet },
        { KEY_EXPECT_SAME, .on = &w->oracle.same },
        { 0 },
    };
    if (pct_settings_take(settings, options, key, argument, state))
        return 0;
    if (key != KEY_SATURATED)
        return pct_options_parse_command(key, state, &c->launch, "pct campaign");
    c->until_saturated =
        argument ? pct_options_number(state, "--until-saturated", argument, 1, INT64_MAX / 2) : SATURATED_RUNS;
    return 0;
}

static const struct argp_child children[] = {
    PCT_CONFIGURE_CHILDREN,
    { &pct_runs_options_argp, 0, NULL, 0 },
    { &pct_oracle_argp, 0, NULL, 0 },
    { &pct_exports_argp, 0, NULL, 0 },
    { 0 },
};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[--] COMMAND [ARGUMENT...]\nreport [FILE]\nmerge OUT IN...",
    .doc = "Run a program under many schedules, fold its failures into findings, confirm each by ten replays, and keep "
           "all of it in "
           "a file, so that the campaign can be interrupted and go on. report prints such a file again, merge makes "
           "one of "
           "several.\v"
           "The exit status is 0 if no run failed, 1 if there are findings, 130 after Ctrl-C; docs/EXIT-CODES.md has "
           "the rest.",
    .children = children,
};

/* --- What was asked for ------------------------------------------------------------------------------------------- */

/* By whatever name: before --fresh moves it. */
static bool is_one_file(const char *one, const char *other)
{
    struct stat a, b;
    return !strcmp(one, other) || (!stat(one, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

static int check_memo(const char *memo, const char *path)
{
    if (!*memo)
        return pct_cli_usage("--memo: the name of the file is empty");
    if (is_one_file(memo, path))
        return pct_cli_usage("--memo: %s is the file of this campaign itself (--db); with --fresh, the old one is "
                             "%s.old",
                             path, path);
    return 0;
}

static int check(struct command *w)
{
    struct pct_campaign *c = w->campaign;
    cpu_set_t set;
    w->plan.has_epoch = pct_configure_choose(w->schedules.epoch, "PCT_EPOCH");
    int failed = *w->plan.path ? pct_environment_check(false) : pct_cli_usage("--db: the name of the file is empty");
    if (!failed)
        failed = pct_configure(c, &w->schedules, &w->plan.drawn);
    c->may_sample &= !(c->confidence > 0); /* there is no bound for runs with a sample */
    if (!failed && (c->until_saturated || w->plan.memo) && !pct_directed_may(c))
        failed =
            pct_cli_usage("%s: only campaigns of maple look at interleavings; give -S maple%s",
                          c->until_saturated ? "--until-saturated" : "--memo", *c->config.list ? " without iroot" : "");
    if (!failed && w->plan.memo)
        failed = check_memo(w->plan.memo, w->plan.path);
    if (!failed && c->config.run.seed > INT64_MAX / 2)
        failed = pct_cli_usage("--seed: the first seed of a campaign may be at most %lld", (long long)INT64_MAX / 2);
    if (!failed)
        failed = pct_configure_shard(w->shard, w->campaign, &w->plan);
    if (!failed)
        failed = pct_runs_options_confidence(c, w->plan.counted, w->plan.total, &w->most);
    if (!failed)
        failed = pct_export_check(&w->exports);
    if (!failed && w->oracle.expect && w->oracle.same)
        failed = pct_cli_usage("--expect and --expect-same exclude each other; give one");
    if (!failed)
        failed = pct_oracle_prepare(&w->oracle);
    if (!c->jobs)
        c->jobs = sched_getaffinity(0, sizeof set, &set) ? 1 : (unsigned)CPU_COUNT(&set);
    if (!failed)
        failed = pct_drive_check(&c->launch.drive, c->jobs);
    return failed;
}

/* --- The campaign ------------------------------------------------------------------------------------------------- */

/* --confidence: find out how many runs it takes. Before the first run by the calibration alone, later by all runs so
 * far: if some had more threads, there will be more. Returns 0 or an exit status after a message. */
static int plan_confidence(struct command *w)
{
    struct pct_campaign *c = w->campaign;
    if (!(c->confidence > 0))
        return 0;
    uint64_t runs = pct_guarantee_report_total(c);
    w->planned = true;
    if (!w->quiet && runs <= w->most)
        pct_guarantee_report_print_plan(stderr, c, runs);
    c->limit = runs < w->most ? runs : w->most;
    w->plan.total = c->limit;
    w->plan.counted = true;
    if (runs <= w->most)
        return 0;
    c->unaffordable = true;
    c->price = runs;
    pct_guarantee_report_print_shortfall(stderr, c);
    return PCT_EXIT_CONFIDENCE;
}

/* With --expect-same, a campaign that goes on has to find out again what the right output is. */
static int begin(struct command *w)
{
    struct pct_campaign *c = w->campaign;
    char error[512];
    enum pct_store_state state = pct_store_look(w->plan.path, error, sizeof error);
    if (state == PCT_STORE_FOREIGN || state == PCT_STORE_NEWER)
        return pct_cli_usage("%s: %s", w->plan.path, error);
    bool differs = false;
    int status = w->plan.memo && !pct_campaign_file_has_runs(w->plan.path) ? pct_memo_take(c, w->plan.memo) : 0;
    if (status)
        return status;
    if (state == PCT_STORE_ABSENT && pct_campaign_file_check_place(w->plan.path))
        return PCT_EXIT_USAGE;
    int failed = state != PCT_STORE_ABSENT && w->oracle.same ? pct_campaign_file_adopt(c, &w->plan) : 0;
    if (!failed && (state == PCT_STORE_ABSENT || w->oracle.same))
        failed = pct_calibrate(c, &w->oracle, &differs);
    if (!failed && state == PCT_STORE_ABSENT)
        failed = plan_confidence(w);
    return failed || state != PCT_STORE_ABSENT ? failed : pct_campaign_file_create(c, &w->plan, &w->oracle, differs);
}

static int report(struct command *w, const struct pct_recorder *recorder, int status)
{
    if (!w->quiet || recorder->count) {
        fflush(stderr);
        if (pct_campaign_report_print(stdout, recorder->store, false))
            pct_cli_say("%s: %s", w->plan.path, pct_store_error(recorder->store));
        fflush(stdout);
    }
    int failed = pct_export_all(recorder->store, &w->exports);
    if (status > 128)
        pct_cli_say("interrupted; %s has all runs so far, and the same command resumes the campaign", w->plan.path);
    if (status > 128)
        pct_progress_say_undecided(w->campaign);
    pct_ahead_print(&recorder->ahead);
    status = status ? status : failed;
    if (status || recorder->count)
        return status ? status : 1;
    /* A shard has only its part of the runs. */
    if (w->plan.of > 1 || pct_guarantee_report_reached(w->campaign))
        return 0;
    pct_guarantee_report_print_shortfall(stderr, w->campaign);
    if (!w->campaign->unaffordable && w->campaign->done == w->campaign->runs)
        pct_cli_say("the same command resumes with as many runs as it takes now");
    return PCT_EXIT_CONFIDENCE;
}

/* Whether what goes on is still the same program on the same input. */
static int look_again(struct command *w, struct pct_recorder *recorder)
{
    struct pct_campaign *c = w->campaign;
    if (!c->resumed || c->differs || !*c->origin.token || pct_supervised_deaths())
        return 0;
    int failed = pct_calibrate_again(c);
    if (failed || !c->differs)
        return failed;
    recorder->dirty = true;
    failed = pct_store_set_fact(recorder->store, "differs", "1");
    return failed ? pct_recorder_fail(recorder, failed) : 0;
}

/* The same for a campaign that goes on: with what its runs so far have shown, if there are any. */
static int plan_again(struct command *w, struct pct_store *store)
{
    uint64_t there = pct_store_number(store, "runs");
    if (!(w->campaign->confidence > 0) || w->planned)
        return 0;
    int failed = w->campaign->done ? plan_confidence(w) : 0;
    if (!w->planned || w->plan.total < there)
        w->plan.total = there;
    return failed;
}

/* What was verified with other libraries is not verified. Earlier versions have not written down which these were. */
static int match_code(const struct command *w, struct pct_store *store)
{
    const char *there = pct_store_fact(store, "code");
    if (!w->campaign->exploring.whole || !*there || !strcmp(there, w->plan.code))
        return 0;
    return pct_cli_usage("%s: a library that the program loads, its interpreter (#!), or pct, was rebuilt since all "
                         "schedules were explored: begin anew with --fresh, or name another file with --db",
                         w->plan.path);
}

static int go(struct command *w, struct pct_recorder *recorder)
{
    struct pct_campaign *c = w->campaign;
    int failed = pct_campaign_file_match(recorder->store, c, &w->plan, &w->oracle);
    if (failed)
        return failed;
    c->offset = w->plan.shard - 1;
    c->stride = w->plan.of;
    failed = pct_campaign_file_check_runs(recorder->store, c, &w->plan);
    if (!failed)
        failed = pct_recorder_open(recorder, c);
    if (!failed)
        failed = match_code(w, recorder->store);
    if (!failed)
        failed = plan_again(w, recorder->store);
    if (failed)
        return failed;
    c->runs = pct_campaign_file_share(w->plan.total, w->plan.shard, w->plan.of);
    c->limit = c->runs;
    c->systematic.most = pct_store_number(recorder->store, "systematic");
    c->cycles.may = pct_store_number(recorder->store, "cycles");
    c->exploring.most = pct_store_number(recorder->store, "exploring");
    c->exploring.tried = c->resumed > PCT_EXPLORING_FROM ? c->exploring.most : 0;
    if (c->exploring.most) /* it may be of more runs now; where something has failed, there is none */
        c->exploring.most = recorder->count ? 0 : pct_exploring_room(c->runs);
    char total[32];
    snprintf(total, sizeof total, "%llu", (unsigned long long)w->plan.total);
    if (c->done > c->runs)
        return pct_cli_usage("%s has %llu runs already; -n is the number of runs in all", w->plan.path,
                             (unsigned long long)c->done);
    if (pct_store_number(recorder->store, "runs") != w->plan.total) {
        recorder->dirty = true;
        if (pct_store_set_fact(recorder->store, "runs", total))
            return pct_cli_usage("%s: %s", w->plan.path, pct_store_error(recorder->store));
    }
    const bool saturated = pct_directed_is_saturated(c) || pct_exploring_is_over(c);
    if (!w->quiet && c->resumed && !pct_supervised_deaths())
        pct_cli_say("%s: %llu of %llu runs are done; %s", w->plan.path, (unsigned long long)c->resumed,
                    (unsigned long long)c->runs,
                    c->resumed == c->runs ? "-n adds more, --fresh begins anew"
                    : c->exploring.whole  ? "all schedules were explored, --fresh begins anew"
                    : saturated           ? "it is saturated; a larger --until-saturated adds more, --fresh begins anew"
                                          : "going on");
    if (saturated)
        c->runs = c->done;
    int status = c->done < c->runs ? look_again(w, recorder) : 0;
    if (!status)
        status = pct_campaign_run(c);
    if (c->launch.restore.broken)
        return status;
    return report(w, recorder, pct_recorder_finish(recorder, c, status));
}

static int run(struct command *w)
{
    char error[512];
    static struct pct_recorder recorder;
    static struct pct_explore_first first;
    char code[20];
    pct_explorer_hash_code(code, sizeof code, &w->campaign->launch);
    w->plan.code = code;
    first = (struct pct_explore_first){ .campaign = w->campaign, .schedules = &w->schedules, .oracle = &w->oracle };
    if (!w->runs.explore_said && w->plan.of < 2)
        pct_explore_plan(&first, w->plan.total);
    int status = begin(w);
    if (status)
        return status;
    recorder = (struct pct_recorder){ .path = w->plan.path, .oracle = &w->oracle, .quiet = w->quiet };
    recorder.store = pct_store_open(w->plan.path, true, error, sizeof error);
    if (!recorder.store)
        return pct_cli_usage("%s: %s", w->plan.path, error);
    struct pct_hosts *restore = &w->campaign->launch.restore;
    int failed = restore->wanted ? pct_store_remember(recorder.store) : 0;
    status = failed ? 0 : go(w, &recorder);
    if (restore->broken)
        failed = pct_store_recall(recorder.store);
    if (failed)
        status = pct_recorder_fail(&recorder, failed);
    pct_recorder_close(&recorder);
    pct_store_close(recorder.store);
    return restore->broken && !failed ? pct_hosts_begin_anew(&w->campaign->launch) : status;
}

/* Runs that were not given the time that --timeout has where nobody says it. */
static void say_cut(const struct pct_campaign *c)
{
    char longest[64];
    if (c->cut)
        pct_cli_say("%llu run%s far longer than the others and %s cut, a timeout: the longest that passed took %s; "
                    "--timeout says how long runs may take",
                    (unsigned long long)c->cut, c->cut == 1 ? " took" : "s took", c->cut == 1 ? "was" : "were",
                    pct_cli_format_duration(longest, sizeof longest, c->launch.limit.longest));
    if (c->again)
        pct_cli_say("%llu run%s far longer than the others and %s made again: what %s then is what counts",
                    (unsigned long long)c->again, c->again == 1 ? " took" : "s took", c->again == 1 ? "was" : "were",
                    c->again == 1 ? "it did" : "they did");
}

/* The reports of the file that pct explore has made. */
static int export_explored(struct command *w)
{
    char error[512];
    struct pct_store *store = w->exports.count ? pct_store_open(w->plan.path, true, error, sizeof error) : NULL;
    if (!store)
        return w->exports.count ? pct_cli_usage("%s: %s", w->plan.path, error) : 0;
    int status = pct_export_all(store, &w->exports);
    pct_store_close(store);
    return status;
}

/* Whether the file is there, and of a campaign: *explored: this many explorations has it, one of which goes on. */
static bool has_campaign(const char *path, unsigned *explored)
{
    char error[512];
    *explored = 0;
    if (pct_store_look(path, error, sizeof error) == PCT_STORE_ABSENT)
        return false;
    struct pct_store *store = pct_store_open(path, true, error, sizeof error);
    if (store && *pct_store_fact(store, "bound"))
        *explored = pct_store_parts(store);
    if (store)
        pct_store_close(store);
    return !*explored;
}

/* --explore, unless there is a campaign that goes on. *over: there is to be none; with the status that is returned. */
static int explore_first(struct command *w, bool *over)
{
    struct pct_explore_first first = { .campaign = w->campaign,
                                       .schedules = &w->schedules,
                                       .oracle = &w->oracle,
                                       .path = w->plan.path,
                                       .seconds = w->runs.explore,
                                       .quiet = w->quiet };
    if (w->shard || w->oracle.same)
        return pct_cli_usage("--explore makes all schedules: it takes no %s", w->shard ? "--shard" : "--expect-same");
    int status = pct_export_check(&w->exports);
    if (!status && w->fresh)
        status = pct_campaign_file_move_away(w->plan.path);
    w->fresh = false;
    unsigned explored;
    if (status || has_campaign(w->plan.path, &explored))
        return status;
    if (explored > 1)
        return pct_cli_usage(
            "--explore: %s has %u explorations, which go on by pct explore --db; name another file with "
            "--db",
            w->plan.path, explored);
    first.resumes = explored;
    status = pct_explore_first(&first);
    *over = !status && first.complete;
    w->campaign->found = !status && first.status == 1;
    if (*over)
        status = export_explored(w);
    return *over && !status ? first.status : status;
}

static int campaign(int argc, char **argv)
{
    static struct pct_campaign c; /* large */
    static struct command w;
    static const char default_path[] = "pct-campaign.db";
    w.campaign = w.runs.campaign = &c;
    w.plan.path = default_path;
    w.plan.total = 1000;
    w.oracle.ok = c.ok;
    c.ok[0] = c.keep_going = c.kept = true;
    pct_parse(&argp, argc, argv, 0, &w);
    pct_time_limit_by_default(&c.launch, c.ok);
    if (w.runs.each_test && w.plan.path != default_path && !strstr(w.plan.path, "{test}"))
        return pct_cli_usage("--each-test: each test case is a campaign with a file of its own: --db '%s-{test}'",
                             w.plan.path);
    int failed = w.runs.each_test ? pct_input_settle(&c.launch) : 0;
    if (failed)
        return failed;
    if (w.runs.each_test)
        return pct_each_test(argv, c.launch.command, w.runs.framework,
                             w.plan.path == default_path ? "--db=pct-campaign-{test}.db" : NULL, false);
    bool over = false;
    int status = w.runs.explore > 0 ? explore_first(&w, &over) : 0;
    if (status || over)
        return status;
    status = check(&w);
    if (!status && w.fresh)
        status = pct_campaign_file_move_away(w.plan.path);
    pct_forking_plan(&c.launch, true, false, c.config.strategy);
    c.launch.resumes = true;
    if (!status) {
        c.tells = !w.quiet;
        c.other.quiet = c.systematic.quiet = w.quiet;
        pct_configure_memory(&c, w.quiet);
        status = pct_campaign_prepare(&c);
    }
    if (status)
        return status;
    if (!w.quiet)
        pct_launch_say_random(&c.launch);
    status = run(&w);
    if (!w.quiet) {
        pct_directed_say(&c);
        pct_forking_print(stderr, &c.launch);
        pct_hosts_print(stderr, &c.launch);
        pct_races_say_suppressed(c.suppressed, true);
        say_cut(&c);
    }
    pct_oracle_close(&w.oracle);
    pct_campaign_close(&c);
    pct_launch_finish(&c.launch);
    return c.found && (!status || status == PCT_EXIT_CONFIDENCE) ? 1 : status;
}

int pct_cmd_campaign(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "report"))
        return pct_campaign_report_command(argc - 1, argv + 1);
    if (argc > 1 && !strcmp(argv[1], "merge"))
        return pct_campaign_merge_command(argc - 1, argv + 1);
    return campaign(argc, argv);
}
