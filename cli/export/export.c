/* The table of formats, and where they are written to: see export.h. */
#include "export.h"
#include <cli/campaign/campaign_file.h>
#include <cli/campaign/guarantee_report.h>
#include <cli/base/cli.h>
#include <common/text.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FORMAT(id, name, help) name,
static const char *const names[] = { PCT_EXPORTS(FORMAT) };
#undef FORMAT
enum { FORMATS = sizeof names / sizeof *names };

bool pct_export_known(const char *format, char *error, size_t size)
{
    return pct_report_file_knows(format, names, FORMATS, error, size);
}

/* A name that was wrong is the user's doing, a full disk is not. */
static int complain(const struct pct_report_file *export, int failed)
{
    bool ours = failed == -ENOMEM || failed == -ENOSPC || failed == -EDQUOT || failed == -EFBIG || failed == -EIO;
    pct_cli_say("%s: %s", pct_report_file_name(export), failed == -ENOMEM ? "out of memory" : strerror(-failed));
    return ours ? PCT_EXIT_INTERNAL : PCT_EXIT_USAGE;
}

int pct_export_write(const char *path, int (*write)(FILE *out, void *context), void *context)
{
    const struct pct_report_file file = { .path = path };
    int failed = pct_report_file_write(&file, write, context);
    return failed ? complain(&file, failed) : 0;
}

struct job {
    const struct pct_summary *summary;
    const char *format;
};

static int write_format(FILE *out, void *context)
{
    static int (*const writers[])(FILE *, const struct pct_summary *) = {
#define WRITER(id, name, help) pct_export_##id,
        PCT_EXPORTS(WRITER)
#undef WRITER
    };
    const struct job *job = context;
    size_t i = 0;
    while (strcmp(names[i], job->format) != 0)
        i++;
    return writers[i](out, job->summary);
}

static int write_one(const struct pct_summary *summary, const struct pct_report_file *export)
{
    struct job job = { .summary = summary, .format = export->format };
    return pct_export_write(export->path, write_format, &job);
}

int pct_export_check(const struct pct_exports *exports)
{
    for (size_t i = 0; i < exports->count; i++) {
        int failed = pct_report_file_check(&exports->files[i]);
        if (failed)
            return complain(&exports->files[i], failed);
    }
    return 0;
}

enum { KEY_REPORT = 5500, KEY_ROOT };

static const struct argp_option options[] = {
    { "report", KEY_REPORT, "FORMAT[:FILE]", 0,
      "write the results for other programs too: junit, sarif, github, gitlab, lines, json, html. May be given again",
      3 },
    { "source-root", KEY_ROOT, "DIR", 0, "in reports, paths of sources are relative to this (default: .)", 3 },
    { 0 },
};

static void add(struct pct_exports *exports, const char *text, struct argp_state *state)
{
    char error[256];
    if (exports->count == sizeof exports->files / sizeof *exports->files)
        argp_failure(state, PCT_EXIT_USAGE, 0, "--report: there are too many of them");
    else if (!pct_report_file_parse(&exports->files[exports->count++], text, names, FORMATS, error, sizeof error))
        argp_failure(state, PCT_EXIT_USAGE, 0, "--report: %s", error);
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct pct_exports *exports = state->input;
    switch (key) {
    case KEY_REPORT:
        add(exports, argument, state);
        return 0;
    case KEY_ROOT:
        exports->root = argument;
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

const struct argp pct_exports_argp = { .options = options, .parser = parse };

/* What a clean campaign is worth, as `pct campaign report` says it, without the name of the command in front of each
 * line. NULL: it is not clean. To be freed. */
static char *make_guarantee(struct pct_store *store, const struct pct_store_totals *totals)
{
    static struct pct_campaign c; /* large */
    char *text = NULL;
    size_t size;
    memset(&c, 0, sizeof c);
    if (*pct_store_fact(store, "bound")) /* an exploration says it itself */
        return strdup(pct_store_fact(store, "verdict"));
    if (totals->failures || totals->findings || totals->runs < 2 || !pct_campaign_file_restore(store, &c))
        return NULL;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    pct_guarantee_report_print(out, &c, false);
    if (fclose(out))
        return NULL;
    char *to = text;
    for (const char *at = text; *at;) {
        at += strncmp(at, "pct: ", 5) ? 0 : 5;
        size_t length = strcspn(at, "\n");
        memmove(to, at, length);
        to += length;
        at += length + (at[length] == '\n');
        if (*at)
            *to++ = '\n';
    }
    *to = 0;
    return text;
}

int pct_export_all(struct pct_store *store, const struct pct_exports *exports)
{
    struct pct_summary summary;
    char error[512];
    if (!exports->count)
        return 0;
    int failed = pct_summary_read(&summary, store, exports->root, error, sizeof error);
    if (failed) {
        pct_cli_say("the campaign's report: %s", error);
        failed = failed == -ENOENT ? PCT_EXIT_USAGE : PCT_EXIT_INTERNAL;
    }
    char *guarantee = failed ? NULL : make_guarantee(store, &summary.totals);
    summary.guarantee = guarantee;
    for (size_t i = 0; !failed && i < exports->count; i++)
        failed = write_one(&summary, &exports->files[i]);
    pct_summary_free(&summary);
    free(guarantee);
    return failed;
}
