/* The report of a run: what happened, who waited for whom, where each thread stood, and the last steps. Called by run,
 * replay and report, after the last target was started (reading debug information changes our environment). */
#ifndef PCT_CLI_REPORT_H
#define PCT_CLI_REPORT_H

#include "unwind.h"
#include <stdio.h>

/* The verdict in one line, without a line end. */
void pct_report_print_verdict(FILE *out, const struct pct_trace *trace);

/* All of it. headline: replaces the verdict's line if not NULL (the run was killed for its time, say). lines: of
 * the last steps, a repeated one on one line; 0: none. */
void pct_report_print(FILE *out, const struct pct_trace *trace, const char *headline, uint64_t lines);

/* Of that the headline alone, and the cycle of a deadlock, without source lines: no debug information is read. */
void pct_report_print_ending(FILE *out, const struct pct_trace *trace, const char *headline);

/* The data races that were found in the run, with --races. */
void pct_report_print_races(FILE *out, const struct pct_trace *trace);

/* Lines about what the scheduler could not order; nothing if there was nothing. */
void pct_report_print_uncontrolled(FILE *out, const uint64_t *counts);

/* Two lines if a thread kept others from running that only the watchdog could have stopped: the failure may be due to
 * that. */
void pct_report_print_held(FILE *out, const struct pct_trace_header *header);

/* The same from a report that is kept as text, in one line, to be freed. NULL: it has none, or memory is out. */
char *pct_report_take_held(const char *report);

/* No command was given with this trace: say so, with the one that it was recorded with. */
void pct_report_ask_command(const struct pct_trace *trace);

/* A script for several processes has made the run of this trace, which has the first one's steps alone: print what
 * makes it again. Returns whether it was so. orders (may be NULL): where the trace says what all of them did, that is
 * set to the list of the strategy `processes`, to be freed, nothing is printed, and false returned. */
bool pct_report_several(FILE *out, const struct pct_trace *trace, char **orders);

/* The set of operations in the trace, by the identifiers of enum pct_op, one a line, in the order of the enum. */
void pct_report_print_ops(FILE *out, const struct pct_trace *trace);

enum { PCT_REPORT_LINES = 20 };

/* The threads of a deadlock that wait for each other; or that there is no cycle. unwinder may be NULL. */
void pct_report_print_cycle(FILE *out, const struct pct_snapshot *snapshot, struct pct_unwinder *unwinder);

#endif
