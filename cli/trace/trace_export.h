/* A trace in other formats: what `pct trace` writes. docs/TRACE-EXPORT.md describes them. Each function writes the
 * whole export to out and leaves errors of out to the caller; each returns 0 or a negative errno. */
#ifndef PCT_CLI_TRACE_EXPORT_H
#define PCT_CLI_TRACE_EXPORT_H

#include "events.h"
#include "step_places.h"
#include <stdio.h>

struct json_object;

struct pct_trace_export {
    FILE *out;
    const struct pct_trace *trace;
    const struct pct_snapshot *snapshot;
    uint64_t from, to;                   /* the window: indices of records, `to` is not in it */
    uint32_t process;                    /* whose it is, as a script numbers them; 0: the first */
    const struct pct_trace_export *next; /* of text and html: another process, to be written behind it; NULL: none */
    uint32_t then; /* of a schedule: the thread that goes on behind it, PCT_NO_THREAD: whoever does by default */
};

int pct_trace_export_text(const struct pct_trace_export *x);
int pct_trace_export_jsonl(const struct pct_trace_export *x);
int pct_trace_export_chrome(const struct pct_trace_export *x);
int pct_trace_export_dot(const struct pct_trace_export *x);
int pct_trace_export_schedule(const struct pct_trace_export *x);
int pct_trace_export_html(const struct pct_trace_export *x);

/* trace_export_json.c: parts that JSON formats share. */

/* The facts of the run: its command, token, verdict, counts. */
struct json_object *pct_json_run(const struct pct_trace_export *x);

/* One place in the code: function, file, line, module, offset, as far as they are known. */
struct json_object *pct_json_frame(const struct pct_frame *frame);

/* The threads at the end of the run, with their stacks: an array, empty without a snapshot. */
struct json_object *pct_json_threads(const struct pct_trace_export *x);

/* The tables behind the numbers of records: ops (id, name, class), classes, words, reasons, links. */
void pct_json_add_names(struct json_object *object);

/* Each place as it stands in the lines of its steps: made once. Zeroed at first. */
struct pct_place_texts {
    char **texts; /* by number - 1 */
    uint32_t count;
};

/* The place of this step as JSON; NULL: not known. */
const char *pct_json_place(struct pct_place_texts *known, struct pct_step_places *places,
                           const struct pct_event *event);
void pct_json_places_free(struct pct_place_texts *known);

#endif
