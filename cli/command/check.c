/* `pct check`: run the schedules that once broke the program again, and their neighbours. All must pass.
 *
 * What counts is how a run ends, not whether it makes the same steps as when its schedule was kept: a program that was
 * repaired must make others. */
#include <cli/campaign/engine.h>
#include <cli/base/cli.h>
#include <cli/base/list.h>
#include <cli/base/color.h>
#include <cli/base/status_line.h>
#include <cli/base/trust.h>
#include <cli/process/environment.h>
#include <cli/export/junit.h>
#include <cli/analyze/neighbours.h>
#include <cli/process/options.h>
#include <cli/process/settings.h>
#include <cli/campaign/outcome.h>
#include "parse.h"
#include <cli/analyze/schedules.h>
#include "subcommand_entry.h"
#include <cli/binary/scope.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_NEAR = 3000, KEY_JUNIT };

static const struct argp_option options[] = {
    { "near", KEY_NEAR, "STEPS", 0,
      "also with the change points up to this many steps earlier and later (default: 2; 0: only the schedules "
      "themselves)",
      1 },
    { "jobs", 'j', "N", 0, "this many runs at a time; the outcome does not depend on it (default: 1)", 1 },
    { "junit", KEY_JUNIT, "FILE", 0, "write the results as JUnit XML too; -: to standard output", 1 },
    { "quiet", 'q', NULL, 0, "print nothing but failures", 1 },
    { 0 },
};

/* One entry of the file, and what came of it. */
struct item {
    const struct pct_entry *entry;
    char place[PATH_MAX + 16];
    struct pct_launch launch;
    struct pct_entry_options options;
    struct pct_config config;
    const struct pct_strategy *strategy;
    char *list;             /* the strategy's, where it is too long for the configuration */
    struct pct_config near; /* of the neighbours: that, or the list of its first run's switches */
    const struct pct_strategy *near_strategy;
    uint64_t *hashes, count;          /* of runs, and how many these will be */
    uint64_t runs, failed, different; /* different: schedules, by the hashes of their traces */
    bool same;                        /* the schedule itself made the steps of its token */
    bool unable;                      /* it could not be run */
    bool ended;                       /* what came of it is known; not of what an interruption cut off */
    int code;                         /* the exit status that stands for it */
    double seconds;
    enum pct_subcommand_entry_kind kind; /* a token, or a sub-command in its place */
    bool unfit;                          /* of a script: it can neither pass nor fail */
    char ending[256], what[96];          /* of the first run that failed: how, and which one it was */
    char *report, *shown;                /* what was found, for files and for standard error */
};

/* MANY: of fewer runs, it takes longer to find out that they can be forked than is saved by it. */
enum { JOBS_MAX = 256, MANY = 5 };

/* An entry as a source of runs: the schedule itself, then its neighbours. */
struct checking {
    struct pct_run_source source; /* the first member */
    const struct check *check;
    struct item *item;
    uint64_t next;
    bool failed; /* the run that is looked at */
};

struct check {
    const char *file;
    const char *junit_file;
    FILE *junit;
    uint64_t near;
    unsigned jobs;
    bool near_given, quiet;
    struct pct_schedules schedules;
    struct item *items;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct check *c = state->input;
    const struct pct_setting settings[] = {
        { KEY_NEAR, .number = &c->near, .most = PCT_NEAR_MAX, .on = &c->near_given },
        { 'j', .count = &c->jobs, .least = 1, .most = JOBS_MAX },
        { KEY_JUNIT, .text = &c->junit_file },
        { 'q', .on = &c->quiet },
        { ARGP_KEY_ARG, .text = &c->file, .once = "one file at a time" },
        { 0 },
    };
    return pct_settings_take(settings, options, key, argument, state) ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[FILE]",
    .doc =
        "Run all schedules of a file again (default: " PCT_SCHEDULES_FILE
        "), which `pct add` has put there when they broke the program, and their neighbours: none may fail.\vThe exit "
        "status is 0 if none did, or that of the first schedule in the file that did, as for `pct run`. The commands "
        "run "
        "in the current directory.",
};

