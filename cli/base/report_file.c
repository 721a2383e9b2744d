/* Reports and where they go: see report_file.h. */
#include "report_file.h"
#include "replacement.h"
#include <common/text.h>
#include <errno.h>
#include <string.h>

static const char *find(const char *name, size_t length, const char *const *formats, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(formats[i]) == length && !strncmp(formats[i], name, length))
            return formats[i];
    return NULL;
}

bool pct_report_file_knows(const char *format, const char *const *formats, size_t count, char *error, size_t size)
{
    if (find(format, strlen(format), formats, count))
        return true;
    const char *closest = pct_text_closest(format, formats, count);
    int length = snprintf(error, size, "there is no format '%s'; %s", format, closest ? "did you mean " : "there are:");
    if (closest && length > 0 && (size_t)length < size)
        snprintf(error + length, size - (size_t)length, "%s?", closest);
    for (size_t i = 0; !closest && i < count && length > 0 && (size_t)length < size; i++)
        length += snprintf(error + length, size - (size_t)length, " %s", formats[i]);
    return false;
}

bool pct_report_file_parse(struct pct_report_file *report, const char *text, const char *const *formats, size_t count,
                           char *error, size_t size)
{
    char name[64];
    const size_t length = strcspn(text, ":");
    *report = (struct pct_report_file){ .format = find(text, length, formats, count),
                                        .path = text[length] ? text + length + 1 : NULL };
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
    if (!report->format)
        return pct_report_file_knows(name, formats, count, error, size);
    if (report->path && !*report->path) {
        snprintf(error, size, "'%s' names no file", text);
        return false;
    }
    return true;
}

static bool is_file(const struct pct_report_file *report)
{
    return report->path && strcmp(report->path, "-") != 0;
}

const char *pct_report_file_name(const struct pct_report_file *report)
{
    return is_file(report) ? report->path : "standard output";
}

int pct_report_file_check(const struct pct_report_file *report)
{
    return is_file(report) ? pct_replacement_check(report->path) : 0;
}

int pct_report_file_write(const struct pct_report_file *report, int (*write)(FILE *out, void *context), void *context)
{
    struct pct_replacement file;
    if (!is_file(report)) {
        int failed = write(stdout, context);
        return failed ? failed : fflush(stdout) || ferror(stdout) ? errno ? -errno : -EIO : 0;
    }
    int failed = pct_replacement_open(&file, report->path);
    if (failed)
        return failed;
    failed = write(file.out, context);
    if (!failed)
        return pct_replacement_close(&file);
    pct_replacement_drop(&file);
    return failed;
}
