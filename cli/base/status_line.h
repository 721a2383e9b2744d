/* A line of progress on standard error: one that changes on a terminal, one a minute in a log. */
#ifndef PCT_CLI_STATUS_LINE_H
#define PCT_CLI_STATUS_LINE_H

#include <stdbool.h>
#include <stdio.h>

/* Whoever waits for runs does so for this many seconds at a time, and draws. */
#define PCT_STATUS_LINE_TICK 0.2

/* Whether standard error is a terminal on which a line can be written anew: not Emacs's, nor another that is `dumb`. */
bool pct_status_line_obeys(void);

/* Whether something is to be said now; then it will have been. begun: when the work began, on the clock of
 * pct_cli_now(). *drawn: when it was last said, 0 at first; kept here. */
bool pct_status_line_is_due(bool terminal, double begun, double *drawn);

/* Say it. */
void pct_status_line_put(bool terminal, const char *line);

/* What is written to this stream in memory goes to standard error later on: it is written for that. NULL: to none. */
void pct_status_line_later(FILE *memory);

/* The descriptor that this stream is written to, or will be; negative: there is none. */
int pct_status_line_descriptor(FILE *out);

/* How many columns the terminal has that this stream is written to; 0: it is none, or does not say. */
unsigned pct_status_line_columns(FILE *out);

/* Make room for other lines. */
void pct_status_line_clear(bool quiet);

#endif
