/* `pct coverage`: runs with random schedules, and in which ways their threads have come in between each other. */
#include <cli/base/cli.h>
#include <cli/base/color.h>
#include <cli/base/json.h>
#include <cli/base/status_line.h>
#include <cli/campaign/campaign.h>
#include <cli/campaign/directed.h>
#include <cli/campaign/outcome.h>
#include <cli/campaign/tried.h>
#include <cli/process/environment.h>
#include <cli/process/options.h>
#include <cli/process/settings.h>
#include <cli/trace/accesses.h>
#include <cli/trace/predict.h>
#include <cli/trace/reads_from.h>
#include "configure.h"
#include "coverage_diff.h"
#include "coverage_html.h"
#include "coverage_report.h"
#include <cli/export/export.h>
#include "iroot_print.h"
#include "parse.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_JSON = 2700, KEY_WINDOW, KEY_SATURATED, KEY_PREDICTED, KEY_HTML };
enum { RUNS = 100, WINDOW = 40 };

static const struct argp_option options[] = {
    { NULL, 0, NULL, 0, "Coverage", 1 },
    { "runs", 'n', "N", 0, "number of runs, with consecutive seeds (default: 100)", 1 },
    { "until-saturated", KEY_SATURATED, "N", 0,
      "stop when N runs in a row exposed no new iRoot (reads-from pairs do not count)", 1 },
    { "window", KEY_WINDOW, "STEPS", 0,
      "two accesses of a thread belong together if they are at most this many of its steps apart (default: 40)", 1 },
    { "predicted", KEY_PREDICTED, NULL, 0,
      "list also what the runs could have exposed, by what forbids orders of accesses, and have not", 1 },
    { "jobs", 'j', "N", 0, "this many runs at a time; the outcome does not depend on it (default: 1)", 1 },
    { "json", KEY_JSON, NULL, 0, "write JSON", 3 },
    { "html", KEY_HTML, "FILE", 0, "write also a page: what was exposed over the runs, and each with its lines", 3 },
    { 0 },
};

struct coverage {
    struct pct_campaign_observer observer; /* first */
    struct pct_campaign *campaign;
    struct pct_run_options schedules;
    struct pct_access_places places;
    struct pct_iroots roots, predicted, pairs; /* the last: reads-from pairs */
    struct pct_iroots combined;                /* patterns of three threads that were exposed; of maple */
    struct pct_tried tried;                    /* by maple, when its runs are over */
    uint64_t saturated;                        /* --until-saturated; 0: not given */
    uint64_t runs;                             /* that were looked at */
    uint64_t shared;                           /* accesses to what threads may share, in all runs */
    uint32_t window;
    const char *html; /* --html; NULL: not given */
    bool json, lists_predicted;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct coverage *w = state->input;
    const struct pct_setting settings[] = {
        { ARGP_KEY_INIT, .inputs = (void *[]){ &w->campaign->launch, &w->schedules, w->campaign->ok, NULL } },
        { 'n', .number = &w->campaign->runs, .least = 1, .most = UINT64_MAX / 2 },
        { KEY_SATURATED, .number = &w->saturated, .least = 1, .most = UINT64_MAX / 2 },
        { KEY_WINDOW, .count = &w->window, .least = 1, .most = 1000 },
        { 'j', .count = &w->campaign->jobs, .least = 1, .most = 256 },
        { KEY_JSON, .on = &w->json },
        { KEY_HTML, .text = &w->html },
        { KEY_PREDICTED, .on = &w->lists_predicted },
        { 0 },
    };
    if (pct_settings_take(settings, options, key, argument, state))
        return 0;
    return pct_options_parse_command(key, state, &w->campaign->launch, "pct coverage");
}

static const struct argp_child children[] = { PCT_CONFIGURE_CHILDREN, { 0 } };

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[--] COMMAND [ARGUMENT...]\ndiff OLD-FILE NEW-FILE\nreport [FILE]",
    .doc = "Run a program with many schedules, and list in which ways its threads came in between each other: the "
           "iRoots of Maple, and which writes its reads of memory have seen, with the lines of the source. diff "
           "compares two campaigns, report lists one that was kept.\v"
           "The exit status is 0 if no run failed, and 1 if one did: then the last line is the command that replays "
           "the first of them.",
    .children = children,
};

