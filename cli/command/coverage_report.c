/* `pct coverage report`: which interleavings a campaign that was kept has exposed, and which it has not. */
#include "coverage_report.h"
#include "covered.h"
#include "iroot_print.h"
#include "parse.h"
#include <cli/base/cli.h>
#include <cli/campaign/directed.h>
#include <cli/process/settings.h>

enum { KEY_JSON = 2850, KEY_PREDICTED };

struct report {
    struct pct_access_places places;
    struct pct_covered covered;
    bool json, lists_predicted;
};

static const struct argp_option options[] = {
    { "predicted", KEY_PREDICTED, NULL, 0, "list also what was predicted and not exposed", 0 },
    { "json", KEY_JSON, NULL, 0, "write JSON", 0 },
    { 0 },
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct report *w = state->input;
    const struct pct_setting settings[] = {
        { KEY_JSON, .on = &w->json },
        { KEY_PREDICTED, .on = &w->lists_predicted },
        { ARGP_KEY_ARG, .text = &w->covered.path, .once = "one file at a time" },
        { 0 },
    };
    if (pct_settings_take(settings, options, key, argument, state))
        return 0;
    if (key != ARGP_KEY_END)
        return ARGP_ERR_UNKNOWN;
    if (!state->arg_num)
        w->covered.path = "pct-campaign.db";
    return 0;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "[FILE]",
    .doc = "List which interleavings a campaign has exposed, with their source lines and the first run of each, and "
           "which it has tried and not exposed. FILE (default: pct-campaign.db) is that of a campaign of -S maple, or "
           "of one "
           "with --sites; or what `pct coverage --json` has written. No run is made, and the program need not be "
           "there.\v"
           "The exit status is 0, and 2 for what is no such file.",
};

static bool is_exposed(const struct report *w, const struct pct_iroot *root)
{
    return pct_iroots_find_either(&w->covered.exposed, root);
}

static bool is_missed(const struct report *w, const struct pct_iroot *root)
{
    return pct_iroots_find_either(&w->covered.missed, root);
}

/* A guessed pattern, as far as it was exposed; NULL: it was not. */
static const struct pct_iroot *find_guessed(const struct report *w, const struct pct_iroot *root)
{
    const struct pct_iroot *combined = pct_iroots_find(&w->covered.combined, root);
    return combined || root->idiom > PCT_IDIOMS ? combined : pct_iroots_find_either(&w->covered.exposed, root);
}

/* What maple has guessed and tried: of three threads, or (others) not exposed either. */
static void print_guessed(FILE *out, const struct report *w)
{
    for (uint32_t idiom = 1; idiom <= PCT_COMBINED; idiom++)
        for (size_t i = 0; i < w->covered.guessed.count; i++) {
            const struct pct_iroot *root = w->covered.guessed.item[i], *exposed = find_guessed(w, root);
            if (root->idiom != idiom || (exposed && idiom <= PCT_IDIOMS))
                continue;
            pct_iroot_print(out, &w->places, root);
            if (!exposed)
                fputs("  [guessed and tried, not exposed]", out);
            else if (w->covered.has_runs)
                fprintf(out, "  [first in run %llu]", (unsigned long long)exposed->first);
            fputc('\n', out);
        }
}

static void print_text(const struct report *w)
{
    const struct pct_covered *covered = &w->covered;
    struct pct_cli_narrow narrow;
    FILE *out = pct_cli_narrow_begin(&narrow, stdout);
    for (uint32_t idiom = 1; idiom <= PCT_IDIOMS; idiom++) {
        for (size_t i = 0; i < covered->exposed.count; i++) {
            const struct pct_iroot *root = covered->exposed.item[i];
            if (root->idiom != idiom)
                continue;
            pct_iroot_print(out, &w->places, root);
            if (covered->has_runs)
                fprintf(out, "  [first in run %llu]", (unsigned long long)root->first);
            fputc('\n', out);
        }
        for (size_t i = 0; i < covered->predicted.count; i++) {
            const struct pct_iroot *root = covered->predicted.item[i];
            const bool missed = is_missed(w, root);
            if (root->idiom != idiom || is_exposed(w, root) || !(missed || w->lists_predicted))
                continue;
            pct_iroot_print(out, &w->places, root);
            if (missed)
                fprintf(out, "  [predicted, not exposed in %d tries]\n", PCT_DIRECTED_TRIES);
            else
                fputs("  [predicted, not exposed]\n", out);
        }
    }
    print_guessed(out, w);
    pct_cli_narrow_end(&narrow);
    fflush(stdout);
}

