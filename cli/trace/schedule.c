/* The schedule as people read it: see schedule.h. What the steps mean is worked out in events.c. */
#include "schedule.h"
#include <cli/base/cli.h>
#include <cli/base/color.h>
#include <cli/base/status_line.h>
#include "events.h"
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 8, CELL_MAX = 30, TEXT_MAX = 96, LINE_MAX = 160, STEP_WIDTH = 12 };

const char *pct_schedule_word(unsigned class_)
{
    static const char *const words[PCT_CLASS_COUNT] = {
        [PCT_CLASS_THREAD] = "thread", [PCT_CLASS_MUTEX] = "mutex",     [PCT_CLASS_COND] = "cond",
        [PCT_CLASS_RWLOCK] = "rwlock", [PCT_CLASS_BARRIER] = "barrier", [PCT_CLASS_SPIN] = "spin",
        [PCT_CLASS_SEM] = "sem",       [PCT_CLASS_ONCE] = "once",       [PCT_CLASS_GUARD] = "guard",
        [PCT_CLASS_FUTEX] = "futex",   [PCT_CLASS_FD] = "fd",           [PCT_CLASS_MEMORY] = "memory",
        [PCT_CLASS_LOADER] = "loader", [PCT_CLASS_POINT] = "point",
    };
    _Static_assert(PCT_CLASS_COUNT == PCT_CLASS_POINT + 1, "each class has a word");
    return class_ < PCT_CLASS_COUNT && words[class_] ? words[class_] : "";
}

const char *pct_schedule_format_next(char *buffer, size_t size, unsigned op, uint32_t object)
{
    pct_schedule_format(buffer, size, op, 0, object);
    size_t length = strlen(buffer);
    bool known = object || pct_name_op_class(op) == PCT_CLASS_THREAD; /* the first thread is 0 */
    if (!known && length > 2 && !strcmp(buffer + length - 2, " 0"))
        buffer[length - 2] = '\0';
    return buffer;
}

const char *pct_schedule_format(char *buffer, size_t size, unsigned op, unsigned argument, uint32_t object)
{
    const char *name = pct_name_op(op);
    unsigned class_ = pct_name_op_class(op);
    const char *word = strstr(name, pct_schedule_word(class_)) ? "" : pct_schedule_word(class_);
    char number[16] = "", note[32] = "";
    if (op == PCT_OP_SIGNAL_HANDLE || op == PCT_OP_SIGNAL_WAIT)
        argument = 0; /* the signal: SIGINT is not busy, and SIGHUP has not timed out */
    /* A thread's start and end are its own. */
    if (class_ && op != PCT_OP_THREAD_START && op != PCT_OP_THREAD_FINISH && op != PCT_OP_THREAD_EXIT)
        snprintf(number, sizeof number, " %u", object);
    else
        word = "";
    if (op == PCT_OP_OUTSIDE || (op == PCT_OP_CLOCK && PCT_RECORD_TIME(PCT_RECORD(0, op, argument, object))))
        snprintf(note, sizeof note, " (%.3f ms)", (double)PCT_RECORD_TIME(PCT_RECORD(0, op, argument, object)) / 1000);
    else if (op == PCT_OP_DEADLINE)
        snprintf(note, sizeof note, " (%.3f ms early)",
                 (double)PCT_RECORD_TIME(PCT_RECORD(0, op, argument, object)) / 1000);
    else if (op == PCT_OP_CHOICE)
        snprintf(note, sizeof note, " %u", argument);
    else if (op == PCT_OP_COND_SIGNAL || op == PCT_OP_FUTEX_WAKE) {
        if (argument == PCT_ARG_NOBODY)
            snprintf(note, sizeof note, " (nobody waits)");
        else if (argument)
            snprintf(note, sizeof note, " (waiter %u)", argument + 1);
    } else if (argument == PCT_ARG_TIMEOUT)
        snprintf(note, sizeof note, " (timed out)");
    else if (argument == PCT_ARG_BUSY)
        snprintf(note, sizeof note, " (busy)");
    else if (argument == PCT_ARG_CANCELLED)
        snprintf(note, sizeof note, " (cancelled)");
    else if (argument == PCT_ARG_RUN)
        snprintf(note, sizeof note, " (runs it)");
    else if (argument == PCT_ARG_ERROR)
        snprintf(note, sizeof note, " (error)");
    else if (op == PCT_OP_COND_WAKE && argument == PCT_ARG_SPURIOUS)
        snprintf(note, sizeof note, " (spurious)");
    snprintf(buffer, size, "%s%s%s%s%s", name, *word ? " " : "", word, number, note);
    return buffer;
}

