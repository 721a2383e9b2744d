/* `pct trace`: a recorded trace in other formats. */
#include <cli/base/cli.h>
#include <cli/base/replacement.h>
#include "parse.h"
#include <cli/trace/trace_export.h>
#include <cli/trace/schedule.h>
#include <cli/process/settings.h>
#include <argp.h>
#include <common/script.h>
#include <common/text.h>
#include <errno.h>
#include <pct/strategy.h>
#include <string.h>

/* A page with more steps than this takes a browser long to load; the last ones are where runs fail. */
#define PAGE_STEPS UINT64_C(2000000)

static const struct format {
    const char *name;
    const char *suffix; /* of files that are to have this format */
    int (*export)(const struct pct_trace_export *x);
} formats[] = {
    { "text", ".txt", pct_trace_export_text },      { "jsonl", ".jsonl", pct_trace_export_jsonl },
    { "chrome", ".json", pct_trace_export_chrome }, { "dot", ".dot", pct_trace_export_dot },
    { "html", ".html", pct_trace_export_html },     { "schedule", ".schedule", pct_trace_export_schedule },
};

enum { FORMATS = sizeof formats / sizeof *formats, KEY_FROM = 3000, KEY_TO, KEY_LAST, KEY_THEN, KEY_PROCESS };

static const struct argp_option options[] = {
    { "format", 'f', "FORMAT", 0,
      "text, jsonl, chrome, dot, html or schedule (default: by the name of the output, else text)", 1 },
    { "output", 'o', "FILE", 0, "write to FILE (default: standard output)", 1 },
    { "from", KEY_FROM, "STEP", 0, "begin with this step (default: the first)", 2 },
    { "to", KEY_TO, "STEP", 0, "end with this step (default: the last); of dot, the state after it", 2 },
    { "last", KEY_LAST, "N", 0, "only the last N steps, or the last N before --to", 2 },
    { "process", KEY_PROCESS, "N", 0,
      "of a script for several processes: this one alone, 0: the first (default: of text and html all, unless steps "
      "are "
      "chosen; else the first)",
      2 },
    { "then", KEY_THEN, "THREAD", 0, "of schedule: the thread that goes on behind the last step", 2 },
    { 0 },
};

struct arguments {
    const char *file, *format, *output;
    const char *from, *to, *last, *then, *process;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *w = state->input;
    const struct pct_setting settings[] = {
        { 'f', .text = &w->format },
        { 'o', .text = &w->output },
        { KEY_FROM, .text = &w->from },
        { KEY_TO, .text = &w->to },
        { KEY_LAST, .text = &w->last },
        { KEY_PROCESS, .text = &w->process },
        { KEY_THEN, .text = &w->then },
        { ARGP_KEY_ARG, .text = &w->file, .once = "one trace at a time" },
        { ARGP_KEY_END, .text = &w->file, .missing = "no trace is given; `pct run -t FILE -- COMMAND` records one" },
        { 0 },
    };
    return pct_settings_take(settings, options, key, argument, state) ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "TRACEFILE",
    .doc =
        "Write a recorded run as text, JSON lines, a trace for the Perfetto viewer (chrome), a graph of who waits for "
        "what (dot), a timeline for the browser (html), or a schedule that `pct replay` follows.\v"
        "Source lines of steps are there if the run was recorded with --sites:\n"
        "  pct replay --sites -t run.pct TOKEN -- COMMAND\n  pct trace run.pct -o run.html",
};

static const struct format *choose_format(const struct arguments *w)
{
    const char *names[FORMATS], *suffix = w->output ? strrchr(w->output, '.') : NULL;
    for (size_t i = 0; i < FORMATS; i++) {
        names[i] = formats[i].name;
        if (w->format ? !strcmp(w->format, formats[i].name) : suffix && !strcmp(suffix, formats[i].suffix))
            return &formats[i];
    }
    if (!w->format)
        return &formats[0];
    const char *closest = pct_text_closest(w->format, names, FORMATS);
    if (closest)
        pct_cli_say("--format: unknown format '%s'; did you mean %s?", w->format, closest);
    else
        pct_cli_say("--format: '%s' is none of text, jsonl, chrome, dot, html and schedule", w->format);
    return NULL;
}

/* The window that was asked for. Returns 0, or an exit status after a message. */
static int choose_window(struct pct_trace_export *x, const struct arguments *w, const struct format *format)
{
    const struct pct_trace *trace = x->trace;
    uint64_t first = trace->first + 1, end = trace->first + trace->count, from = first, to = end, last = 0;
    char error[256];
    if ((w->from && pct_config_parse_u64(&from, w->from, 1, UINT64_MAX, "--from", error, sizeof error)) ||
        (w->to && pct_config_parse_u64(&to, w->to, 1, UINT64_MAX, "--to", error, sizeof error)) ||
        (w->last && pct_config_parse_u64(&last, w->last, 1, UINT64_MAX, "--last", error, sizeof error)))
        return pct_cli_usage("%s", error);
    uint64_t then = PCT_NO_THREAD;
    if (w->then && pct_config_parse_u64(&then, w->then, 0, PCT_MAX_THREADS - 1, "--then", error, sizeof error))
        return pct_cli_usage("%s", error);
    if (format->export == pct_trace_export_schedule && (w->from || w->last))
        return pct_cli_usage("--format=schedule begins with the first step: leave out --from and --last");
    if (format->export != pct_trace_export_schedule && w->then)
        return pct_cli_usage("--then needs --format=schedule");
    x->then = (uint32_t)then;
    if (!trace->count)
        return 0;
    if (from > end || to < first || from > to)
        return pct_cli_usage("steps %llu to %llu: the trace has the steps %llu to %llu", (unsigned long long)from,
                             (unsigned long long)to, (unsigned long long)first, (unsigned long long)end);
    if (from < first)
        from = first;
    if (to > end)
        to = end;
    if (last && last < to - from + 1)
        from = to + 1 - last;
    if (format->export == pct_trace_export_html && to - from >= PAGE_STEPS && !w->from && !last) {
        from = to + 1 - PAGE_STEPS;
        pct_cli_say("the page shows the last %llu of %llu steps; --from, --to and --last choose others",
                    (unsigned long long)PAGE_STEPS, (unsigned long long)trace->count);
    }
    x->from = from - first;
    x->to = to - first + 1;
    return 0;
}