/* --- Before the first run: is all of the file good? --------------------------------------------------------------- */

static int prepare_item(struct check *c, struct item *item)
{
    char error[512];
    snprintf(item->place, sizeof item->place, "%s:%u", c->file, item->entry->line);
    item->kind = pct_subcommand_entry_kind(item->entry->schedule);
    if (item->kind != PCT_ENTRY_TOKEN)
        return pct_subcommand_entry_check(item->entry, item->place);
    if (pct_long_token_parse(&item->config, item->entry->schedule, &item->list, error, sizeof error))
        return pct_cli_usage("%s: Schedule: %s", item->place, error);
    int failed = pct_cli_check_strategy(&item->config);
    if (failed == PCT_EXIT_USAGE)
        return pct_cli_usage("%s: this is about its Schedule", item->place);
    if (failed)
        return failed;
    item->strategy = pct_cli_find_strategy(item->config.strategy, error, sizeof error);
    item->options.launch = &item->launch;
    pct_scope_want(&item->launch, &item->config);
    failed = pct_entry_parse(item->entry, item->place, &item->options);
    if (failed)
        return failed;
    if (c->near_given || item->options.near == UINT64_MAX)
        item->options.near = c->near;
    failed = pct_drive_check(&item->launch.drive, c->jobs);
    if (!failed)
        failed = pct_oracle_prepare(&item->options.oracle);
    if (failed)
        pct_cli_say("%s: this is about its Options", item->place);
    return failed;
}

static int prepare(struct check *c)
{
    char error[512];
    if (!pct_trust_file(c->file, error, sizeof error))
        return pct_cli_usage("%s", error);
    int failed = pct_schedules_read(&c->schedules, c->file, error, sizeof error);
    if (failed == -ENOENT)
        return pct_cli_usage("%s; `pct add TOKEN -- COMMAND` puts a schedule into a file, which it makes", error);
    if (failed)
        return pct_cli_usage("%s", error);
    c->items = calloc(c->schedules.count + 1, sizeof *c->items);
    if (!c->items)
        return pct_cli_no_memory("");
    for (size_t i = 0; !failed && i < c->schedules.count; i++) {
        c->items[i].entry = &c->schedules.entries[i];
        failed = prepare_item(c, &c->items[i]);
    }
    if (!failed && c->junit_file) {
        c->junit = strcmp(c->junit_file, "-") ? fopen(c->junit_file, "we") : stdout;
        if (!c->junit)
            return pct_cli_usage("--junit=%s: %s", c->junit_file, strerror(errno));
    }
    return failed;
}

/* --- Runs --------------------------------------------------------------------------------------------------------- */

/* The report of a failure. To be freed; NULL: there is no memory. */
static char *report(const struct item *item, struct pct_process *process, const struct pct_result *result, bool shown)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    pct_status_line_later(shown ? out : NULL);
    pct_outcome_write_report(out, process, result);
    fputs("pct: this replays it:\n", out);
    pct_color(out, PCT_COLOR_COMMAND);
    pct_cli_print_quoted(out, pct_cli_program);
    fputc(' ', out);
    pct_outcome_write_replay(out, &item->launch, process, result,
                             item->list ? item->entry->schedule : result->trace.header.token);
    pct_color(out, PCT_COLOR_NONE);
    fputc('\n', out);
    pct_status_line_later(NULL);
    return fclose(out) ? NULL : text;
}

/* What is kept of the first run that failed: the process and its trace do not stay. */
static void keep_failure(struct item *item, struct pct_process *process, const struct pct_result *result)
{
    item->code = result->code;
    pct_outcome_format(item->ending, sizeof item->ending, process, result);
    item->report = report(item, process, result, false);
    item->shown = report(item, process, result, true);
}

static bool is_new(const uint64_t *hashes, uint64_t count, uint64_t hash)
{
    while (count--)
        if (hashes[count] == hash)
            return false;
    return true;
}

/* The configuration of this neighbour, and what it is. */
static void get_neighbour(const struct item *item, uint64_t number, struct pct_config *config, char *what, size_t size)
{
    *config = number ? item->near : item->config;
    config->has_hash = false;
    pct_neighbours_get(config, number ? item->near_strategy : item->strategy, number, what, size);
}

