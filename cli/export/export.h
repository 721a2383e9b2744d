/* A campaign for other programs: the formats in which `pct campaign report` and `pct campaign --report` write it.
 * docs/REPORTS.md says what is in them. */
#ifndef PCT_CLI_EXPORT_H
#define PCT_CLI_EXPORT_H

#include "summary.h"
#include <argp.h>
#include <cli/base/report_file.h>

/* The formats: X(identifier, name, one line of help). Each is int pct_export_<identifier>(out, summary): 0 or a
 * negative errno; what fails in writing shows in ferror(out). */
#define PCT_EXPORTS(X)                                                                                                 \
    X(junit, "junit", "JUnit XML")                                                                                     \
    X(sarif, "sarif", "SARIF 2.1.0")                                                                                   \
    X(github, "github", "annotations of GitHub Actions, and the job summary if $GITHUB_STEP_SUMMARY is set")           \
    X(gitlab, "gitlab", "GitLab code quality")                                                                         \
    X(lines, "lines", "FILE:LINE: error: TEXT, as compilers write it, for editors")                                    \
    X(json, "json", "all that is known, as JSON")                                                                      \
    X(html, "html", "a page with findings and curves, in one file")

#define PCT_EXPORT_DECLARE(id, name, help) int pct_export_##id(FILE *out, const struct pct_summary *summary);
PCT_EXPORTS(PCT_EXPORT_DECLARE)
#undef PCT_EXPORT_DECLARE

/* What --report and --source-root say. */
struct pct_exports {
    struct pct_report_file files[16];
    size_t count;
    const char *root; /* where the sources are, NULL: in the current directory */
};

/* Their parser, whose input is a struct pct_exports. */
extern const struct argp pct_exports_argp;

/* Whether there is a format of this name. If not: a line in error, with what there is. */
bool pct_export_known(const char *format, char *error, size_t size);

/* Whether the files can be made, before there is anything to write. Returns 0 or an exit status after a message. */
int pct_export_check(const struct pct_exports *exports);

/* Write such a file at once or not at all. write: returns 0 or a negative errno. Returns 0 or an exit status after a
 * message. */
int pct_export_write(const char *path, int (*write)(FILE *out, void *context), void *context);

/* Read the campaign and write it in each of these formats; files are replaced at once or not at all. Returns 0, or an
 * exit status after a message. */
int pct_export_all(struct pct_store *store, const struct pct_exports *exports);

#endif
