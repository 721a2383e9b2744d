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

static int complain(const struct pct_report_file *export, int failed)
{
    pct_cli_say("%s: %s", pct_report_file_name(export), failed == -ENOMEM ? "out of memory" : strerror(-failed));
    return failed == -ENOMEM ? PCT_EXIT_INTERNAL : PCT_EXIT_USAGE;
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

int pct_export_check(const struct pct_report_file *exports, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int failed = pct_report_file_check(&exports[i]);
        if (failed)
            return complain(&exports[i], failed);
    }
    return 0;
}

bool pct_export_add(struct pct_report_file *exports, size_t *count, const char *text, char *error, size_t size)
{
    if (*count < PCT_EXPORTS_MAX)
        return pct_report_file_parse(&exports[(*count)++], text, names, FORMATS, error, size);
    snprintf(error, size, "there are too many of them");
    return false;
}

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

int pct_export_all(struct pct_store *store, const struct pct_report_file *exports, size_t count, const char *root)
{
    struct pct_summary summary;
    char error[512];
    if (!count)
        return 0;
    int failed = pct_summary_read(&summary, store, root, error, sizeof error);
    if (failed) {
        pct_cli_say("the campaign's report: %s", error);
        failed = failed == -ENOENT ? PCT_EXIT_USAGE : PCT_EXIT_INTERNAL;
    }
    char *guarantee = failed ? NULL : make_guarantee(store, &summary.totals);
    summary.guarantee = guarantee;
    for (size_t i = 0; !failed && i < count; i++)
        failed = write_one(&summary, &exports[i]);
    pct_summary_free(&summary);
    free(guarantee);
    return failed;
}