static int looked(struct pct_campaign_observer *observer, struct pct_campaign *c, struct pct_process *process,
                  const struct pct_result *result, bool failed, bool *hold)
{
    struct coverage *w = (struct coverage *)observer;
    struct pct_access *accesses;
    size_t count;
    (void)process, (void)failed, (void)hold;
    w->runs++;
    int status = pct_accesses_read(&w->places, &result->trace, &accesses, &count);
    w->shared += count;
    if (!status)
        status = pct_iroots_add(&w->roots, c->directed ? &w->combined : NULL, accesses, count, w->window, w->runs);
    if (!status)
        status = pct_predict_add(&w->predicted, &result->trace, accesses, count, w->window, w->runs);
    if (!status)
        status = pct_reads_from_add(&w->pairs, accesses, count, w->runs);
    free(accesses);
    if (status && status != -ENODATA) /* a run that was killed tells nothing of its places */
        return pct_cli_no_memory("");
    return w->saturated && w->runs - pct_iroots_newest(&w->roots) >= w->saturated ? PCT_RUNS_ENOUGH : 0;
}

/* --- What came of it ---------------------------------------------------------------------------------------------- */

/* Whether this one, which was predicted, was exposed, too. */
static bool is_exposed(const struct coverage *w, const struct pct_iroot *root)
{
    return pct_iroots_find_either(&w->roots, root);
}

/* A guessed pattern, as far as it was exposed; NULL: it was not. */
static const struct pct_iroot *find_further(const struct coverage *w, const struct pct_iroot *root)
{
    return root->idiom > PCT_IDIOMS ? pct_iroots_find(&w->combined, root) : pct_iroots_find_either(&w->roots, root);
}

static void print_runs(FILE *out, const struct coverage *w, const struct pct_iroot *root)
{
    fprintf(out, "  [%llu run%s, first with seed %llu]\n", (unsigned long long)root->runs, root->runs == 1 ? "" : "s",
            (unsigned long long)pct_campaign_seed(w->campaign, root->first - 1));
}

static bool is_missed(const struct coverage *w, const struct pct_iroot *root)
{
    return pct_iroots_find_either(&w->tried.missed, root);
}

/* What maple has guessed and tried: of three threads, or (others) not exposed either. */
static void print_further(FILE *out, const struct coverage *w)
{
    for (uint32_t idiom = 1; idiom <= PCT_COMBINED; idiom++)
        for (size_t i = 0; i < w->tried.further.count; i++) {
            const struct pct_iroot *root = w->tried.further.item[i], *exposed = find_further(w, root);
            if (root->idiom != idiom || (exposed && idiom <= PCT_IDIOMS))
                continue;
            pct_iroot_print(out, &w->places, root);
            if (exposed)
                print_runs(out, w, exposed);
            else
                fputs("  [guessed and tried, not exposed]\n", out);
        }
}

static void print_text(const struct coverage *w)
{
    struct pct_cli_narrow narrow;
    FILE *out = pct_cli_narrow_begin(&narrow, stdout);
    for (uint32_t idiom = 1; idiom <= PCT_IDIOMS; idiom++) {
        for (size_t i = 0; i < w->roots.count; i++) {
            const struct pct_iroot *root = w->roots.item[i];
            if (root->idiom != idiom)
                continue;
            pct_iroot_print(out, &w->places, root);
            print_runs(out, w, root);
        }
        for (size_t i = 0; i < w->tried.missed.count; i++) {
            if (w->tried.missed.item[i]->idiom != idiom)
                continue;
            pct_iroot_print(out, &w->places, w->tried.missed.item[i]);
            fprintf(out, "  [predicted, not exposed in %d tries]\n", PCT_DIRECTED_TRIES);
        }
        for (size_t i = 0; w->lists_predicted && i < w->predicted.count; i++) {
            const struct pct_iroot *root = w->predicted.item[i];
            if (root->idiom != idiom || is_exposed(w, root) || is_missed(w, root))
                continue;
            pct_iroot_print(out, &w->places, root);
            fputs("  [predicted, not exposed]\n", out);
        }
    }
    print_further(out, w);
    for (size_t i = 0; i < w->pairs.count; i++) {
        pct_reads_from_print(out, &w->places, w->pairs.item[i]);
        print_runs(out, w, w->pairs.item[i]);
    }
    pct_cli_narrow_end(&narrow);
    fflush(stdout);
}

static void add_runs(const struct coverage *w, struct json_object *to, const struct pct_iroot *root)
{
    pct_json_add_number(to, "runs", root->runs);
    pct_json_add_seed(to, "first_seed", pct_campaign_seed(w->campaign, root->first - 1));
}

static void add_tried(const struct coverage *w, struct json_object *all)
{
    struct json_object *roots = pct_json_add_array(all, "missed");
    for (size_t i = 0; i < w->tried.missed.count; i++)
        pct_iroot_add_json(pct_json_append_object(roots), &w->places, w->tried.missed.item[i]);
    roots = pct_json_add_array(all, "guessed");
    for (size_t i = 0; i < w->tried.further.count; i++) {
        const struct pct_iroot *root = w->tried.further.item[i], *exposed = find_further(w, root);
        struct json_object *object = pct_json_append_object(roots);
        pct_json_add_bool(object, "exposed", exposed);
        if (exposed)
            add_runs(w, object, exposed);
        pct_iroot_add_json(object, &w->places, root);
    }
}