/* How many there are, and room for them. Returns whether there is. */
static bool make_room(struct item *item)
{
    item->count = pct_neighbours_count(&item->near, item->near_strategy, item->options.near);
    uint64_t *hashes = reallocarray(item->hashes, item->count, sizeof *hashes);
    if (hashes)
        item->hashes = hashes;
    return hashes;
}

/* The schedule itself was run. Returns 0 or an exit status. */
static int find_neighbours(struct item *item, const struct pct_result *result)
{
    return item->options.near && pct_neighbours_take_switches(&item->near, &item->near_strategy, &result->trace) &&
                   !make_room(item)
               ? pct_cli_no_memory("")
               : 0;
}

static int next(struct pct_run_source *source, struct pct_run_spec *spec)
{
    struct checking *s = (struct checking *)source;
    const struct item *item = s->item;
    char what[sizeof item->what];
    /* How many there are, and how they are made, is known after the first. */
    if (s->next == item->count || (s->next && !item->runs))
        return PCT_RUNS_WAIT;
    spec->index = s->next++;
    get_neighbour(item, spec->index, &spec->config, what, sizeof what);
    spec->strategy = spec->index ? item->near_strategy : item->strategy;
    spec->list = spec->index ? NULL : item->list;
    return PCT_RUNS_ON;
}

/* The others may be forked if the first one goes well, and goes the same way. */
static int classify(struct pct_run_source *source, struct pct_ended_run *run)
{
    struct checking *s = (struct checking *)source;
    struct item *item = s->item;
    int stopped = pct_oracle_run(&item->options.oracle, &item->launch, &run->process, &run->result);
    if (stopped)
        return stopped;
    s->failed = pct_result_fails(&run->result, item->options.ok);
    if (!run->process.index && s->failed)
        item->launch.forks.state = PCT_FORKING_NO;
    return PCT_RUNS_ON;
}

static int ended(struct pct_run_source *source, struct pct_ended_run *run)
{
    static struct pct_config config; /* large */
    const struct checking *s = (struct checking *)source;
    struct item *item = s->item;
    uint64_t index = run->process.index, hash = run->result.trace.header.hash;
    int stopped = 0;
    if (!index) {
        item->same = item->config.has_hash && hash == item->config.hash;
        stopped = find_neighbours(item, &run->result);
    }
    item->different += is_new(item->hashes, item->runs, hash);
    item->hashes[item->runs++] = hash;
    if (s->failed && !item->failed++) {
        get_neighbour(item, index, &config, item->what, sizeof item->what);
        keep_failure(item, &run->process, &run->result);
        if (s->check->junit != stdout)
            pct_outcome_show_output(&run->process, true);
    }
    return stopped;
}

/* All neighbours, up to c->jobs of them at a time. Returns 0, or 128 + the signal that tells us to end. */
static int run_all(const struct check *c, struct item *item)
{
    struct checking s = { .source = { .next = next, .classify = classify, .ended = ended }, .check = c, .item = item };
    struct pct_engine engine = { .launch = &item->launch, .jobs = c->jobs, .room = c->jobs, .quiet = true };
    int status = pct_engine_run(&engine, &s.source);
    item->unable = status && !engine.signal;
    item->code = item->unable ? status : item->code;
    return engine.signal ? status : 0;
}

/* By its sub-command. Returns likewise. */
static int run_subcommand(const struct check *c, struct item *item)
{
    struct pct_subcommand_entry result;
    double begun = pct_cli_now();
    item->code = pct_subcommand_entry_run(&result, item->entry, item->place, c->jobs);
    item->unable = item->code;
    item->seconds = pct_cli_now() - begun;
    if (item->unable)
        return 0;
    item->code = result.status;
    item->runs = 1;
    item->failed = result.outcome == PCT_ENTRY_FAILS;
    item->unfit = result.outcome == PCT_ENTRY_DID_NOT_FIT;
    item->unable = result.outcome == PCT_ENTRY_UNABLE;
    snprintf(item->ending, sizeof item->ending, "%s", result.last);
    item->report = result.said;
    free(result.last);
    /* `pct explore` is told to end as we are; a script's status is its program's. */
    return item->kind == PCT_ENTRY_EXPLORE && item->code > 128 ? item->code : 0;
}

