/* The trace as lines of JSON, and the parts that all its JSON formats share: see trace_export.h.
 *
 * json-c makes every object that holds text from outside. A line for a step holds numbers and words of our own tables
 * alone, and there may be millions: they are printed. */
#include <cli/base/cli.h>
#include <cli/base/json.h>
#include "report.h"
#include "schedule.h"
#include "trace_export.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct json_object *verdict_text(const struct pct_trace *trace)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        return NULL;
    pct_report_print_verdict(stream, trace);
    fclose(stream);
    struct json_object *string = text ? pct_json_text(text, size) : NULL;
    free(text);
    return string;
}

struct json_object *pct_json_run(const struct pct_trace_export *x)
{
    const struct pct_trace_header *header = &x->trace->header;
    bool running = header->verdict == PCT_VERDICT_RUNNING;
    struct json_object *run = json_object_new_object(), *counts = json_object_new_object();
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)header->hash);
    json_object_object_add(run, "type", json_object_new_string("run"));
    pct_json_add_number(run, "format", 1);
    json_object_object_add(run, "command", pct_json_text(header->command, sizeof header->command));
    json_object_object_add(run, "token", pct_json_text(header->token, sizeof header->token));
    json_object_object_add(run, "strategy", pct_json_text(header->strategy, sizeof header->strategy));
    pct_json_add_seed(run, "seed", header->seed);
    json_object_object_add(run, "verdict", json_object_new_string(pct_name_verdict(header->verdict)));
    json_object_object_add(run, "text", verdict_text(x->trace));
    json_object_object_add(run, "message", pct_json_text(header->message, sizeof header->message));
    if (header->verdict == PCT_VERDICT_EXIT && header->exit_status != PCT_STATUS_UNKNOWN)
        json_object_object_add(run, "exit_status", json_object_new_int(header->exit_status));
    if (header->verdict == PCT_VERDICT_CRASH)
        json_object_object_add(run, "signal", json_object_new_int(header->signal));
    if (header->culprit != PCT_NO_THREAD && !running)
        pct_json_add_number(run, "culprit", header->culprit);
    /* A killed process counted nothing: what is known is what stands in the records. */
    pct_json_add_number(run, "steps", running ? x->trace->count : header->steps);
    pct_json_add_number(run, "first_recorded", x->trace->first + 1);
    pct_json_add_number(run, "recorded", x->trace->count);
    pct_json_add_number(run, "from", x->trace->first + x->from + 1);
    pct_json_add_number(run, "to", x->trace->first + x->to);
    if (!running) {
        pct_json_add_number(run, "threads", header->threads);
        pct_json_add_number(run, "switches", header->switches);
        pct_json_add_number(run, "preemptions", header->preemptions);
        pct_json_add_number(run, "virtual_ns", header->virtual_ns);
        json_object_object_add(run, "hash", json_object_new_string(hash));
    }
    for (unsigned i = 0; i < PCT_UNCONTROLLED_COUNT; i++)
        if (header->uncontrolled[i])
            pct_json_add_number(counts, pct_name_uncontrolled(i), header->uncontrolled[i]);
    json_object_object_add(run, "uncontrolled", counts);
    return run;
}

struct json_object *pct_json_frame(const struct pct_frame *frame)
{
    struct json_object *entry = json_object_new_object();
    if (frame->function[0])
        json_object_object_add(entry, "function", pct_json_text(frame->function, sizeof frame->function));
    if (frame->file[0]) {
        json_object_object_add(entry, "file", pct_json_text(frame->file, sizeof frame->file));
        json_object_object_add(entry, "line", json_object_new_int(frame->line));
    }
    if (frame->module[0]) {
        json_object_object_add(entry, "module", pct_json_text(frame->module, sizeof frame->module));
        pct_json_add_number(entry, "offset", frame->offset);
    }
    return entry;
}

static struct json_object *make_stack(struct pct_unwinder *unwinder, size_t index)
{
    static struct pct_stack stack; /* large, and there is one thread here */
    struct json_object *frames = json_object_new_array();
    if (!unwinder)
        return frames;
    pct_unwind_thread(unwinder, index, &stack);
    for (size_t i = 0; i < stack.count; i++)
        json_object_array_add(frames, pct_json_frame(&stack.frames[i]));
    return frames;
}

struct json_object *pct_json_threads(const struct pct_trace_export *x)
{
    static const char *const states[] = { "running", "enabled", "blocked", "finished", "outside" };
    struct json_object *threads = json_object_new_array();
    struct pct_unwinder *unwinder = pct_unwind_open(x->snapshot);
    for (size_t i = 0; i < x->snapshot->thread_count; i++) {
        const struct pct_snap_thread *thread = &x->snapshot->threads[i];
        struct json_object *entry = json_object_new_object();
        char text[96];
        uint32_t waits_for = pct_snapshot_waits_for(x->snapshot, thread);
        json_object_object_add(entry, "type", json_object_new_string("thread"));
        pct_json_add_number(entry, "thread", thread->id);
        json_object_object_add(entry, "name", pct_json_text(thread->name, sizeof thread->name));
        json_object_object_add(
            entry, "state",
            json_object_new_string(thread->state < sizeof states / sizeof *states ? states[thread->state] : "?"));
        if (thread->state != PCT_SNAP_RUNNING && thread->op) {
            json_object_object_add(entry, "next_op", json_object_new_string(pct_name_op(thread->op)));
            json_object_object_add(
                entry, "next_text",
                json_object_new_string(pct_schedule_format_next(text, sizeof text, thread->op, thread->object)));
            pct_json_add_number(entry, "object", thread->object);
        }
        if (waits_for != PCT_NO_THREAD)
            pct_json_add_number(entry, "waits_for_thread", waits_for);
        json_object_object_add(entry, "stack", make_stack(unwinder, i));
        json_object_array_add(threads, entry);
    }
    pct_unwind_close(unwinder);
    return threads;
}

