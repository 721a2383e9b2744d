/* `pct campaign report` and `pct campaign merge`: what can be done with campaign files without running anything. */
#include <cli/export/campaign_report.h>
#include <cli/base/cli.h>
#include <cli/explore/merge.h>
#include <cli/export/export.h>
#include <cli/process/options.h>
#include <cli/process/settings.h>
#include "parse.h"
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- report ------------------------------------------------------------------------------------------------------- */

struct report {
    const char *file;
    bool whole;
    struct pct_report_file export; /* no format: text, for people */
    const char *root;
    unsigned part; /* 0: all */
};

enum { KEY_FORMAT = 3000, KEY_ROOT, KEY_EXPLORATION };

static const struct argp_option report_options[] = {
    { "format", KEY_FORMAT, "FORMAT", 0,
      "text (the default), or for other programs: junit, sarif, github, gitlab, lines, json, html; see docs/REPORTS.md",
      0 },
    { "output", 'o', "FILE", 0, "write it to this file (default: standard output)", 0 },
    { "source-root", KEY_ROOT, "DIR", 0, "paths of sources are relative to this (default: .)", 0 },
    { "exploration", KEY_EXPLORATION, "N", 0,
      "of a file of several explorations, only the N-th (default: text of all; a file in another format is of one)",
      0 },
    { "all", 'a', NULL, 0, "of each finding also the whole report and the output of its first run", 0 },
    { 0 },
};

static error_t parse_report(int key, char *argument, struct argp_state *state)
{
    struct report *w = state->input;
    const struct pct_setting settings[] = {
        { 'o', .text = &w->export.path },
        { KEY_ROOT, .text = &w->root },
        { KEY_EXPLORATION, .count = &w->part, .least = 1, .most = UINT16_MAX },
        { 'a', .on = &w->whole },
        { ARGP_KEY_ARG, .text = &w->file,
          .once = "one campaign file at a time; `pct campaign merge` makes one of several" },
        { 0 },
    };
    if (pct_settings_take(settings, report_options, key, argument, state))
        return 0;
    if (key != KEY_FORMAT)
        return ARGP_ERR_UNKNOWN;
    w->export.format = strcmp(argument, "text") ? argument : NULL;
    return 0;
}

static const struct argp report_argp = {
    .options = report_options,
    .parser = parse_report,
    .args_doc = "[FILE]",
    .doc = "Print what a campaign has found, from its file (default: pct-campaign.db).\v"
           "The exit status is 0 if no run failed, 1 if there are findings, 2 if the file is no campaign file.",
};

/* All parts, or the one that is asked for. Returns 0 or a negative errno. */
static int print_parts(FILE *out, const struct report *w, struct pct_store *store)
{
    unsigned parts = pct_store_parts(store), first = w->part ? w->part : 1, last = w->part ? w->part : parts;
    int failed = 0;
    for (unsigned part = first; part <= last && !failed; part++) {
        failed = pct_store_choose(store, part);
        if (!failed && parts > 1)
            fprintf(out, "%sexploration %u of %u\n", part > first ? "\n" : "", part, parts);
        if (!failed)
            failed = pct_campaign_report_print(out, store, w->whole);
    }
    return failed;
}

/* For people. Returns 0 or an exit status after a message. */
static int print_text(const struct report *w, struct pct_store *store)
{
    bool file = w->export.path && strcmp(w->export.path, "-");
    FILE *out = file ? fopen(w->export.path, "we") : stdout;
    if (!out)
        return pct_cli_usage("--output=%s: %s", w->export.path, strerror(errno));
    int failed = print_parts(out, w, store);
    if (failed)
        pct_cli_say("%s: %s", w->file, pct_store_error(store));
    bool bad = fflush(out) || ferror(out);
    if (file && fclose(out))
        bad = true;
    if (bad)
        pct_cli_say("%s: %s", file ? w->export.path : "standard output", strerror(errno));
    return failed || bad ? PCT_EXIT_INTERNAL : 0;
}

static int print_format(const struct report *w, struct pct_store *store)
{
    unsigned parts = pct_store_parts(store);
    if (parts > 1 && !w->part)
        return pct_cli_usage("%s has %u explorations: --exploration=N says which one", w->file, parts);
    if (pct_store_choose(store, w->part ? w->part : 1))
        return pct_cli_usage("%s: %s", w->file, pct_store_error(store));
    const struct pct_exports one = { .files = { w->export }, .count = 1, .root = w->root };
    return pct_export_all(store, &one);
}

