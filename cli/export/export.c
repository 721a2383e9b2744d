/* The table of formats, and where they are written to: see export.h. */
#include "export.h"
#include <cli/campaign/campaign_file.h>
#include <cli/campaign/guarantee_report.h>
#include <cli/base/cli.h>
#include <common/text.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct format {
    const char *name;
    int (*write)(FILE *out, const struct pct_summary *summary);
} formats[] = {
#define FORMAT(id, name, help) { name, pct_export_##id },
    PCT_EXPORTS(FORMAT)
#undef FORMAT
};
enum { FORMATS = sizeof formats / sizeof *formats };

static const struct format *find(const char *name)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (!strcmp(formats[i].name, name))
            return &formats[i];
    return NULL;
}

bool pct_export_known(const char *format, char *error, size_t size)
{
    if (find(format))
        return true;
    const char *names[FORMATS];
    for (size_t i = 0; i < FORMATS; i++)
        names[i] = formats[i].name;
    const char *closest = pct_text_closest(format, names, FORMATS);
    if (closest)
        snprintf(error, size, "there is no format '%s'; did you mean %s?", format, closest);
    else
        snprintf(error, size, "there is no format '%s'; there are: junit sarif github gitlab json html", format);
    return false;
}

/* A file of its own beside the wanted one, so that a reader never sees half of it. */
static FILE *open_beside(const char *path, char *temporary, size_t size)
{
    if ((size_t)snprintf(temporary, size, "%s.%ld.tmp", path, (long)getpid()) >= size) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    return fopen(temporary, "wxe");
}

static int complain(const char *path, int failed)
{
    pct_cli_say("%s: %s", path, failed == -ENOMEM ? "out of memory" : strerror(-failed));
    return failed == -ENOMEM ? PCT_EXIT_INTERNAL : PCT_EXIT_USAGE;
}

int pct_export_write(const char *path, int (*write)(FILE *out, const void *data), const void *data)
{
    char temporary[4096 + 32];
    bool file = path && strcmp(path, "-");
    FILE *out = file ? open_beside(path, temporary, sizeof temporary) : stdout;
    if (!out)
        return complain(path, -errno);
    int failed = write(out, data);
    if (!failed && (fflush(out) || ferror(out)))
        failed = errno ? -errno : -EIO;
    if (file && fclose(out) && !failed)
        failed = -errno;
    if (file && !failed && rename(temporary, path))
        failed = -errno;
    if (file && failed)
        unlink(temporary);
    return failed ? complain(file ? path : "standard output", failed) : 0;
}

struct writing {
    const struct pct_summary *summary;
    const struct format *to;
};

static int write_summary(FILE *out, const void *data)
{
    const struct writing *w = data;
    return w->to->write(out, w->summary);
}

static int write_one(const struct pct_summary *summary, const struct pct_export *export)
{
    const struct writing writing = { summary, find(export->format) };
    return pct_export_write(export->path, write_summary, &writing);
}

int pct_export_check(const struct pct_export *exports, size_t count)
{
    char temporary[4096 + 32];
    struct stat status;
    for (size_t i = 0; i < count; i++) {
        if (!exports[i].path || !strcmp(exports[i].path, "-"))
            continue;
        if (!stat(exports[i].path, &status) && S_ISDIR(status.st_mode))
            return complain(exports[i].path, -EISDIR);
        FILE *out = open_beside(exports[i].path, temporary, sizeof temporary);
        if (!out)
            return complain(exports[i].path, -errno);
        fclose(out);
        unlink(temporary);
    }
    return 0;
}

bool pct_export_parse(struct pct_export *export, const char *text, char *error, size_t size)
{
    const char *colon = strchr(text, ':');
    char *format = strndup(text, strcspn(text, ":"));
    if (!format) {
        snprintf(error, size, "out of memory");
        return false;
    }
    *export = (struct pct_export){ .format = format, .path = colon ? colon + 1 : NULL };
    return pct_export_known(format, error, size);
}

bool pct_export_add(struct pct_export *exports, size_t *count, const char *text, char *error, size_t size)
{
    if (*count < PCT_EXPORTS_MAX)
        return pct_export_parse(&exports[(*count)++], text, error, size);
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

int pct_export_all(struct pct_store *store, const struct pct_export *exports, size_t count, const char *root)
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
