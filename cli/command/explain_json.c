/* An explanation as JSON: see explain_json.h. */
#include "explain_json.h"
#include "forced.h"
#include <cli/base/cli.h>
#include <cli/base/json.h>
#include <cli/diagnose/json.h>
#include <cli/trace/report.h>
#include <stdlib.h>

enum { DIAGNOSES = 3, TEXT = 800 };

static void add_verdict(struct json_object *to, const struct pct_trace *trace, const char *headline)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    pct_json_add_string(to, "verdict", pct_name_verdict(trace->header.verdict));
    if (!out)
        return;
    if (headline)
        fputs(headline, out);
    else
        pct_report_print_verdict(out, trace);
    if (!fclose(out))
        pct_json_add_string(to, "message", text);
    free(text);
}

/* An operation of an ordering; one that did not come has no step. */
static void add_event(struct json_object *to, const char *key, const struct pct_narrative *narrative,
                      const struct pct_event *event)
{
    static struct pct_stack stack;
    char text[TEXT];
    struct json_object *object = pct_json_add_object(to, key);
    if (event->step < PCT_STEP_LATER)
        pct_json_add_number(object, "step", event->step + 1);
    pct_json_add_number(object, "thread", event->thread);
    pct_json_add_string(object, "operation", pct_narrative_operation(narrative, text, sizeof text, event));
    struct json_object *frames = pct_json_add_array(object, "frames");
    pct_narrative_stack(narrative, event, &stack);
    for (size_t i = 0; i < stack.count; i++)
        pct_frame_json(frames, &stack.frames[i]);
}

static void add_search(struct json_object *to, const struct pct_analysis *q)
{
    const struct pct_depth *depth = &q->depth;
    struct json_object *search = pct_json_add_object(to, "search");
    pct_json_add_string(search, "token", q->shrink.token ? q->shrink.token : "");
    pct_json_add_number(search, "preemptions", q->shrink.minimal_preemptions);
    pct_json_add_bool(search, "measured", depth->measured);
    if (q->passes)
        pct_json_add_string(search, "passes", q->pass.trace->header.token);
    if (!depth->measured)
        return;
    pct_json_add_number(search, "failed", depth->failed);
    pct_json_add_number(search, "of", depth->of);
    struct json_object *orderings = pct_json_add_array(search, "orderings");
    for (size_t i = 0; i < depth->count; i++) {
        const struct pct_order *order = &depth->needs[i].order;
        struct json_object *object = pct_json_append_object(orderings);
        pct_json_add_bool(object, "wakes", order->wake);
        add_event(object, "first", &q->narrative, &order->first);
        add_event(object, "then", &q->narrative, &order->then);
    }
}

int pct_explain_json(const struct pct_analysis *analysis, const struct pct_diagnosing *diagnosing,
                     const struct pct_trace *trace, const char *headline, const char *replay)
{
    const char *token = pct_shrink_token_of_run(&analysis->shrink);
    struct json_object *root = json_object_new_object();
    if (!root)
        return pct_cli_no_memory("");
    pct_json_add_string(root, "format", "pct-explain");
    pct_json_add_number(root, "version", 1);
    pct_json_add_string(root, "pct", PCT_CLI_VERSION);
    pct_json_add_string(root, "token", token);
    pct_json_add_string(root, "replay", replay);
    add_verdict(root, trace, headline);
    pct_forced_add_json(root, token, trace);
    struct json_object *diagnoses = pct_json_add_array(root, "diagnoses");
    if (!diagnosing)
        add_search(root, analysis);
    else
        pct_diagnoses_json(diagnoses, &diagnosing->diagnoses, DIAGNOSES);
    return pct_json_print(stdout, root) ? pct_cli_no_memory("") : 0;
}
