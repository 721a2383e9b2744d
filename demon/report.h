/* What `pct demon` found, for other programs: JSON, SARIF, JUnit. docs/REPORTS.md says what is in them. */
#ifndef PCT_DEMON_REPORT_H
#define PCT_DEMON_REPORT_H

#include "search.h"
#include <cli/base/report_file.h>

enum { DEMON_REPORTS = 8 };

/* "FORMAT" or "FORMAT:FILE", as --report has it. False: *error says what there is. */
bool demon_report_parse(struct pct_report_file *report, const char *text, char *error, size_t size);

/* Whether the files can be written, before there is anything to write. False after a message. */
bool demon_report_check(const struct pct_report_file *reports, size_t count);

/* Write them; a file is replaced at once or not at all. False after a message. */
bool demon_report_write(const struct pct_report_file *reports, size_t count, const struct demon_search *search,
                        enum demon_verdict verdict);

#endif