static int print_json(const struct coverage *w)
{
    struct json_object *all = json_object_new_object();
    pct_json_add_number(all, "runs", w->runs);
    pct_json_add_number(all, "failed", w->campaign->failures);
    pct_json_add_number(all, "last_new", pct_iroots_newest(&w->roots));
    pct_json_add_number(all, "window", w->window);
    pct_json_add_number(all, "idioms", PCT_IDIOMS);
    pct_json_add_bool(all, "complete", !w->roots.full && !w->pairs.full);
    struct json_object *roots = pct_json_add_array(all, "exposed");
    for (size_t i = 0; i < w->roots.count; i++) {
        const struct pct_iroot *root = w->roots.item[i];
        struct json_object *object = pct_json_append_object(roots);
        add_runs(w, object, root);
        pct_iroot_add_json(object, &w->places, root);
    }
    roots = pct_json_add_array(all, "predicted");
    for (size_t i = 0; i < w->predicted.count; i++) {
        const struct pct_iroot *root = w->predicted.item[i];
        if (is_exposed(w, root))
            continue;
        pct_iroot_add_json(pct_json_append_object(roots), &w->places, root);
    }
    if (w->campaign->directed)
        add_tried(w, all);
    pct_json_add_number(all, "reads_from_last_new", pct_iroots_newest(&w->pairs));
    struct json_object *pairs = pct_json_add_array(all, "reads_from");
    for (size_t i = 0; i < w->pairs.count; i++) {
        struct json_object *object = pct_json_append_object(pairs);
        add_runs(w, object, w->pairs.item[i]);
        pct_reads_from_add_json(object, &w->places, w->pairs.item[i]);
    }
    return pct_json_print(stdout, all) ? pct_cli_no_memory("") : 0;
}

/* What is predicted and not exposed, and may be by trying. */
static size_t count_left(const struct coverage *w)
{
    size_t left = 0;
    for (size_t i = 0; i < w->predicted.count; i++)
        left += !is_exposed(w, w->predicted.item[i]) && !is_missed(w, w->predicted.item[i]);
    return left;
}

/* The command that tries these, to be freed; NULL: there are none, or there is no memory. */
static char *format_directed(const struct coverage *w)
{
    char *text = NULL;
    size_t size;
    FILE *out = count_left(w) ? open_memstream(&text, &size) : NULL;
    if (!out)
        return NULL;
    pct_cli_print_quoted(out, pct_cli_program);
    fputs(" campaign -S maple --until-saturated ", out);
    pct_options_print(out, &w->campaign->launch, NULL, true);
    pct_options_print_ok_status(out, w->campaign->ok);
    pct_configure_print(out, &w->schedules);
    fputs("-- ", out);
    pct_cli_print_command(out, w->campaign->launch.command);
    fclose(out);
    return text;
}

static void say_next(const struct coverage *w)
{
    const uint64_t newest = pct_iroots_newest(&w->roots);
    char *command = format_directed(w);
    if (command) {
        pct_cli_say("to try what is predicted and not exposed:");
        pct_color(stderr, PCT_COLOR_COMMAND);
        fputs(command, stderr);
        pct_color(stderr, PCT_COLOR_NONE);
        fputc('\n', stderr);
    } else if (w->roots.count && newest > w->runs / 2)
        pct_cli_say("new iRoots came up to run %llu of %llu: more runs may expose more, such as -n %llu",
                    (unsigned long long)newest, (unsigned long long)w->runs, (unsigned long long)w->runs * 10);
    else if (w->roots.count)
        pct_cli_say(
            "nothing that was predicted is left to try; to see what the next test adds: keep what --json writes of "
            "both, and compare the files by `pct coverage diff`");
    else if (w->shared)
        pct_cli_say("no two threads could come in between each other at what they share: try a test that uses it from "
                    "several threads at once");
    free(command);
}