const char *pct_json_place(struct pct_place_texts *known, struct pct_step_places *places, const struct pct_event *event)
{
    uint32_t number = pct_step_places_of(places, event->index, event->record), count = pct_step_places_count(places);
    if (!number)
        return NULL;
    if (count > known->count) {
        char **texts = realloc(known->texts, count * sizeof *texts);
        if (!texts)
            return NULL;
        known->texts = texts;
        while (known->count < count) {
            struct json_object *frame = pct_json_frame(pct_step_places_get(places, known->count + 1));
            texts[known->count++] =
                strdup(json_object_to_json_string_ext(frame, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
            json_object_put(frame);
        }
    }
    return number <= known->count ? known->texts[number - 1] : NULL;
}

void pct_json_places_free(struct pct_place_texts *known)
{
    for (uint32_t i = 0; i < known->count; i++)
        free(known->texts[i]);
    free(known->texts);
}

void pct_json_add_names(struct json_object *page)
{
    /* A word for an operation whose name does not hold it: "join" of "thread". */
    struct json_object *ops = json_object_new_array(), *classes = json_object_new_array(),
                       *words = json_object_new_array(), *reasons = json_object_new_array(),
                       *links = json_object_new_array();
    for (unsigned i = 0; i < PCT_OP_COUNT; i++) {
        struct json_object *op = json_object_new_object();
        json_object_object_add(op, "id", json_object_new_string(pct_name_op_identifier(i)));
        json_object_object_add(op, "name", json_object_new_string(pct_name_op(i)));
        json_object_object_add(op, "class", json_object_new_int((int)pct_name_op_class(i)));
        json_object_array_add(ops, op);
    }
    for (unsigned i = 0; i < PCT_CLASS_COUNT; i++) {
        json_object_array_add(classes, json_object_new_string(pct_name_class(i)));
        json_object_array_add(words, json_object_new_string(pct_schedule_word(i)));
    }
    for (unsigned i = 0; i < PCT_REASON_COUNT; i++)
        json_object_array_add(reasons, json_object_new_string(pct_reason_text((enum pct_reason)i)));
    for (unsigned i = 0; i < PCT_LINK_COUNT; i++)
        json_object_array_add(links, json_object_new_string(pct_link_text((enum pct_link)i)));
    json_object_object_add(page, "ops", ops);
    json_object_object_add(page, "classes", classes);
    json_object_object_add(page, "words", words);
    json_object_object_add(page, "reasons", reasons);
    json_object_object_add(page, "links", links);
}

static void print_step(FILE *out, const struct pct_event *event, const char *place)
{
    char text[96];
    uint64_t r = event->record;
    unsigned op = PCT_RECORD_OP(r), class_ = pct_name_op_class(op);
    fprintf(out, "{\"type\":\"step\",\"step\":%llu,\"thread\":%u,\"op\":\"%s\"", (unsigned long long)event->step,
            event->thread, pct_name_op(op));
    if (class_)
        fprintf(out, ",\"class\":\"%s\",\"object\":%u", pct_name_class(class_), PCT_RECORD_OBJECT(r));
    if (PCT_RECORD_ARG(r))
        fprintf(out, ",\"arg\":%u", PCT_RECORD_ARG(r));
    fprintf(out, ",\"text\":\"%s\"",
            pct_schedule_format(text, sizeof text, op, PCT_RECORD_ARG(r), PCT_RECORD_OBJECT(r)));
    if (event->next != event->thread)
        fprintf(out, ",\"switch_to\":%u", event->next);
    if (event->reason)
        fprintf(out, ",\"reason\":\"%s\"", pct_reason_text(event->reason));
    if (event->link)
        fprintf(out, ",\"after\":%llu,\"after_thread\":%u,\"link\":\"%s\"", (unsigned long long)event->from,
                event->from_thread, pct_link_text(event->link));
    if (place)
        fprintf(out, ",\"place\":%s", place);
    fputs("}\n", out);
}

int pct_trace_export_jsonl(const struct pct_trace_export *x)
{
    struct pct_events *events = pct_events_open(x->trace, x->snapshot);
    struct pct_step_places *places = pct_step_places_open(x->snapshot);
    struct pct_place_texts known = { 0 };
    struct pct_event event;
    if (!events || !places) {
        pct_events_close(events);
        pct_step_places_close(places);
        return -ENOMEM;
    }
    pct_json_print_line(x->out, pct_json_run(x));
    fputc('\n', x->out);
    while (pct_events_next(events, &event) && event.index < x->to) {
        if (event.index >= x->from)
            print_step(x->out, &event, pct_json_place(&known, places, &event));
    }
    pct_json_places_free(&known);
    pct_step_places_close(places);
    pct_events_close(events);
    struct json_object *threads = pct_json_threads(x);
    for (size_t i = 0; i < json_object_array_length(threads); i++) {
        pct_json_print_line(x->out, json_object_get(json_object_array_get_idx(threads, i)));
        fputc('\n', x->out);
    }
    json_object_put(threads);
    return 0;
}