static int run_item(const struct check *c, struct item *item)
{
    if (item->kind != PCT_ENTRY_TOKEN)
        return run_subcommand(c, item);
    double begun = pct_cli_now();
    int interrupted = 0;
    item->near = item->config;
    item->near_strategy = item->strategy;
    item->code = make_room(item) ? pct_launch_prepare(&item->launch) : PCT_EXIT_INTERNAL;
    item->unable = item->code;
    if (!item->unable) {
        bool many = item->count >= MANY || (item->count == 1 && item->options.near && !item->strategy->list);
        pct_forking_plan(&item->launch, many, false, item->config.strategy);
        interrupted = run_all(c, item);
        pct_launch_finish(&item->launch);
    }
    free(item->hashes);
    item->hashes = NULL;
    item->seconds = pct_cli_now() - begun;
    return interrupted;
}

/* --- What is said ------------------------------------------------------------------------------------------------- */

static void print_subcommand(const struct check *c, const struct item *item)
{
    bool explores = item->kind == PCT_ENTRY_EXPLORE;
    if (item->unable)
        pct_cli_say("%s: NOT CHECKED: pct %s could not do it (status %d)", item->place, explores ? "explore" : "script",
                    item->code);
    else if (item->failed && explores)
        pct_cli_say("%s: FAILED: it is not verified any more", item->place);
    else if (item->failed)
        pct_cli_say("%s: FAILED: %s", item->place, item->ending);
    else if (item->unfit)
        pct_cli_say("%s: DID NOT FIT: %s", item->place, item->ending);
    else if (!c->quiet)
        pct_cli_say("%s: passed: %s", item->place, item->ending);
    if ((item->failed || item->unfit) && item->entry->note)
        pct_cli_say("note: %s", item->entry->note);
    if (item->unable || item->failed || item->unfit)
        fputs(item->report ? item->report : "", stderr);
    if (item->unfit)
        pct_cli_say("mend the script; or, if the program's repair makes this schedule impossible: Schedule: script "
                    "--ok-unfit FILE");
}

static void print_item(const struct check *c, const struct item *item)
{
    if (item->kind != PCT_ENTRY_TOKEN) {
        print_subcommand(c, item);
        return;
    }
    const struct pct_entry *entry = item->entry;
    const char *found = entry->found ? entry->found : "its failure";
    if (item->unable) {
        pct_cli_say("%s: NOT CHECKED: its command could not be run (status %d): %s", item->place, item->code,
                    entry->command);
        return;
    }
    if (item->failed) {
        pct_cli_say("%s: FAILED: %s; it was found with %s", item->place, item->ending, found);
        if (entry->note)
            pct_cli_say("note: %s", entry->note);
        pct_cli_say("%llu of %llu runs failed, the first with %s", (unsigned long long)item->failed,
                    (unsigned long long)item->runs, item->what);
        fputs(item->shown ? item->shown : "", stderr);
        return;
    }
    if (c->quiet)
        return;
    pct_cli_say("%s: passed: %llu run%s, %llu different schedule%s; %s", item->place, (unsigned long long)item->runs,
                item->runs > 1 ? "s" : "", (unsigned long long)item->different, item->different > 1 ? "s" : "",
                item->same              ? "the schedule itself makes the same steps as when it failed"
                : item->config.has_hash ? "the program makes other steps than when it failed"
                                        : "whether its steps are the same is not known");
    char text[256];
    if (pct_forking_explain(&item->launch, text, sizeof text))
        pct_cli_say("%s: %s", item->place, text);
}

/* Whether nothing is known of it. */
static bool is_unchecked(const struct item *item)
{
    return !item->ended || item->unable;
}

