/* What a run of the strategy maple was to force, for people and programs. */
#ifndef PCT_CLI_FORCED_H
#define PCT_CLI_FORCED_H

#include <cli/base/json.h>
#include <cli/trace/trace_read.h>
#include <stdio.h>

/* If the token is of a run that was to force an iRoot: a line that names it by operations and source lines, as far as
 * this trace, which has recorded places, has been there. Else, and where the trace has no places, nothing. */
void pct_forced_print(FILE *out, const char *token, const struct pct_trace *trace);

/* The same as the member `iroot` of an object, with `idiom` and `places`. */
void pct_forced_add_json(struct json_object *to, const char *token, const struct pct_trace *trace);

#endif