/* What `pct coverage diff` takes, too. */
static int print_json(const struct report *w)
{
    const struct pct_covered *covered = &w->covered;
    struct json_object *all = json_object_new_object();
    pct_json_add_number(all, "runs", covered->runs);
    pct_json_add_number(all, "last_new", covered->newest);
    pct_json_add_number(all, "window", covered->window);
    pct_json_add_number(all, "idioms", covered->idioms);
    pct_json_add_bool(all, "complete", !covered->cut);
    struct json_object *roots = pct_json_add_array(all, "exposed");
    for (size_t i = 0; i < covered->exposed.count; i++) {
        struct json_object *object = pct_json_append_object(roots);
        if (covered->has_runs)
            pct_json_add_number(object, "first_run", covered->exposed.item[i]->first);
        pct_iroot_add_json(object, &w->places, covered->exposed.item[i]);
    }
    roots = pct_json_add_array(all, "predicted");
    for (size_t i = 0; i < covered->predicted.count; i++)
        if (!is_exposed(w, covered->predicted.item[i]))
            pct_iroot_add_json(pct_json_append_object(roots), &w->places, covered->predicted.item[i]);
    roots = pct_json_add_array(all, "missed");
    for (size_t i = 0; i < covered->missed.count; i++)
        pct_iroot_add_json(pct_json_append_object(roots), &w->places, covered->missed.item[i]);
    roots = pct_json_add_array(all, "guessed");
    for (size_t i = 0; i < covered->guessed.count; i++) {
        const struct pct_iroot *root = covered->guessed.item[i], *exposed = find_guessed(w, root);
        struct json_object *object = pct_json_append_object(roots);
        pct_json_add_bool(object, "exposed", exposed);
        if (exposed && covered->has_runs)
            pct_json_add_number(object, "first_run", exposed->first);
        pct_iroot_add_json(object, &w->places, root);
    }
    return pct_json_print(stdout, all) ? pct_cli_no_memory("") : 0;
}

static void say_summary(const struct report *w)
{
    const struct pct_covered *covered = &w->covered;
    const size_t *by = covered->exposed.by_idiom, *missed = covered->missed.by_idiom;
    size_t left[PCT_IDIOMS + 1] = { 0 }, all = 0;
    for (size_t i = 0; i < covered->predicted.count; i++)
        if (!is_exposed(w, covered->predicted.item[i])) {
            left[covered->predicted.item[i]->idiom]++;
            all++;
        }
    char newest[48];
    pct_cli_say("exposed iRoots: %zu (idioms 1 to 6: %zu, %zu, %zu, %zu, %zu, %zu) in %llu run%s%s",
                covered->exposed.count, by[1], by[2], by[3], by[4], by[5], by[6], (unsigned long long)covered->runs,
                covered->runs == 1 ? "" : "s", pct_iroots_format_newest(newest, sizeof newest, covered->newest));
    pct_cli_say("predicted and not exposed: %zu (%zu, %zu, %zu, %zu, %zu, %zu)%s", all, left[1], left[2], left[3],
                left[4], left[5], left[6],
                all == covered->missed.count || w->lists_predicted || w->json ? "" : "; --predicted lists them");
    if (covered->missed.count)
        pct_cli_say("of these, not exposed in %d tries: %zu (%zu, %zu, %zu, %zu, %zu, %zu)", PCT_DIRECTED_TRIES,
                    covered->missed.count, missed[1], missed[2], missed[3], missed[4], missed[5], missed[6]);
    size_t exposed = 0;
    for (size_t i = 0; i < covered->guessed.count; i++)
        exposed += find_guessed(w, covered->guessed.item[i]) != NULL;
    if (covered->guessed.count)
        pct_cli_say("guessed and tried: %zu, of which %zu were exposed", covered->guessed.count, exposed);
    if (covered->cut)
        pct_cli_say("there are more, which were not counted");
}

int pct_coverage_report_command(int argc, char **argv)
{
    struct report w = { .json = false };
    char name[] = "pct coverage report";
    argv[0] = name;
    pct_parse(&argp, argc, argv, PCT_PARSE_ALL, &w);
    int status = pct_covered_read(&w.covered, &w.places);
    if (!status && w.json)
        status = print_json(&w);
    if (!status && !w.json)
        print_text(&w);
    if (!status)
        say_summary(&w);
    pct_covered_free(&w.covered);
    pct_access_places_free(&w.places);
    return status;
}
