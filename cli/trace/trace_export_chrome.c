/* The trace in the Trace Event Format of Chrome, which the Perfetto viewer opens: see export.h.
 *
 * A track for each thread. Records have no times, so a step is drawn as one microsecond, at its number: that is what it
 * takes of virtual time, too, but jumps of time do not show. A slice `runs` spans the steps from one switch to the
 * next, and comes before them, because viewers nest slices of the same start in the order of the file; an arrow leads
 * from a step to the one of another thread that had to wait for it. Viewers keep thread 0 for the idle task, so the
 * track of thread n has the number n + 1, and the name `thread n`. Nothing says in which unit times are to be shown:
 * Perfetto once took that for the unit that they are in. */
#include <cli/base/json.h>
#include <cli/base/cli.h>
#include "trace_export.h"
#include "schedule.h"
#include <errno.h>

static void print_head(FILE *out, const char *phase, uint32_t thread, const char *name, const char *category)
{
    fprintf(out, ",\n{\"ph\":\"%s\",\"pid\":1,\"tid\":%u,\"name\":\"%s\",\"cat\":\"%s\"", phase, thread + 1, name,
            category);
}

/* The steps that a thread makes in a row, from this one on. */
static void print_run(const struct pct_trace_export *x, const struct pct_event *event)
{
    uint64_t end = event->index + 1;
    while (end < x->to && PCT_RECORD_THREAD(x->trace->records[end]) == event->thread)
        end++;
    print_head(x->out, "X", event->thread, "runs", "runs");
    fprintf(x->out, ",\"ts\":%llu,\"dur\":%llu}", (unsigned long long)event->step,
            (unsigned long long)(end - event->index));
}

/* From the middle of one step's slice to that of the other. */
static void print_link(FILE *out, const struct pct_event *event)
{
    const char *name = pct_link_text(event->link);
    unsigned long long id = event->step, from = event->from;
    print_head(out, "s", event->from_thread, name, "order");
    fprintf(out, ",\"ts\":%llu.5,\"id\":%llu}", from, id);
    print_head(out, "f", event->thread, name, "order");
    fprintf(out, ",\"bp\":\"e\",\"ts\":%llu.5,\"id\":%llu}", id, id);
}

static void print_step(const struct pct_trace_export *x, const struct pct_event *event, const char *place)
{
    char text[96];
    uint64_t r = event->record;
    unsigned op = PCT_RECORD_OP(r), class_ = pct_name_op_class(op);
    unsigned long long step = event->step;
    print_head(x->out, "X", event->thread,
               pct_schedule_format(text, sizeof text, op, PCT_RECORD_ARG(r), PCT_RECORD_OBJECT(r)),
               class_ ? pct_name_class(class_) : "other");
    fprintf(x->out, ",\"ts\":%llu,\"dur\":1,\"args\":{\"step\":%llu%s%s}}", step, step, place ? ",\"place\":" : "",
            place ? place : "");
    if (event->link && event->from > x->trace->first + x->from)
        print_link(x->out, event);
    if (event->next == event->thread)
        return;
    snprintf(text, sizeof text, "switch%s%s%s", event->reason ? " (" : "", pct_reason_text(event->reason),
             event->reason ? ")" : "");
    print_head(x->out, "i", event->thread, text, "switch");
    fprintf(x->out, ",\"s\":\"t\",\"ts\":%llu.9}", step);
}

static void name_threads(const struct pct_trace_export *x, const struct pct_events *events)
{
    for (uint32_t thread = 0; thread < pct_events_threads(events); thread++) {
        if (!pct_events_seen(events, thread))
            continue;
        print_head(x->out, "M", thread, "thread_name", "__metadata");
        fprintf(x->out, ",\"args\":{\"name\":\"thread %u\"}}", thread);
        print_head(x->out, "M", thread, "thread_sort_index", "__metadata");
        fprintf(x->out, ",\"args\":{\"sort_index\":%u}}", thread);
    }
}

static void print_process(const struct pct_trace_export *x)
{
    struct json_object *process = json_object_new_object(), *arguments = json_object_new_object();
    json_object_object_add(process, "ph", json_object_new_string("M"));
    json_object_object_add(process, "pid", json_object_new_int(1));
    json_object_object_add(process, "name", json_object_new_string("process_name"));
    json_object_object_add(arguments, "name", pct_json_text(x->trace->header.command, sizeof x->trace->header.command));
    json_object_object_add(process, "args", arguments);
    pct_json_print_line(x->out, process);
}

int pct_trace_export_chrome(const struct pct_trace_export *x)
{
    struct pct_events *events = pct_events_open(x->trace, x->snapshot);
    struct pct_step_places *places = pct_step_places_open(x->snapshot);
    struct pct_place_texts known = { 0 };
    struct pct_event event = { 0 };
    bool begins = true;
    if (!events || !places) {
        pct_events_close(events);
        pct_step_places_close(places);
        return -ENOMEM;
    }
    struct json_object *run = pct_json_run(x);
    pct_json_exact(run);
    fputs("{\"otherData\":", x->out);
    pct_json_print_line(x->out, run);
    fputs(",\"traceEvents\":[\n", x->out);
    print_process(x);
    while (pct_events_next(events, &event) && event.index < x->to) {
        if (event.index < x->from)
            continue;
        if (begins)
            print_run(x, &event);
        begins = event.next != event.thread;
        print_step(x, &event, pct_json_place(&known, places, &event));
    }
    name_threads(x, events);
    fputs("\n]}\n", x->out);
    pct_json_places_free(&known);
    pct_step_places_close(places);
    pct_events_close(events);
    return 0;
}
