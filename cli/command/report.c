/* `pct report`: what a recorded trace says, without running anything. */
#include <cli/base/cli.h>
#include "parse.h"
#include <cli/trace/report.h>
#include <cli/trace/schedule.h>
#include <cli/process/settings.h>
#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_EVENTS = 3000, KEY_OPS, KEY_LAST };

static const struct argp_option options[] = {
    { "events", KEY_EVENTS, NULL, 0, "print the schedule only: all steps, one column per thread", 0 },
    { "last", KEY_LAST, "N", 0,
      "print only the last N steps, in a report lines of them (default: 20; all with --events)", 0 },
    { "ops", KEY_OPS, NULL, 0, "print which operations occur, one a line", 0 },
    { 0 },
};

struct arguments {
    const char *file;
    const char *last;
    bool events, ops;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *w = state->input;
    const struct pct_setting settings[] = {
        { KEY_EVENTS, .on = &w->events },
        { KEY_OPS, .on = &w->ops },
        { KEY_LAST, .text = &w->last },
        { ARGP_KEY_ARG, .text = &w->file, .once = "one trace at a time" },
        { ARGP_KEY_END, .text = &w->file, .missing = "no trace is given" },
        { 0 },
    };
    return pct_settings_take(settings, options, key, argument, state) ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "TRACEFILE",
    .doc = "Print the report of a recorded run: the verdict, who waits for whom, all stacks, the last steps.\v"
           "Stacks are unwound with the program and libraries that the trace names, as they are now.",
};

static void print_head(const struct pct_trace *trace)
{
    const struct pct_trace_header *header = &trace->header;
    fputs("command: ", stdout);
    pct_cli_print_clean(stdout, header->command, sizeof header->command);
    fputs("\ntoken: ", stdout);
    pct_cli_print_clean(stdout, header->token, sizeof header->token);
    fputc('\n', stdout);
}

/* The command that repeats the run; the shim stored the target's arguments as a shell reads them. What a script has
 * chosen is in the trace alone. */
static void print_replay(const struct pct_trace *trace, const char *file)
{
    const struct pct_trace_header *header = &trace->header;
    char *orders = NULL;
    if (pct_report_several(stdout, trace, &orders))
        return;
    free(orders);
    fputs("this replays it:\n", stdout);
    pct_cli_print_quoted(stdout, pct_cli_program);
    fputs(" replay ", stdout);
    if (!strcmp(header->strategy, "script")) {
        pct_cli_print_quoted(stdout, file);
    } else {
        fputc('\'', stdout);
        pct_cli_print_clean(stdout, header->token, sizeof header->token);
        fputc('\'', stdout);
    }
    fputs(" -- ", stdout);
    pct_cli_print_clean(stdout, header->command, sizeof header->command);
    fputc('\n', stdout);
}

int pct_cmd_report(int argc, char **argv)
{
    struct arguments arguments = { 0 };
    char error[512];
    pct_parse(&argp, argc, argv, PCT_PARSE_ALL, &arguments);
    uint64_t last = arguments.events ? 0 : PCT_REPORT_LINES;
    if (arguments.last && pct_config_parse_u64(&last, arguments.last, 0, UINT64_MAX, "--last", error, sizeof error))
        return pct_cli_usage("%s", error);
    static struct pct_trace trace;
    if (pct_trace_open(&trace, arguments.file, error, sizeof error) != PCT_TRACE_GOOD)
        return pct_cli_usage("%s: %s", arguments.file, error);
    if (arguments.ops)
        pct_report_print_ops(stdout, &trace);
    else if (arguments.events) {
        struct pct_snapshot snapshot;
        if (!pct_snapshot_read(&snapshot, &trace)) {
            uint64_t from = last && last < trace.count ? trace.count - last : 0;
            pct_schedule_print(stdout, &trace, &snapshot, from, trace.count);
            pct_snapshot_free(&snapshot);
        }
    } else {
        print_head(&trace);
        pct_report_print(stdout, &trace, NULL, last);
        print_replay(&trace, arguments.file);
    }
    pct_trace_close(&trace);
    return 0;
}
