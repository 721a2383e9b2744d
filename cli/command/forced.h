/* What a run of the strategy maple was to force, for people. */
#ifndef PCT_CLI_FORCED_H
#define PCT_CLI_FORCED_H

#include <cli/trace/trace_read.h>
#include <stdio.h>

/* If the token is of a run that was to force an iRoot: a line that names it by operations and source lines, as far as
 * this trace, which has recorded places, has been there. Else, and where the trace has no places, nothing. */
void pct_forced_print(FILE *out, const char *token, const struct pct_trace *trace);

#endif
