/* The lines of a script beside the steps that they took: see lines.h. */
#include "lines.h"
#include "script.h"
#include <cli/base/cli.h>
#include <errno.h>
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

void pct_script_print_lines(FILE *out, struct pct_script_channel *channel, const char *script)
{
    const struct pct_script_note *note = pct_script_notes(channel);
    struct row row;
    uint32_t rows = 0, at = 0, number = 0;
    for (uint32_t i = 0; i < channel->notes; rows++)
        i = take(note, channel->notes, i, &row);
    if (!rows)
        return;
    fputs("      line  steps        threads\n", out);
    for (; at < channel->notes; number++) {
        at = take(note, channel->notes, at, &row);
        if (rows <= ROWS || number < HEAD || number >= rows - (ROWS - HEAD))
            print_row(out, &row, script);
        else if (number == HEAD)
            fprintf(out, "       ...  (%u more)\n", rows - ROWS);
    }
    if (channel->notes == PCT_SCRIPT_NOTES)
        fputs("       ...  (there was no room for more)\n", out);
}

_Static_assert(sizeof(struct pct_script_note) == sizeof(struct pct_snap_script_note), "a trace has them as they are");

static void put(unsigned char **at, const void *from, size_t size)
{
    memcpy(*at, from, size);
    *at += size;
}

int pct_script_save_trace(const struct pct_trace *trace, struct pct_script_channel *channel, const char *path,
                          char *error, size_t error_size)
{
    const char *name = pct_script_texts(channel) + channel->name, *text = pct_script_texts(channel) + channel->script;
    struct pct_snap_script head = { .notes = channel->notes,
                                    .parts = channel->parts,
                                    .name_size = (uint32_t)strlen(name) + 1,
                                    .text_size = (uint32_t)strlen(text) + 1 };
    size_t notes_size = head.notes * sizeof(struct pct_script_note);
    const char *why;
    char *orders = head.parts ? pct_script_orders(channel, &why) : NULL;
    size_t orders_size = orders ? strlen(orders) + 1 : 0;
    struct pct_snap_section section = { .type = PCT_SNAP_SCRIPT,
                                        .size =
                                            sizeof head + notes_size + head.name_size + head.text_size + orders_size };
    struct pct_trace with = *trace;
    if (trace->header.verdict == PCT_VERDICT_RUNNING) { /* its records end where its file does */
        free(orders);
        return pct_trace_save(trace, path, error, error_size);
    }
    with.snapshot_size = (trace->snapshot ? trace->snapshot_size : 0) + sizeof section + ((section.size + 7) & ~7ull);
    unsigned char *memory = calloc(1, with.snapshot_size), *at = memory;
    if (!memory) {
        free(orders);
        snprintf(error, error_size, "%s", strerror(ENOMEM));
        return -ENOMEM;
    }
    if (trace->snapshot)
        put(&at, trace->snapshot, trace->snapshot_size);
    put(&at, &section, sizeof section);
    put(&at, &head, sizeof head);
    put(&at, pct_script_notes(channel), notes_size);
    put(&at, name, head.name_size);
    put(&at, text, head.text_size);
    put(&at, orders ? orders : "", orders_size);
    free(orders);
    with.snapshot = memory;
    int failed = pct_trace_save(&with, path, error, error_size);
    free(memory);
    return failed;
}
