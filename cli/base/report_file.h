/* A report in one of several formats, and where it goes: "FORMAT[:FILE]", as --report has it. Called by the commands
 * that write reports. */
#ifndef PCT_CLI_REPORT_FILE_H
#define PCT_CLI_REPORT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct pct_report_file {
    const char *format; /* its name */
    const char *path;   /* NULL or "-": standard output */
};

/* Whether a format has this name. If not: a line in error, with what there is, or what may have been meant. */
bool pct_report_file_knows(const char *format, const char *const *formats, size_t count, char *error, size_t size);

/* Take one from text, which must live as long: "FORMAT" or "FORMAT:FILE". format is then one of formats. False: as
 * above. */
bool pct_report_file_parse(struct pct_report_file *report, const char *text, const char *const *formats, size_t count,
                           char *error, size_t size);

/* Whether it could be written, before there is anything to write. Returns 0 or a negative errno. */
int pct_report_file_check(const struct pct_report_file *report);

/* Write it by this function, which returns 0 or a negative errno; what fails in writing shows in ferror(out). A file is
 * replaced at once or not at all. Returns likewise. */
int pct_report_file_write(const struct pct_report_file *report, int (*write)(FILE *out, void *context), void *context);

/* The file, or "standard output". */
const char *pct_report_file_name(const struct pct_report_file *report);

#endif