/* 1: there are findings in what was printed; 0: there are none; or an exit status after a message. */
static int look_for_findings(const struct report *w, struct pct_store *store)
{
    unsigned parts = pct_store_parts(store);
    bool found = false;
    for (unsigned part = 1; part <= parts; part++) {
        struct pct_store_totals totals;
        if (w->part && part != w->part)
            continue;
        if (pct_store_choose(store, part) || pct_store_totals(store, &totals)) {
            pct_cli_say("%s: %s", w->file, pct_store_error(store));
            return PCT_EXIT_INTERNAL;
        }
        found |= totals.findings != 0;
    }
    return found;
}

int pct_campaign_report_command(int argc, char **argv)
{
    struct report w = { 0 };
    char error[512], name[] = "pct campaign report";
    argv[0] = name;
    pct_parse(&report_argp, argc, argv, PCT_PARSE_ALL, &w);
    if (w.export.format && !pct_export_known(w.export.format, error, sizeof error))
        return pct_cli_usage("--format: %s", error);
    if (!w.file)
        w.file = "pct-campaign.db";
    struct pct_store *store = pct_store_open(w.file, false, error, sizeof error);
    if (!store)
        return pct_cli_usage("%s: %s", w.file, error);
    unsigned parts = pct_store_parts(store);
    int failed = w.part > parts    ? pct_cli_usage("--exploration=%u: %s has %u", w.part, w.file, parts)
                 : w.export.format ? print_format(&w, store)
                                   : print_text(&w, store);
    if (!failed)
        failed = look_for_findings(&w, store);
    pct_store_close(store);
    return failed;
}

/* --- merge -------------------------------------------------------------------------------------------------------- */

struct merge {
    const char *to;
    char **from;
    size_t count;
};

static error_t parse_merge(int key, char *argument, struct argp_state *state)
{
    struct merge *w = state->input;
    switch (key) {
    case ARGP_KEY_ARG:
        if (!w->to) {
            w->to = argument;
            return 0;
        }
        return ARGP_ERR_UNKNOWN; /* the rest comes at once */
    case ARGP_KEY_ARGS:
        w->from = &state->argv[state->next];
        w->count = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        if (!w->count)
            argp_error(state, "give the name of the new file, and those of the files to be merged");
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

static const struct argp merge_argp = {
    .parser = parse_merge,
    .args_doc = "OUT IN...",
    .doc = "Make one campaign file of several: of the shards of a campaign or of an exploration, of explorations of "
           "other inputs, or of campaigns with other seeds.\v"
           "A run that is in two files counts once. If the files have all runs of a campaign, the new one is as if it "
           "had been "
           "done without shards, and can go on. Of an exploration, the last line and the exit status are as those of "
           "pct explore.",
};

int pct_campaign_merge_command(int argc, char **argv)
{
    struct merge w = { 0 };
    char error[1024], name[] = "pct campaign merge";
    uint64_t differing = 0;
    bool directed = false;
    argv[0] = name;
    pct_parse(&merge_argp, argc, argv, PCT_PARSE_ALL, &w);
    if (pct_explorer_owns(w.from[0]))
        return pct_explorer_merge(w.to, w.from, w.count);
    struct pct_store_source *sources = calloc(w.count, sizeof *sources);
    if (!sources)
        return pct_cli_no_memory("");
    for (size_t i = 0; i < w.count; i++)
        sources[i] = (struct pct_store_source){ w.from[i], 1 };
    const struct pct_store_group group = { .from = sources, .count = w.count };
    int failed = pct_store_merge(w.to, &group, 1, &differing, &directed, error, sizeof error);
    free(sources);
    if (failed) {
        pct_cli_say("%s: not merged: %s", w.to, error);
        return failed == -EINVAL || failed == -EEXIST ? PCT_EXIT_USAGE : PCT_EXIT_INTERNAL;
    }
    if (differing)
        pct_cli_say("%llu runs are in two files and ended differently there: %s; what the first file says stays",
                    (unsigned long long)differing,
                    directed ? "each campaign chooses its runs by what it knows (k, its other runs)"
                             : "something besides the schedule decides, so that there is no guarantee");
    pct_cli_say("%s: merged; `pct campaign report %s` prints it", w.to, w.to);
    return 0;
}
