/* `pct explore`: its options, and the configuration that they make. cli/explore/ does the rest. */
#include <cli/base/cli.h>
#include <cli/base/status_line.h>
#include "configure.h"
#include "each_test.h"
#include <cli/explore/keep.h>
#include <cli/process/environment.h>
#include <cli/process/options.h>
#include <cli/process/settings.h>
#include "parse.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_BUDGET = 2600,
    KEY_FIRST,
    KEY_BOUND,
    KEY_DB,
    KEY_RESUME,
    KEY_FRESH,
    KEY_ORDER,
    KEY_EACH_TEST,
    KEY_ESTIMATE,
    KEY_TELL_WHOLE,
    KEY_SERVE,
    KEY_AFFORD,
    KEY_SHARD,
    KEY_LEVEL,
    KEY_ENGINE
};
enum { STEPS = 20000, BOUND = 2, PROBES = 1000 };

static const struct argp_option options[] = {
    { NULL, 0, NULL, 0, "Exploration", 1 },
    { "bound", KEY_BOUND, "N", 0,
      "only schedules with at most N preemptions: first those with none, then with one, ... (default: no bound)", 1 },
    { "order", KEY_ORDER, "ORDER", 0,
      "dpor: one schedule of each class (default without --bound); with a bound, which is 2 if there is no --bound: "
      "chess: by preemptions (default with --bound); rank: the simplest first, as RankChecker has it",
      1 },
    { "estimate", KEY_ESTIMATE, "SCHEDULES", OPTION_ARG_OPTIONAL,
      "do not explore: estimate by random schedules (default: 1000) how many classes of schedules there are", 1 },
    { "budget", KEY_BUDGET, "SECONDS", 0, "stop after this time (default: none)", 1 },
    { "runs", 'n', "N", 0, "stop after this many runs (default: no bound)", 1 },
    { "jobs", 'j', "N", 0, "this many runs at a time (default: 1); what is found is the same", 1 },
    { "db", KEY_DB, "FILE", 0,
      "keep runs and findings in this campaign file; if it is there, its exploration of this command goes on, or this "
      "is "
      "a further one",
      1 },
    { "resume", KEY_RESUME, NULL, 0, "go on with that of --db (default: pct-explore.db), which has to be there", 1 },
    { "fresh", KEY_FRESH, NULL, 0, "begin anew, and keep an older file as FILE.old", 1 },
    { "shard", KEY_SHARD, "I/OF", 0,
      "explore the I-th of OF parts, each of which may be on a machine of its own; needs --epoch, the same for all, "
      "and "
      "a file (default: pct-explore.db). pct campaign merge says what all of them have come to",
      1 },
    { "level", KEY_LEVEL, "LEVEL", 0,
      "verified is only what has scheduling points at least at calls (default), atomics or accesses", 1 },
    { "first", KEY_FIRST, NULL, 0, "stop at the first finding", 1 },
    { PCT_EACH_TEST_OPTION, KEY_EACH_TEST, "KIND", OPTION_ARG_OPTIONAL, PCT_EACH_TEST_HELP, 1 },
    { PCT_ENGINE_OPTION, KEY_ENGINE, "NAME", 0, PCT_ENGINE_HELP, 1 },
    { "tell-whole", KEY_TELL_WHOLE, NULL, OPTION_HIDDEN, NULL, 1 }, /* for explore_first.c */
    { "serve", KEY_SERVE, NULL, OPTION_HIDDEN, NULL, 1 },           /* likewise */
    { "afford", KEY_AFFORD, "SECONDS", OPTION_HIDDEN, NULL, 1 },    /* likewise */
    { NULL, 0, NULL, 0, "Output", 3 },
    { "trace", 't', "FILE", 0, "keep the trace of the first failing run", 3 },
    { "quiet", 'q', NULL, 0, "print nothing but findings and the last line", 3 },
    { 0 },
};

struct arguments {
    struct pct_campaign *campaign;
    struct pct_explorer *explorer;
    struct pct_explorer_keep *keep;
    bool fresh, each_test;
    const char *framework; /* what --each-test says */
    const char *shard;
    struct pct_run_options schedules;
    bool dpor, bounded; /* what --order says */
};

static void parse_order(struct arguments *w, const char *name, struct argp_state *state)
{
    w->dpor = !strcmp(name, "dpor");
    w->bounded = !strcmp(name, "chess") || !strcmp(name, "rank");
    w->explorer->order = !strcmp(name, "rank") ? PCT_SEARCH_RANK : PCT_SEARCH_CHESS;
    if (!w->dpor && !w->bounded)
        argp_error(state, "--order: %s is none of dpor, chess, rank", name);
}