/* The operation of a record, points by their names. */
static void format_record(char *buffer, size_t size, const struct pct_snapshot *snapshot, uint64_t record)
{
    const char *point = NULL;
    if (PCT_RECORD_OP(record) == PCT_OP_POINT)
        point = pct_snapshot_point(snapshot, PCT_RECORD_OBJECT(record));
    if (point)
        snprintf(buffer, size, "point %s", point);
    else
        pct_schedule_format(buffer, size, PCT_RECORD_OP(record), PCT_RECORD_ARG(record), PCT_RECORD_OBJECT(record));
}

struct window {
    const struct pct_trace *trace;
    const struct pct_snapshot *snapshot;
    uint64_t from, to;       /* indices of records */
    const bool *show, *mark; /* by record; NULL: all, none */
    uint32_t columns[COLUMNS];
    unsigned column_count; /* COLUMNS + 1: too many threads for columns */
    bool fold;             /* steps that are repeated are one line */
    unsigned width;
};

static unsigned column_of(const struct window *w, uint32_t thread)
{
    unsigned i = 0;
    while (i < w->column_count && w->columns[i] != thread)
        i++;
    return i;
}

/* On a narrow terminal, as for many threads, each line says whose it is: a table whose lines are broken is none. */
static bool is_too_wide(FILE *out, const struct window *w)
{
    unsigned room = pct_status_line_columns(out), most = room > STEP_WIDTH ? room - STEP_WIDTH : LINE_MAX;
    return w->column_count * w->width > (most < LINE_MAX ? most : LINE_MAX);
}

static void choose_columns(FILE *out, struct window *w)
{
    w->width = sizeof "switch (preempted)";
    for (uint64_t i = w->from; i < w->to; i++) {
        uint64_t r = w->trace->records[i];
        uint32_t thread = PCT_RECORD_THREAD(r);
        if (w->show && !w->show[i])
            continue;
        unsigned at = column_of(w, thread);
        if (at == w->column_count && at == COLUMNS) {
            w->column_count = COLUMNS + 1;
            return;
        }
        if (at == w->column_count) {
            /* In the order of their ids. */
            while (at && w->columns[at - 1] > thread) {
                w->columns[at] = w->columns[at - 1];
                at--;
            }
            w->columns[at] = thread;
            w->column_count++;
        }
        char text[TEXT_MAX];
        format_record(text, sizeof text, w->snapshot, r);
        size_t length = strlen(text);
        if (length + 1 > w->width)
            w->width = length < CELL_MAX ? (unsigned)length + 1 : CELL_MAX + 1;
    }
    if (is_too_wide(out, w))
        w->column_count = COLUMNS + 1;
}

/* before: what stands in the step's column. */
static void print_cell(FILE *stream, const struct window *w, const char *before, uint32_t thread, const char *text)
{
    struct pct_cli_narrow narrow;
    FILE *out = pct_cli_narrow_begin(&narrow, stream);
    fputs(before, out);
    if (w->column_count <= COLUMNS)
        fprintf(out, "%*s", (int)(column_of(w, thread) * w->width), "");
    else
        fprintf(out, "thread %-5u  ", thread);
    pct_cli_print_clean(out, text, TEXT_MAX);
    fputc('\n', out);
    pct_cli_narrow_end(&narrow);
}

/* Steps that are the same, one behind the other, are one line. */
struct run {
    struct pct_event first, last;
    uint64_t count;
};

static void print_run(FILE *out, const struct window *w, const struct run *run)
{
    const struct pct_event *event = &run->last;
    char text[TEXT_MAX], mark[64], step[32];
    format_record(text, sizeof text, w->snapshot, event->record);
    size_t length = strlen(text), most = w->column_count <= COLUMNS ? CELL_MAX : TEXT_MAX / 2;
    length = length < most ? length : most;
    text[length] = 0;
    if (run->count > 1)
        snprintf(text + length, sizeof text - length, ", %llu times", (unsigned long long)run->count);
    snprintf(step, sizeof step, "%10llu%s ", (unsigned long long)run->first.step,
             w->mark && w->mark[event->index] ? "*" : " ");
    print_cell(out, w, step, event->thread, text);
    if (event->index + 1 < w->to && event->next != event->thread) {
        const char *why = pct_reason_text(event->reason);
        snprintf(mark, sizeof mark, "switch%s%s%s", *why ? " (" : "", why, *why ? ")" : "");
        pct_color(out, PCT_COLOR_SWITCH);
        print_cell(out, w, "            ", event->thread, mark);
        pct_color(out, PCT_COLOR_NONE);
    }
}

