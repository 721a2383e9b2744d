/* The lines of a script beside the steps that they took: see lines.h. */
#include "lines.h"
#include "script.h"
#include <cli/base/cli.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 40, HEAD = 30, TEXT = 80, THREADS = 8 };

/* A line, from when the one before it was done until it was: several times in a row, if a loop comes back to it. */
struct row {
    uint32_t line;
    uint64_t times, from, to;  /* steps; none where from > to */
    uint32_t threads[THREADS]; /* that it was about */
    unsigned thread_count;     /* more than THREADS: not all of them stand there */
};

static void add_thread(struct row *row, uint32_t thread)
{
    for (unsigned i = 0; i < row->thread_count && i < THREADS; i++)
        if (row->threads[i] == thread)
            return;
    if (row->thread_count < THREADS)
        row->threads[row->thread_count] = thread;
    row->thread_count++;
}

/* The row that begins with note i; the number of the note behind it. */
static uint32_t take(const struct pct_script_note *note, uint32_t notes, uint32_t i, struct row *row)
{
    *row = (struct row){ .line = note[i].line, .from = i ? note[i - 1].step + 1 : 1 };
    for (; i < notes && note[i].line == row->line; i++) {
        row->times++;
        row->to = note[i].step;
        if (note[i].thread)
            add_thread(row, note[i].thread - 1);
    }
    return i;
}

/* The text of this line, without what stands before and behind it. */
static void print_text(FILE *out, const char *script, uint32_t line)
{
    char text[TEXT + 1];
    for (uint32_t i = 1; i < line && script; i++)
        script = (script = strchr(script, '\n')) ? script + 1 : NULL;
    if (!script)
        return;
    script += strspn(script, " \t");
    size_t length = strcspn(script, "\n");
    length = length < TEXT ? length : TEXT;
    memcpy(text, script, length);
    while (length && (text[length - 1] == ' ' || text[length - 1] == '\r'))
        length--;
    text[length] = 0;
    pct_cli_print_clean(out, text, sizeof text);
}

static void print_row(FILE *out, const struct row *row, const char *script)
{
    char steps[48] = "", threads[96] = "";
    if (row->from < row->to)
        snprintf(steps, sizeof steps, "%llu-%llu", (unsigned long long)row->from, (unsigned long long)row->to);
    else if (row->from == row->to)
        snprintf(steps, sizeof steps, "%llu", (unsigned long long)row->to);
    for (unsigned i = 0, at = 0; i < row->thread_count && i < THREADS; i++)
        at += (unsigned)snprintf(threads + at, sizeof threads - at, "%s%u", i ? "," : "", row->threads[i]);
    if (row->thread_count > THREADS)
        strcpy(threads, "many");
    fprintf(out, "%10u  %-11s  %-7s  ", row->line, steps, threads);
    print_text(out, script, row->line);
    if (row->times > 1)
        fprintf(out, "  (%llu times)", (unsigned long long)row->times);
    fputc('\n', out);
}

static void print_table(FILE *out, const struct pct_script_note *note, uint32_t notes, const char *script)
{
    struct row row;
    uint32_t rows = 0, at = 0, number = 0;
    for (uint32_t i = 0; i < notes; rows++)
        i = take(note, notes, i, &row);
    if (!rows)
        return;
    fputs("      line  steps        threads\n", out);
    for (; at < notes; number++) {
        at = take(note, notes, at, &row);
        if (rows <= ROWS || number < HEAD || number >= rows - (ROWS - HEAD))
            print_row(out, &row, script);
        else if (number == HEAD)
            fprintf(out, "       ...  (%u more)\n", rows - ROWS);
    }
}

/* The notes of this program of a process that is not the first, which are written to `out`; how many. */
static uint32_t select_notes(struct pct_script_channel *channel, uint32_t process, uint32_t image,
                             struct pct_script_note *out)
{
    const struct pct_script_other_note *other = pct_script_other_notes(channel);
    uint32_t count = 0;
    for (uint32_t i = 0; i < channel->other_notes && i < PCT_SCRIPT_NOTES; i++)
        if (other[i].process == process && other[i].image == image)
            out[count++] = other[i].note;
    return count;
}

/* Of all its programs. Those that it was before it became another one have steps of their own. */
static void print_process(FILE *out, struct pct_script_channel *channel, uint32_t process, const char *script)
{
    struct pct_script_note *note = calloc(PCT_SCRIPT_NOTES, sizeof *note);
    for (uint32_t image = 1; note && image <= UINT8_MAX; image++) {
        uint32_t count = select_notes(channel, process, image, note);
        if (!count)
            continue;
        fprintf(out, "process %u%s:\n", process, image > 1 ? ", as another program" : "");
        print_table(out, note, count, script);
    }
    free(note);
}

void pct_script_print_lines(FILE *out, struct pct_script_channel *channel, const char *script)
{
    print_table(out, pct_script_notes(channel), channel->notes, script);
    for (uint32_t i = 1; channel->other_notes && i <= channel->processes && i <= PCT_SCRIPT_PROCESSES; i++)
        print_process(out, channel, i, script);
    if (channel->notes == PCT_SCRIPT_NOTES || channel->other_notes > PCT_SCRIPT_NOTES)
        fputs("       ...  (there was no room for more)\n", out);
}