static void say_summary(const struct coverage *w)
{
    const size_t *by = w->roots.by_idiom;
    char newest[48];
    pct_cli_say("exposed iRoots: %zu (idioms 1 to 6: %zu, %zu, %zu, %zu, %zu, %zu) in %llu run%s%s", w->roots.count,
                by[1], by[2], by[3], by[4], by[5], by[6], (unsigned long long)w->runs, w->runs == 1 ? "" : "s",
                pct_iroots_format_newest(newest, sizeof newest, pct_iroots_newest(&w->roots)));
    size_t left[PCT_IDIOMS + 1] = { 0 };
    const size_t *missed = w->tried.missed.by_idiom;
    for (size_t i = 0; i < w->predicted.count; i++)
        left[is_exposed(w, w->predicted.item[i]) ? 0 : w->predicted.item[i]->idiom]++;
    pct_cli_say("predicted and not exposed: %zu (%zu, %zu, %zu, %zu, %zu, %zu)%s", w->predicted.count - left[0],
                left[1], left[2], left[3], left[4], left[5], left[6],
                w->predicted.count == left[0] || w->lists_predicted || w->json ? "" : "; --predicted lists them");
    if (w->campaign->directed)
        pct_cli_say("of these, not exposed in %d tries: %zu (%zu, %zu, %zu, %zu, %zu, %zu)", PCT_DIRECTED_TRIES,
                    w->tried.missed.count, missed[1], missed[2], missed[3], missed[4], missed[5], missed[6]);
    pct_cli_say("reads-from pairs: %zu%s", w->pairs.count,
                pct_iroots_format_newest(newest, sizeof newest, pct_iroots_newest(&w->pairs)));
    pct_directed_say(w->campaign);
    if (w->roots.full)
        pct_cli_say("there are more, which are not counted: give a smaller --window");
    if (w->runs && !w->shared && !w->campaign->directed) /* which has said it */
        pct_directed_say_unshared(w->campaign);
    say_next(w);
}

static int write_html(const struct coverage *w)
{
    char *command = format_directed(w);
    const struct pct_coverage_page page = { .campaign = w->campaign,
                                            .places = &w->places,
                                            .exposed = &w->roots,
                                            .predicted = &w->predicted,
                                            .combined = &w->combined,
                                            .tried = &w->tried,
                                            .pairs = &w->pairs,
                                            .runs = w->runs,
                                            .window = w->window,
                                            .directed = command };
    int failed = pct_coverage_html(w->html, &page);
    free(command);
    return failed;
}

static int finish(struct coverage *w, int status)
{
    struct pct_campaign *c = w->campaign;
    char ending[256];
    if (status && status <= 128)
        return status;
    int failed = pct_tried_read(&w->tried, c->directed, &w->roots, &w->places) ? pct_cli_no_memory("") : 0;
    if (w->json && !failed)
        failed = print_json(w);
    if (!w->json && !failed)
        print_text(w);
    if (w->html && !failed)
        failed = write_html(w);
    say_summary(w);
    if (c->failed) {
        pct_cli_say("%llu of the runs failed, the first with seed %llu: %s", (unsigned long long)c->failures,
                    (unsigned long long)pct_campaign_seed(c, c->first.index),
                    pct_outcome_format(ending, sizeof ending, &c->first, &c->first_result));
        pct_outcome_print_replay(&c->launch, &c->first, &c->first_result);
    }
    return status ? status : failed ? failed : c->failed ? 1 : 0;
}

/* Before the first run: whether there is a place for the page. */
static int check_html(const char *path)
{
    const struct pct_exports page = { .files = { { .format = "html", .path = path } }, .count = 1 };
    if (!*path || !strcmp(path, "-"))
        return pct_cli_usage("--html=%s: give the name of a file", path);
    return pct_export_check(&page);
}

static int coverage(int argc, char **argv)
{
    static struct pct_campaign campaign; /* large */
    struct coverage w = { .observer = { .looked = looked }, .campaign = &campaign, .window = WINDOW };
    bool drawn;
    campaign.runs = RUNS;
    campaign.jobs = campaign.stride = 1;
    campaign.ok[0] = true;
    pct_parse(&argp, argc, argv, 0, &w);
    int status = pct_environment_check(false);
    if (!status)
        status = pct_configure(&campaign, &w.schedules, &drawn);
    if (!status)
        status = pct_drive_check(&campaign.launch.drive, campaign.jobs);
    if (!status && w.html)
        status = check_html(w.html);
    if (status)
        return status;
    campaign.observer = &w.observer;
    campaign.keep_going = true;
    campaign.progress = pct_status_line_obeys();
    campaign.may_sample = false; /* a place is covered or not in all runs */
    campaign.other.quiet = campaign.systematic.quiet = true;
    campaign.launch.sites = "on";
    pct_forking_plan(&campaign.launch, campaign.runs > 1, false, campaign.config.strategy);
    pct_configure_memory(&campaign, w.json);
    status = pct_campaign_prepare(&campaign);
    if (!status)
        status = pct_campaign_run(&campaign);
    status = finish(&w, status);
    pct_campaign_close(&campaign);
    pct_launch_finish(&campaign.launch);
    pct_iroots_free(&w.roots);
    pct_iroots_free(&w.predicted);
    pct_iroots_free(&w.pairs);
    pct_iroots_free(&w.combined);
    pct_tried_free(&w.tried);
    pct_access_places_free(&w.places);
    return status;
}

int pct_cmd_coverage(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "diff"))
        return pct_coverage_diff_command(argc - 1, argv + 1);
    if (argc > 1 && !strcmp(argv[1], "report"))
        return pct_coverage_report_command(argc - 1, argv + 1);
    return coverage(argc, argv);
}