/* The lines of the script that were done when the run had made this many steps, each once; *at: how many notes of it
 * were looked at. */
static void print_lines(FILE *out, const struct window *w, size_t *at, uint64_t steps)
{
    const struct pct_snapshot *s = w->snapshot;
    for (; *at < s->script_note_count && s->script_notes[*at].step <= steps; ++*at) {
        const struct pct_snap_script_note *note = &s->script_notes[*at];
        const char *text = s->script_text;
        char line[TEXT_MAX];
        if (note->step < w->from ||
            (*at + 1 < s->script_note_count && note[1].line == note->line && note[1].step <= steps))
            continue;
        for (uint32_t i = 1; i < note->line && text; i++)
            text = (text = strchr(text, '\n')) ? text + 1 : NULL;
        if (!text)
            continue;
        text += strspn(text, " \t");
        snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\r\n"), text);
        fprintf(out, "%12sline %u done: ", "", note->line);
        pct_cli_print_clean(out, line, sizeof line);
        fputc('\n', out);
    }
}

void pct_schedule_fill_holders(struct pct_snapshot *snapshot, const struct pct_trace *trace)
{
    struct pct_events *events = trace->first ? NULL : pct_events_open(trace, snapshot);
    if (!events)
        return;
    struct pct_event event;
    while (pct_events_next(events, &event))
        ;
    for (size_t i = 0; i < snapshot->thread_count; i++) {
        struct pct_snap_thread *thread = &snapshot->threads[i];
        unsigned class_ = pct_snapshot_wait_class(snapshot, thread);
        bool lock = class_ == PCT_CLASS_MUTEX || class_ == PCT_CLASS_SPIN || class_ == PCT_CLASS_RWLOCK;
        if (thread->holder == PCT_NO_THREAD && lock)
            thread->holder = pct_events_holder(events, thread->object);
    }
    pct_events_close(events);
}

/* Whether this is the step of the run once more. */
static bool goes_on(const struct window *w, const struct run *run, const struct pct_event *event)
{
    return w->fold && run->count && run->last.record == event->record && run->last.index + 1 == event->index &&
           !(w->mark && (w->mark[event->index] || w->mark[run->last.index]));
}

static void print(FILE *out, struct window *w, const struct pct_snapshot *snapshot)
{
    struct pct_events *events = pct_events_open(w->trace, snapshot);
    if (!events)
        return;
    choose_columns(out, w);
    if (w->column_count <= COLUMNS) {
        fprintf(out, "%10s  ", "step");
        for (unsigned i = 0; i + 1 < w->column_count; i++)
            fprintf(out, "thread %-*u", (int)w->width - 7, w->columns[i]);
        if (w->column_count)
            fprintf(out, "thread %u\n", w->columns[w->column_count - 1]);
    }
    struct pct_event event;
    struct run run = { .count = 0 };
    bool left_out = false;
    size_t lines = 0;
    while (pct_events_next(events, &event) && event.index < w->to) {
        bool shown = event.index >= w->from && (!w->show || w->show[event.index]);
        if (shown && goes_on(w, &run, &event)) {
            run.last = event;
            run.count++;
            continue;
        }
        if (run.count) {
            print_run(out, w, &run);
            print_lines(out, w, &lines, run.last.step);
        }
        run.count = 0;
        if (shown && left_out)
            fprintf(out, "%10s\n", "...");
        left_out = !shown && (left_out || event.index >= w->from);
        if (shown)
            run = (struct run){ .first = event, .last = event, .count = 1 };
    }
    if (run.count) {
        print_run(out, w, &run);
        print_lines(out, w, &lines, run.last.step);
    }
    pct_events_close(events);
}

void pct_schedule_print(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot, uint64_t from,
                        uint64_t to)
{
    struct window w = { .trace = trace, .snapshot = snapshot, .from = from, .to = to };
    print(out, &w, snapshot);
}

void pct_schedule_print_some(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot,
                             const bool *show, const bool *mark)
{
    struct window w = {
        .trace = trace, .snapshot = snapshot, .to = trace->count, .show = show, .mark = mark, .fold = true
    };
    print(out, &w, snapshot);
}

uint64_t pct_schedule_last(const struct pct_trace *trace, uint64_t lines)
{
    uint64_t from = trace->count;
    for (uint64_t shown = 0; from && shown < lines; shown++)
        do
            from--;
        while (from && trace->records[from - 1] == trace->records[from]);
    return from;
}

void pct_schedule_print_last(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot,
                             uint64_t from)
{
    struct window w = { .trace = trace, .snapshot = snapshot, .from = from, .to = trace->count, .fold = true };
    print(out, &w, snapshot);
}