static enum pct_level parse_level(const char *name, struct argp_state *state)
{
    int level = pct_explorer_level(name);
    if (level < 0)
        argp_error(state, "--level: %s is none of calls, atomics, accesses", name);
    return (enum pct_level)level;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *w = state->input;
    const struct pct_setting settings[] = {
        { ARGP_KEY_INIT, .inputs = (void *[]){ &w->campaign->launch, &w->schedules, w->campaign->ok, &w->keep->oracle,
                                               &w->keep->exports, NULL } },
        { KEY_BUDGET, .seconds = &w->explorer->budget },
        { 'n', .number = &w->explorer->limit, .least = 1, .most = UINT64_MAX / 2 },
        { KEY_FIRST, .on = &w->explorer->first },
        { KEY_TELL_WHOLE, .on = &w->explorer->tells },
        { KEY_SERVE, .on = &w->explorer->serves },
        { KEY_AFFORD, .seconds = &w->explorer->afford },
        { 't', .text = &w->explorer->save },
        { 'j', .count = &w->campaign->jobs, .least = 1, .most = 256 },
        { 'q', .on = &w->explorer->quiet },
        { KEY_DB, .text = &w->keep->plan.path },
        { KEY_RESUME, .on = &w->keep->resumes },
        { KEY_FRESH, .on = &w->fresh },
        { KEY_SHARD, .text = &w->shard },
        { KEY_EACH_TEST, .text = &w->framework, .on = &w->each_test },
        { 0 },
    };
    if (pct_settings_take(settings, options, key, argument, state))
        return 0;
    switch (key) {
    case KEY_ENGINE:
        pct_options_engine(state, &w->campaign->launch, argument);
        return 0;
    case KEY_BOUND:
        w->explorer->bound = (int)pct_options_number(state, "--bound", argument, 0, PCT_BOUND_MAX);
        return 0;
    case KEY_ORDER:
        parse_order(w, argument, state);
        return 0;
    case KEY_LEVEL:
        w->explorer->level = parse_level(argument, state);
        return 0;
    case KEY_ESTIMATE:
        w->explorer->probes = argument ? pct_options_number(state, "--estimate", argument, 2, 20000) : PROBES;
        return 0;
    }
    return pct_options_parse_command(key, state, &w->campaign->launch, "pct explore");
}

static const struct argp_child children[] = {
    PCT_CONFIGURE_CHILDREN,
    { &pct_oracle_argp, 0, NULL, 0 },
    { &pct_exports_argp, 0, NULL, 0 },
    { 0 },
};

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[--] COMMAND [ARGUMENT...]",
    .doc = "Run a program under all schedules, but only once where they differ in nothing but the order of operations "
           "that commute.\v"
           "The last line says what is known: verified, found, or not verified and why. The exit status is 0 for "
           "verified, 1 for "
           "found, 119 for not verified.",
    .children = children,
};

/* What makes no sense here: schedules are not drawn, and all accesses count, or none. */
static int refuse(const struct arguments *w)
{
    const struct pct_run_options *s = &w->schedules;
    if (s->strategy || s->depth || s->points)
        return pct_cli_usage("pct explore makes all schedules: it takes no --strategy, --depth and --points");
    if (s->memory_points && strcmp(s->memory_points, "all") != 0 && strcmp(s->memory_points, "off") != 0)
        return pct_cli_usage(
            "--memory-points: of pct explore it is all, or off; which accesses the others choose depends "
            "on the schedule");
    return 0;
}

static int set_shard(struct arguments *w)
{
    struct pct_campaign_plan plan = { .has_epoch = w->keep->plan.has_epoch };
    int status = pct_configure_shard(w->shard, w->campaign, &plan);
    if (status || !w->shard)
        return status;
    if (plan.of > PCT_SHARDS_MAX)
        return pct_cli_usage("--shard=%s: there may be at most %d", w->shard, PCT_SHARDS_MAX);
    if (w->bounded || w->explorer->bound >= 0 || w->explorer->probes)
        return pct_cli_usage("--shard divides classes of schedules: it takes no --bound, --order and --estimate");
    w->explorer->shard = (unsigned)plan.shard;
    w->explorer->of = (unsigned)plan.of;
    return 0;
}