static int write_out(struct pct_trace_export *x, const struct arguments *w, const struct format *format)
{
    struct pct_replacement file = { .out = stdout };
    int failed = w->output ? pct_replacement_open(&file, w->output) : 0;
    if (failed)
        return pct_cli_usage("%s: %s", w->output, strerror(-failed));
    x->out = file.out;
    failed = format->export(x);
    if (!failed && (fflush(x->out) || ferror(x->out)))
        failed = errno ? -errno : -EIO;
    if (w->output && failed)
        pct_replacement_drop(&file);
    else if (w->output)
        failed = pct_replacement_close(&file);
    if (failed)
        pct_cli_say("%s: %s", w->output ? w->output : "standard output", strerror(-failed));
    return failed ? PCT_EXIT_INTERNAL : 0;
}

/* A process of the run. */
struct one {
    struct pct_trace trace;
    struct pct_snapshot snapshot;
    struct pct_trace_export x;
    uint32_t number;
};

/* Returns 0, or an exit status after a message. */
static int prepare(struct one *one, const struct arguments *w, const struct format *format)
{
    const struct pct_trace *trace = &one->trace;
    one->x = (struct pct_trace_export){
        .trace = trace, .snapshot = &one->snapshot, .process = one->number, .then = PCT_NO_THREAD
    };
    int status = choose_window(&one->x, w, format);
    if (status)
        return status;
    if (pct_snapshot_read(&one->snapshot, trace)) {
        pct_cli_say("out of memory");
        return PCT_EXIT_INTERNAL;
    }
    pct_schedule_fill_holders(&one->snapshot, trace);
    char of[32] = "";
    if (one->number)
        snprintf(of, sizeof of, "process %u: ", one->number);
    if (trace->header.verdict == PCT_VERDICT_RUNNING)
        pct_cli_say(
            "%sthe target was killed, or ended in a way that pct does not see: its %llu recorded steps are there", of,
            (unsigned long long)trace->count);
    else if (!trace->complete)
        pct_cli_say("%sonly %llu of %llu steps are in this trace", of, (unsigned long long)trace->count,
                    (unsigned long long)trace->header.steps);
    if (trace->note[0])
        pct_cli_say("%s%s", of, trace->note);
    return 0;
}

/* Say of which processes there are no steps. only: but for this one. Returns whether that is so of any. */
static bool say_missing(const struct pct_trace *trace, bool only, uint64_t wanted)
{
    size_t at = 0;
    uint32_t number;
    bool missing = false;
    while (pct_trace_next_missing(trace, &at, &number)) {
        if (only && number != wanted)
            continue;
        pct_cli_say("process %u was killed, or went on: its steps are not kept", number);
        missing = true;
    }
    return missing;
}

/* Those that are to be written, in one list from here on. Returns as prepare(). */
static int write_all(struct one *all, unsigned count, const struct arguments *w, const struct format *format)
{
    uint64_t number = 0;
    char error[256];
    bool several = format->export == pct_trace_export_text || format->export == pct_trace_export_html;
    struct one *first = NULL, *last = NULL;
    if (w->process && pct_config_parse_u64(&number, w->process, 0, UINT32_MAX, "--process", error, sizeof error))
        return pct_cli_usage("%s", error);
    several = several && !w->process && !w->from && !w->to && !w->last;
    int status = 0;
    for (unsigned i = 0; !status && i < count; i++) {
        if (!several && all[i].number != number)
            continue;
        status = prepare(&all[i], w, format);
        if (last)
            last->x.next = &all[i].x;
        last = &all[i];
        first = first ? first : last;
    }
    bool missing = say_missing(&all[0].trace, w->process, number);
    if (!first)
        return missing ? PCT_EXIT_USAGE : pct_cli_usage("%s has no process %llu", w->file, (unsigned long long)number);
    if (!status)
        status = write_out(&first->x, w, format);
    return status;
}

int pct_cmd_trace(int argc, char **argv)
{
    static struct one all[1 + PCT_SCRIPT_PROCESSES];
    struct arguments arguments = { 0 };
    char error[512];
    size_t at = 0;
    unsigned count = 1;
    pct_parse(&argp, argc, argv, PCT_PARSE_ALL, &arguments);
    const struct format *format = choose_format(&arguments);
    if (!format)
        return PCT_EXIT_USAGE;
    if (pct_trace_open(&all[0].trace, arguments.file, error, sizeof error) != PCT_TRACE_GOOD)
        return pct_cli_usage("%s: %s", arguments.file, error);
    while (count <= PCT_SCRIPT_PROCESSES &&
           pct_trace_next_process(&all[0].trace, &at, &all[count].number, &all[count].trace))
        count++;
    int status = write_all(all, count, &arguments, format);
    while (count--) {
        pct_snapshot_free(&all[count].snapshot);
        pct_trace_close(&all[count].trace);
    }
    return status;
}
