/* A campaign in SARIF 2.1.0 (sarif.h): a rule for each kind of verdict, a result for each finding, with its stacks.
 * Numbers in comments are sections of the standard. */
#include <cli/base/cli.h>
#include "export.h"
#include "sarif.h"
#include <stdlib.h>
#include <string.h>

/* 3.44 stack, for each thread that belongs to the finding. */
static void add_stacks(struct json_object *result, const struct pct_summary_finding *f)
{
    struct json_object *stacks = f->frame_count ? pct_json_add_array(result, "stacks") : NULL, *frames = NULL;
    for (size_t i = 0; i < f->frame_count; i++) {
        const struct pct_summary_frame *frame = &f->frames[i];
        if (!i || frame->frame.stack != f->frames[i - 1].frame.stack) {
            struct json_object *stack = pct_json_append_object(stacks);
            char text[512];
            snprintf(text, sizeof text, "thread %u %.480s", frame->frame.thread, frame->frame.doing);
            pct_sarif_add_text(stack, "message", text);
            frames = pct_json_add_array(stack, "frames");
        }
        struct json_object *object = pct_json_append_object(frames);
        if (frame->place.path || frame->frame.function[0])
            pct_sarif_fill_location(pct_json_add_object(object, "location"), frame->place.path, frame->place.line,
                                    frame->frame.function);
        if (frame->frame.module[0])
            pct_json_add_string(object, "module", frame->frame.module);
        pct_json_add_number(object, "threadId", frame->frame.thread);
    }
}

/* Where the other threads are: the first place of each further stack (3.27.22). */
static void add_related(struct json_object *result, const struct pct_summary_finding *f)
{
    struct json_object *related = NULL;
    uint64_t id = 1;
    unsigned done = f->frame_count ? f->frames[0].frame.stack : 0;
    for (size_t i = 0; i < f->frame_count; i++) {
        const struct pct_summary_frame *frame = &f->frames[i];
        if (frame->frame.stack == done || !frame->place.path)
            continue;
        done = frame->frame.stack;
        related = related ? related : pct_json_add_array(result, "relatedLocations");
        struct json_object *location = pct_json_append_object(related);
        char text[512];
        pct_json_add_number(location, "id", id++);
        pct_sarif_fill_location(location, frame->place.path, frame->place.line, frame->frame.function);
        snprintf(text, sizeof text, "thread %u %.480s", frame->frame.thread, frame->frame.doing);
        pct_sarif_add_text(location, "message", text);
    }
}

static void add_result(struct json_object *results, const struct pct_summary *s, const struct pct_summary_finding *f,
                       size_t rule)
{
    struct json_object *result = pct_json_append_object(results);
    char text[4096], rate[160], replays[160], signature[20], id[128];
    char *replay = pct_summary_replay(f);
    snprintf(id, sizeof id, "pct/%.100s", f->finding.verdict);
    pct_json_add_string(result, "ruleId", id);
    pct_json_add_number(result, "ruleIndex", rule);
    pct_json_add_string(result, "level", "error");
    snprintf(text, sizeof text, "%.1500s. %.800s%s%.300s%s%s; %s. Replay: %.1500s", f->finding.title,
             f->cause ? f->cause : "", f->cause ? " " : "", f->held ? f->held : "", f->held ? ". " : "",
             pct_summary_format_rate(rate, sizeof rate, s, f), pct_summary_format_replays(replays, sizeof replays, f),
             replay ? replay : f->finding.token);
    pct_sarif_add_text(result, "message", text);
    struct json_object *location = pct_json_append_object(pct_json_add_array(result, "locations"));
    const char *function = NULL;
    for (size_t i = 0; !function && f->place.path && i < f->frame_count; i++)
        if (f->frames[i].place.path && !strcmp(f->frames[i].place.path, f->place.path) &&
            f->frames[i].place.line == f->place.line)
            function = f->frames[i].frame.function;
    /* Readers drop results without a place. */
    pct_sarif_fill_location(location, f->place.path ? f->place.path : s->program, f->place.line, function);
    add_related(result, f);
    add_stacks(result, f);
    snprintf(signature, sizeof signature, "%016llx", (unsigned long long)f->finding.signature);
    pct_json_add_string(pct_json_add_object(result, "partialFingerprints"), "pctSignature/v1", signature);
    if (f->finding.count)
        pct_json_add_number(result, "occurrenceCount", f->finding.count);
    struct json_object *properties = pct_json_add_object(result, "properties");
    pct_json_add_string(properties, "token", f->finding.token);
    if (replay)
        pct_json_add_string(properties, "replay", replay);
    free(replay);
}

/* Which verdict is the rule of this finding: the number of different ones before its first finding. */
static size_t rule_of(const struct pct_summary *s, size_t finding, bool *is_first)
{
    size_t rule = 0, first = 0;
    while (strcmp(s->findings[first].finding.verdict, s->findings[finding].finding.verdict))
        first++;
    for (size_t i = 0; i < first; i++) {
        size_t j = 0;
        while (strcmp(s->findings[j].finding.verdict, s->findings[i].finding.verdict))
            j++;
        rule += j == i;
    }
    *is_first = first == finding;
    return rule;
}

static void add_tool(struct json_object *run, const struct pct_summary *s)
{
    struct json_object *rules = pct_sarif_add_tool(run);
    for (size_t i = 0; i < s->count; i++) {
        bool is_first;
        char id[256], text[256];
        rule_of(s, i, &is_first);
        if (!is_first)
            continue;
        const char *verdict = s->findings[i].finding.verdict;
        snprintf(id, sizeof id, "pct/%.100s", verdict);
        snprintf(text, sizeof text, "Some schedule of the program's threads ends with: %.100s", verdict);
        pct_sarif_add_rule(rules, id, text, "error");
    }
}

int pct_export_sarif(FILE *out, const struct pct_summary *summary)
{
    struct json_object *root = json_object_new_object();
    struct json_object *run = pct_sarif_begin(root);
    add_tool(run, summary);
    pct_sarif_add_invocation(run, summary->root, summary->command);
    struct json_object *results = pct_json_add_array(run, "results");
    for (size_t i = 0; i < summary->count; i++) {
        bool is_first;
        add_result(results, summary, &summary->findings[i], rule_of(summary, i, &is_first));
    }
    struct json_object *properties = pct_json_add_object(run, "properties");
    pct_json_add_number(properties, "runs", summary->totals.runs);
    if (summary->guarantee) {
        pct_json_add_string(properties, "guarantee", summary->guarantee);
        pct_json_add_string(properties, "claim", summary->guarantee); /* its former name */
    }
    return pct_json_print(out, root);
}