static int configure(struct arguments *w)
{
    struct pct_campaign *c = w->campaign;
    int status = refuse(w);
    if (status)
        return status;
    if (w->dpor && w->explorer->bound >= 0)
        return pct_cli_usage("--order=dpor takes no --bound: chess and rank do");
    if (w->explorer->probes && (w->bounded || w->explorer->bound >= 0))
        return pct_cli_usage("--estimate is of all classes of schedules: it takes no --bound");
    if (w->explorer->probes && (w->keep->plan.path || w->keep->resumes || w->fresh || w->keep->exports.count))
        return pct_cli_usage("--estimate keeps nothing: it takes no --db, --resume, --fresh and --report");
    if (w->bounded && w->explorer->bound < 0)
        w->explorer->bound = BOUND;
    status = pct_configure_own(c, &w->schedules, "explore");
    if (status)
        return status;
    c->config.explored = true;
    if (c->config.memory == PCT_PATCH_ALL) /* its verdict is to be about all of them */
        c->config.memory = PCT_PATCH_STACKS;
    /* Which waits end by themselves, the seed draws: with others, there are other schedules. */
    if (c->config.focus[0] || c->config.watch[0] || c->config.sample || c->config.races || c->config.spurious)
        return pct_cli_usage(
            "pct explore takes no --focus, --watch, --memory-sample, --races and --spurious, nor the variables "
            "PCT_FOCUS, PCT_WATCH, PCT_MEMORY_SAMPLE, PCT_RACES and PCT_SPURIOUS");
    if (!c->config.max_steps)
        c->config.max_steps = STEPS;
    status = set_shard(w);
    if (status)
        return status;
    return pct_config_fits(&c->config, c->strategy) ? 0 : pct_cli_usage("the options are too long for a token");
}

/* Results in other formats are those of a file, and so are runs that go on. */
static bool needs_file(const struct arguments *w)
{
    return w->keep->resumes || w->fresh || w->keep->exports.count || w->shard;
}

static int configure_keep(struct arguments *w)
{
    struct pct_explorer_keep *k = w->keep;
    if (k->plan.path && !*k->plan.path)
        return pct_cli_usage("--db: the name of the file is empty");
    if (k->resumes && w->fresh)
        return pct_cli_usage("--resume and --fresh exclude each other; give one");
    if (!k->plan.path && needs_file(w))
        k->plan.path = "pct-explore.db";
    k->oracle.ok = w->campaign->ok;
    k->plan.drawn = !w->schedules.seed;
    k->plan.has_epoch = pct_configure_choose(w->schedules.epoch, "PCT_EPOCH");
    int status = pct_export_check(&k->exports);
    if (!status)
        status = pct_oracle_prepare(&k->oracle);
    if (!status && w->fresh)
        status = pct_campaign_file_move_away(k->plan.path);
    if (!status && k->plan.path)
        status = pct_campaign_file_check_place(k->plan.path);
    return status;
}

static int explore(struct arguments *w)
{
    struct pct_campaign *c = w->campaign;
    struct pct_explorer *e = w->explorer;
    e->keep = w->keep;
    int status = pct_explorer_open(e, c);
    if (status)
        return status;
    pct_time_limit_by_default(&c->launch, c->ok);
    pct_forking_plan(&c->launch, true, false, c->config.strategy);
    pct_configure_memory(c, e->quiet);
    status = pct_launch_prepare(&c->launch);
    if (!status && w->keep->plan.path)
        status = pct_explorer_keep_open(w->keep, e, c);
    if (status)
        return status;
    status = pct_explorer_run(e, c);
    if (c->launch.restore.broken) {
        int failed = pct_explorer_keep_recall(w->keep);
        return failed ? failed : pct_hosts_begin_anew(&c->launch);
    }
    if (!e->quiet)
        pct_hosts_print(stderr, &c->launch);
    if (e->probes && (!status || status > 128))
        return pct_explorer_say_estimate(e, c, status ? status - 128 : 0);
    if (!status || status > 128)
        status = pct_explorer_verdict(e, c, status ? status - 128 : 0);
    return status;
}

int pct_cmd_explore(int argc, char **argv)
{
    static struct pct_campaign campaign; /* large */
    static struct pct_explorer explorer = { .bound = PCT_UNBOUNDED };
    static struct pct_explorer_keep keep;
    struct arguments arguments = { .campaign = &campaign, .explorer = &explorer, .keep = &keep };
    campaign.ok[0] = true;
    campaign.stride = campaign.jobs = campaign.runs = 1;
    pct_parse(&argp, argc, argv, 0, &arguments);
    if (arguments.each_test && arguments.fresh && keep.plan.path && !strstr(keep.plan.path, "{test}"))
        return pct_cli_usage("--each-test --fresh: each test case would move the file of the others away: --db "
                             "'%s-{test}'",
                             keep.plan.path);
    if (arguments.each_test)
        return pct_each_test(argv, campaign.launch.command, arguments.framework,
                             !keep.plan.path && needs_file(&arguments) ? "--db=pct-explore-{test}.db" : NULL, false);
    int status = pct_environment_check(false);
    if (!status)
        status = configure_keep(&arguments);
    if (!status)
        status = configure(&arguments);
    if (status)
        return status;
    campaign.tells = !explorer.quiet;
    explorer.progress = !explorer.quiet && pct_status_line_obeys();
    status = explore(&arguments);
    pct_campaign_close(&campaign);
    pct_launch_finish(&campaign.launch);
    pct_explorer_close(&explorer);
    pct_explorer_keep_close(&keep);
    return status;
}