_Static_assert(sizeof(struct pct_script_note) == sizeof(struct pct_snap_script_note), "a trace has them as they are");

/* Write a section with what the script waited for in one process. */
static void write_script(FILE *out, struct pct_script_channel *channel, const struct pct_script_note *note,
                         uint32_t notes, const char *orders)
{
    static const char padding[8];
    const char *name = pct_script_texts(channel) + channel->name, *text = pct_script_texts(channel) + channel->script;
    struct pct_snap_script head = { .notes = notes,
                                    .parts = channel->parts,
                                    .name_size = (uint32_t)strlen(name) + 1,
                                    .text_size = (uint32_t)strlen(text) + 1 };
    size_t orders_size = orders ? strlen(orders) + 1 : 0, notes_size = notes * sizeof *note;
    struct pct_snap_section section = { .type = PCT_SNAP_SCRIPT,
                                        .size =
                                            sizeof head + notes_size + head.name_size + head.text_size + orders_size };
    fwrite(&section, sizeof section, 1, out);
    fwrite(&head, sizeof head, 1, out);
    fwrite(note, sizeof *note, notes, out);
    fwrite(name, head.name_size, 1, out);
    fwrite(text, head.text_size, 1, out);
    fwrite(orders ? orders : "", orders_size, 1, out);
    fwrite(padding, -section.size & 7, 1, out);
}

/* A process that the script has lines for has left no trace: an empty section. */
static void write_missing(FILE *out, uint32_t process)
{
    struct pct_snap_section section = { .type = PCT_SNAP_PROCESS, .thread = process };
    fwrite(&section, sizeof section, 1, out);
}

bool pct_script_is_traceless(const struct pct_script_process *process)
{
    return process->said.outcome != PCT_SCRIPT_NEVER && !process->pid;
}

/* Write a section with the trace that this process left beside that of the first, if it did. Returns whether it did. */
static bool write_process(FILE *out, struct pct_script_channel *channel, uint32_t process, const char *trace_path,
                          const char *orders)
{
    const struct pct_script_process *p = &channel->process[process - 1];
    struct pct_script_note *note = calloc(PCT_SCRIPT_NOTES, sizeof *note);
    struct pct_trace trace;
    char path[PATH_MAX + 16], error[256], *own = NULL, *whole = NULL;
    size_t own_size, size;
    snprintf(path, sizeof path, "%s.%u", trace_path, p->pid);
    if (!p->pid || !note || pct_trace_open(&trace, path, error, sizeof error) != PCT_TRACE_GOOD) {
        free(note);
        if (pct_script_is_traceless(p))
            write_missing(out, process);
        return false;
    }
    FILE *snapshot = open_memstream(&own, &own_size), *file = open_memstream(&whole, &size);
    if (snapshot && trace.snapshot)
        fwrite(trace.snapshot, trace.snapshot_size, 1, snapshot);
    if (snapshot)
        write_script(snapshot, channel, note, select_notes(channel, process, p->image, note), orders);
    bool fine = snapshot && !fclose(snapshot) && file;
    if (fine) {
        trace.snapshot = (const unsigned char *)own;
        trace.snapshot_size = own_size;
        fine = !pct_trace_write(&trace, file);
    }
    fine = file && !fclose(file) && fine;
    struct pct_snap_section section = { .type = PCT_SNAP_PROCESS, .thread = process, .size = size };
    if (fine) {
        fwrite(&section, sizeof section, 1, out);
        fwrite(whole, size, 1, out); /* a multiple of 8 */
    }
    free(whole);
    free(own);
    free(note);
    pct_trace_close(&trace);
    return fine;
}

int pct_script_save_trace(const struct pct_trace *trace, struct pct_script_channel *channel, const char *trace_path,
                          const char *path, unsigned *others, char *error, size_t error_size)
{
    const char *why;
    char *orders = NULL, *memory = NULL;
    size_t size;
    struct pct_trace with = *trace;
    *others = 0;
    if (trace->header.verdict == PCT_VERDICT_RUNNING) /* its records end where its file does */
        return pct_trace_save(trace, path, error, error_size);
    FILE *out = open_memstream(&memory, &size);
    if (out && channel->parts)
        orders = pct_script_orders(channel, &why);
    if (out && trace->snapshot)
        fwrite(trace->snapshot, trace->snapshot_size, 1, out);
    if (out)
        write_script(out, channel, pct_script_notes(channel), channel->notes, orders);
    for (uint32_t i = 1; out && i <= channel->processes && i <= PCT_SCRIPT_PROCESSES; i++)
        *others += write_process(out, channel, i, trace_path, orders);
    bool fine = out && !fclose(out);
    with.snapshot = (const unsigned char *)memory;
    with.snapshot_size = size;
    int failed = fine ? pct_trace_save(&with, path, error, error_size) : -ENOMEM;
    if (!fine)
        snprintf(error, error_size, "%s", strerror(ENOMEM));
    free(orders);
    free(memory);
    return failed;
}