static void write_junit(const struct check *c, const struct pct_junit_suite *suite)
{
    pct_junit_begin(c->junit, suite);
    for (size_t i = 0; i < c->schedules.count; i++) {
        const struct item *item = &c->items[i];
        char name[PCT_TOKEN_MAX + 512];
        snprintf(name, sizeof name, "%s [%.511s]", item->entry->note ? item->entry->note : item->entry->command,
                 item->entry->schedule);
        const bool not_run = is_unchecked(item), bad = not_run || item->failed || item->unfit;
        pct_junit_case(c->junit, &(struct pct_junit_case){ .class_name = c->file,
                                                           .name = name,
                                                           .file = c->file,
                                                           .line = item->entry->line,
                                                           .seconds = item->seconds,
                                                           .type = !bad          ? NULL
                                                                   : not_run     ? "not run"
                                                                   : item->unfit ? "did not fit"
                                                                                 : item->ending,
                                                           .message = !bad           ? NULL
                                                                      : !item->ended ? "interrupted"
                                                                      : item->unable ? "its command could not be run"
                                                                                     : item->ending,
                                                           .text = item->report,
                                                           .error = not_run });
    }
    pct_junit_end(c->junit);
}

/* code: 0, or what an interruption ends with. */
static int finish(struct check *c, int code)
{
    struct pct_junit_suite suite = { .name = "pct check", .tests = c->schedules.count };
    uint64_t runs = 0;
    unsigned long long unfit = 0;
    char time[64], also[64] = "";
    for (size_t i = 0; i < c->schedules.count; i++) {
        const struct item *item = &c->items[i];
        suite.failures += !is_unchecked(item) && (item->failed || item->unfit);
        unfit += item->ended && item->unfit;
        suite.errors += is_unchecked(item);
        suite.seconds += item->seconds;
        runs += item->runs;
        if (!code && (item->unable || item->failed))
            code = item->code ? item->code : PCT_EXIT_INTERNAL;
    }
    if (!code && unfit)
        code = PCT_EXIT_DID_NOT_FIT;
    if (unfit)
        snprintf(also, sizeof also, ", %llu did not fit", unfit);
    if (c->junit) {
        write_junit(c, &suite);
        bool bad = ferror(c->junit);
        if ((c->junit == stdout ? fflush(stdout) : fclose(c->junit)) || bad) {
            pct_cli_say("--junit=%s: %s", c->junit_file, strerror(errno));
            code = PCT_EXIT_INTERNAL;
        }
    }
    if (!suite.tests)
        pct_cli_say("%s holds no schedules; `pct add TOKEN -- COMMAND` puts one in", c->file);
    else if (!c->quiet || code)
        pct_cli_say("%llu schedule%s, %llu run%s in %s: %llu failed, %llu not checked%s",
                    (unsigned long long)suite.tests, suite.tests > 1 ? "s" : "", (unsigned long long)runs,
                    runs == 1 ? "" : "s", pct_cli_format_duration(time, sizeof time, suite.seconds),
                    (unsigned long long)suite.failures - unfit, (unsigned long long)suite.errors, also);
    return code;
}

int pct_cmd_check(int argc, char **argv)
{
    static struct check check;
    check.file = PCT_SCHEDULES_FILE;
    check.near = PCT_NEAR_DEFAULT;
    check.jobs = 1;
    pct_parse(&argp, argc, argv, PCT_PARSE_ALL, &check);
    int status = pct_environment_check(false);
    if (!status)
        status = prepare(&check);
    for (size_t i = 0; !status && i < check.schedules.count; i++) {
        status = run_item(&check, &check.items[i]);
        check.items[i].ended = !status || (status > 128 && check.items[i].failed);
        if (check.items[i].ended)
            print_item(&check, &check.items[i]);
    }
    if (status > 128)
        pct_cli_say("interrupted");
    if (!status || status > 128)
        status = finish(&check, status);
    for (size_t i = 0; check.items && i < check.schedules.count; i++) {
        pct_oracle_close(&check.items[i].options.oracle);
        free(check.items[i].report);
        free(check.items[i].shown);
    }
    free(check.items);
    pct_schedules_free(&check.schedules);
    return status;
}
