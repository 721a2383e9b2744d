/* The timeline: one HTML file that works offline. See export.h.
 *
 * The page is made when pct is built (cli/trace/timeline/, with the modules of d3 that it uses; the Makefile puts them
 * together) and stands in the command. Here the trace is put behind it: what is said once as JSON, and of each step
 * some numbers, column by column, because that packs to about a byte a step; then gzip, then base64.
 * cli/trace/timeline/timeline.js reads it. */
#include <cli/base/json.h>
#include <cli/base/cli.h>
#include "trace_export.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

/* What the page begins and ends with. */
__asm__(".pushsection .rodata\n"
        "pct_timeline_head: .incbin \"timeline-head.html\"\n"
        ".byte 0\n"
        "pct_timeline_tail: .incbin \"timeline-tail.html\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char pct_timeline_head[], pct_timeline_tail[];

enum { SOURCE_MARGIN = 4, SOURCE_LINE_MAX = 200, SOURCE_FILES_MAX = 200 };

/* In the order in which timeline.js reads them: by falling size, so that each is aligned. */
struct columns {
    uint32_t *object, *distance, *place;
    uint16_t *thread, *argument;
    uint8_t *op, *reason, *link;
};

static size_t columns_size(uint64_t n)
{
    return n * (3 * sizeof(uint32_t) + 2 * sizeof(uint16_t) + 3);
}

static struct columns columns_in(void *memory, uint64_t n)
{
    struct columns c;
    c.object = memory;
    c.distance = c.object + n;
    c.place = c.distance + n;
    c.thread = (uint16_t *)(c.place + n);
    c.argument = c.thread + n;
    c.op = (uint8_t *)(c.argument + n);
    c.reason = c.op + n;
    c.link = c.reason + n;
    return c;
}

static void fill(struct columns *c, uint64_t i, const struct pct_event *event, uint32_t place)
{
    c->object[i] = PCT_RECORD_OBJECT(event->record);
    c->place[i] = place;
    c->thread[i] = (uint16_t)event->thread;
    c->argument[i] = (uint16_t)PCT_RECORD_ARG(event->record);
    c->op[i] = (uint8_t)PCT_RECORD_OP(event->record);
    c->reason[i] = (uint8_t)event->reason;
    if (event->link && event->step - event->from <= UINT32_MAX) {
        c->link[i] = (uint8_t)event->link;
        c->distance[i] = (uint32_t)(event->step - event->from);
    }
}

/* gzip, then base64, on the way to out. */
static int print_packed(FILE *out, const unsigned char *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    z_stream z = { 0 };
    unsigned char buffer[3 << 14];
    size_t have = 0;
    int status;
    if (deflateInit2(&z, 6, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return -ENOMEM;
    do {
        if (!z.avail_in && size) {
            z.next_in = (unsigned char *)(uintptr_t)data;
            z.avail_in = size < 1u << 30 ? (uInt)size : 1u << 30;
            data += z.avail_in;
            size -= z.avail_in;
        }
        z.next_out = buffer + have;
        z.avail_out = (uInt)(sizeof buffer - have);
        status = deflate(&z, size || z.avail_in ? Z_NO_FLUSH : Z_FINISH);
        have = sizeof buffer - z.avail_out;
        /* Whole groups of three, but for the end. */
        size_t whole = status == Z_STREAM_END ? have : have - have % 3;
        for (size_t i = 0; i < whole; i += 3) {
            size_t left = whole - i;
            unsigned group = (unsigned)buffer[i] << 16 | (left > 1 ? (unsigned)buffer[i + 1] << 8 : 0) |
                             (left > 2 ? buffer[i + 2] : 0u);
            fputc(digits[group >> 18], out);
            fputc(digits[group >> 12 & 63], out);
            fputc(left > 1 ? digits[group >> 6 & 63] : '=', out);
            fputc(left > 2 ? digits[group & 63] : '=', out);
        }
        memmove(buffer, buffer + whole, have - whole);
        have -= whole;
    } while (status == Z_OK);
    deflateEnd(&z);
    return status == Z_STREAM_END ? 0 : -ENOMEM;
}

/* The lines around this one, into the sources of the page: { FILE: { path: ..., lines: { NUMBER: TEXT } } }. */
static void add_source(struct json_object *sources, const char *file, int line)
{
    struct json_object *entry, *lines;
    struct stat status;
    char path[PATH_MAX], text[SOURCE_LINE_MAX + 2], number[16];
    snprintf(number, sizeof number, "%d", line);
    if (json_object_object_get_ex(sources, file, &entry)) {
        json_object_object_get_ex(entry, "lines", &lines);
        struct json_object *whole;
        /* The margins of a line that is there may end beside it, so only the whole of one counts. */
        if (json_object_object_get_ex(entry, "done", &whole) && json_object_object_get_ex(whole, number, NULL))
            return;
    } else if (json_object_object_length(sources) >= SOURCE_FILES_MAX || !realpath(file, path) || stat(path, &status) ||
               !S_ISREG(status.st_mode)) {
        return;
    } else {
        entry = json_object_new_object();
        lines = json_object_new_object();
        json_object_object_add(entry, "path", pct_json_text(path, sizeof path));
        json_object_object_add(entry, "lines", lines);
        json_object_object_add(entry, "done", json_object_new_object());
        json_object_object_add(sources, file, entry);
    }
    FILE *in = fopen(file, "re");
    for (int at = 1; in && at <= line + SOURCE_MARGIN && fgets(text, sizeof text, in); at++) {
        size_t length = strlen(text);
        bool cut = length && text[length - 1] != '\n';
        for (int c = 0; cut && c != '\n' && c != EOF;)
            c = fgetc(in);
        text[strcspn(text, "\r\n")] = 0;
        char key[16];
        snprintf(key, sizeof key, "%d", at);
        if (at >= line - SOURCE_MARGIN)
            json_object_object_add(lines, key, pct_json_text(text, sizeof text));
    }
    if (in)
        fclose(in);
    struct json_object *done;
    if (json_object_object_get_ex(entry, "done", &done))
        json_object_object_add(done, number, json_object_new_boolean(true));
}

static void add_places(struct json_object *page, struct json_object *sources, const struct pct_step_places *places)
{
    struct json_object *list = json_object_new_array();
    for (uint32_t i = 1; i <= pct_step_places_count(places); i++) {
        const struct pct_frame *frame = pct_step_places_get(places, i);
        json_object_array_add(list, pct_json_frame(frame));
        if (frame->file[0])
            add_source(sources, frame->file, frame->line);
    }
    json_object_object_add(page, "places", list);
}

/* Of the stacks at the end the page shows the source of the innermost frame that has one. */
static void add_end_sources(struct json_object *sources, struct json_object *threads)
{
    for (size_t i = 0; i < json_object_array_length(threads); i++) {
        struct json_object *stack, *file, *line;
        json_object_object_get_ex(json_object_array_get_idx(threads, i), "stack", &stack);
        for (size_t k = 0; k < json_object_array_length(stack); k++) {
            struct json_object *frame = json_object_array_get_idx(stack, k);
            if (!json_object_object_get_ex(frame, "file", &file) || !json_object_object_get_ex(frame, "line", &line))
                continue;
            add_source(sources, json_object_get_string(file), json_object_get_int(line));
            break;
        }
    }
}

/* The names of the objects that are variables: { "CLASS:NUMBER": NAME }. */
static void add_object(struct json_object *names, const struct pct_step_places *places, const struct pct_event *event)
{
    char key[32], name[200];
    unsigned class_ = pct_name_op_class(PCT_RECORD_OP(event->record));
    if (!class_ || class_ == PCT_CLASS_THREAD || class_ == PCT_CLASS_FD)
        return;
    snprintf(key, sizeof key, "%u:%u", class_, PCT_RECORD_OBJECT(event->record));
    if (json_object_object_get_ex(names, key, NULL))
        return;
    if (class_ == PCT_CLASS_POINT ? pct_step_places_point(places, PCT_RECORD_OBJECT(event->record), name, sizeof name)
                                  : pct_step_places_object(places, event->index, name, sizeof name))
        json_object_object_add(names, key, pct_json_text(name, sizeof name));
}

/* The script of the run: its name, its lines ({ NUMBER: TEXT }), and in their order the number of each,
 * and how many steps the run had made by then. */
static void add_script(struct json_object *page, const struct pct_snapshot *snapshot)
{
    struct json_object *script = json_object_new_object(), *lines = json_object_new_object(),
                       *notes = json_object_new_array();
    for (size_t i = 0; i < snapshot->script_note_count; i++) {
        const struct pct_snap_script_note *note = &snapshot->script_notes[i];
        struct json_object *pair = json_object_new_array();
        json_object_array_add(pair, json_object_new_int64(note->line));
        json_object_array_add(pair, json_object_new_int64((int64_t)note->step));
        json_object_array_add(notes, pair);
    }
    uint32_t line = 1;
    for (const char *at = snapshot->script_text; *at; line++) {
        char key[16];
        size_t length = strcspn(at, "\n"), indent = strspn(at, " \t");
        snprintf(key, sizeof key, "%u", line);
        if (indent < length)
            json_object_object_add(lines, key, pct_json_text(at + indent, length - indent));
        at += length + (at[length] == '\n');
    }
    json_object_object_add(script, "name", pct_json_text(snapshot->script_name, strlen(snapshot->script_name)));
    json_object_object_add(script, "lines", lines);
    json_object_object_add(script, "notes", notes);
    json_object_object_add(page, "script", script);
}

/* Of the page's first process: the numbers of all that are to be chosen from. */
static void add_processes(struct json_object *page, const struct pct_trace_export *x)
{
    struct json_object *all = json_object_new_array();
    for (; x; x = x->next)
        json_object_array_add(all, json_object_new_int64(x->process));
    json_object_object_add(page, "processes", all);
}

/* A process's two elements; first: of the page. */
static int print_data(FILE *out, const struct pct_trace_export *x, bool first)
{
    uint64_t n = x->to - x->from;
    void *memory = calloc(1, columns_size(n) + 1);
    struct pct_events *events = pct_events_open(x->trace, x->snapshot);
    struct pct_step_places *places = pct_step_places_open(x->snapshot);
    struct pct_event event;
    int failed = memory && events && places ? 0 : -ENOMEM;
    if (!failed) {
        struct columns columns = columns_in(memory, n);
        struct json_object *page = pct_json_run(x), *names = json_object_new_object(),
                           *sources = json_object_new_object(), *threads = pct_json_threads(x);
        pct_json_exact(page);
        while (pct_events_next(events, &event) && event.index < x->to) {
            if (event.index < x->from)
                continue;
            fill(&columns, event.index - x->from, &event, pct_step_places_of(places, event.index, event.record));
            if (x->snapshot->site_count)
                add_object(names, places, &event);
        }
        pct_json_add_names(page);
        add_places(page, sources, places);
        add_end_sources(sources, threads);
        json_object_object_add(page, "objects", names);
        json_object_object_add(page, "end", threads);
        json_object_object_add(page, "sources", sources);
        if (x->snapshot->script_text)
            add_script(page, x->snapshot);
        char of[16] = "";
        if (first)
            add_processes(page, x);
        else
            snprintf(of, sizeof of, "-%u", x->process);
        fprintf(out, "<script type=\"application/json\" id=\"run%s\">", of);
        pct_json_print_line(out, page);
        fprintf(out, "</script>\n<script type=\"application/octet-stream\" id=\"columns%s\">", of);
        failed = print_packed(out, memory, columns_size(n));
        fputs("</script>\n", out);
    }
    pct_step_places_close(places);
    pct_events_close(events);
    free(memory);
    return failed;
}

int pct_trace_export_html(const struct pct_trace_export *x)
{
    int failed = 0;
    fputs(pct_timeline_head, x->out);
    for (const struct pct_trace_export *at = x; at && !failed; at = at->next)
        failed = print_data(x->out, at, at == x);
    fputs(pct_timeline_tail, x->out);
    return failed;
}
