/* The schedule up to a step, as the text file that `pct replay` follows and people edit (docs/MINIMIZE.md): see
 * trace_export.h. What comes behind it runs in the default order of the strategy `schedule`. */
#include <cli/base/cli.h>
#include <cli/base/list.h>
#include "schedule_file.h"
#include "switches.h"
#include "trace_export.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Behind the last recorded step, this thread goes on. */
static void append(struct pct_switches *switches, const struct pct_trace *trace, uint32_t thread)
{
    uint32_t *number = pct_switches_number(trace);
    uint64_t last = trace->count;
    while (number && last && !number[last - 1])
        last--;
    if (number && last)
        switches->item[switches->count++] = (struct pct_switch){ .thread = PCT_RECORD_THREAD(trace->records[last - 1]),
                                                                 .made = number[last - 1],
                                                                 .value = thread,
                                                                 .step = last - 1 };
    free(number);
}

static int print(const struct pct_trace_export *x, const char *list)
{
    char token[PCT_TOKEN_MAX], error[256];
    struct pct_config config = { 0 };
    if (pct_config_parse_token(&config, x->trace->header.token, pct_cli_find_strategy, error, sizeof error)) {
        pct_cli_say("the token of the trace: %s", error);
        return -EINVAL;
    }
    /* The same points, or its switches would lie elsewhere. */
    struct pct_config schedule = config;
    schedule.run = (struct pct_run){ .seed = config.run.seed };
    pct_switches_prepare(&schedule);
    const struct pct_strategy *strategy = pct_cli_find_strategy(schedule.strategy, error, sizeof error);
    pct_list_take(&schedule, strategy, list);
    pct_config_format_token(token, sizeof token, &schedule, strategy);
    char *whole = pct_long_token_of(token, list);
    if (!whole)
        return -E2BIG;
    fprintf(x->out,
            "%s: `pct replay` follows it, and the lines `switch` may be edited.\n# command: ", PCT_SCHEDULE_FILE_MAGIC);
    pct_cli_print_clean(x->out, x->trace->header.command, sizeof x->trace->header.command);
    fprintf(x->out, "\ntoken %s\n# switch T.N.U: when thread T has made N operations of its own, thread U goes on\n",
            whole);
    free(whole);
    for (const char *at = list; *at; at += *at == '-') {
        size_t length = strcspn(at, "-");
        fprintf(x->out, "switch %.*s\n", (int)length, at);
        at += length;
    }
    return 0;
}

int pct_trace_export_schedule(const struct pct_trace_export *x)
{
    struct pct_trace begin = *x->trace;
    struct pct_switches switches;
    begin.count = x->to;
    if (begin.first) {
        pct_cli_say("only the last steps are in this trace: its schedule is not known");
        return -EINVAL;
    }
    int failed = pct_switches_from_trace(&switches, &begin);
    if (failed)
        return failed;
    if (x->then != PCT_NO_THREAD)
        append(&switches, &begin, x->then);
    char *list = pct_switches_format(&switches, NULL);
    failed = list ? print(x, list) : -ENOMEM;
    if (failed == -E2BIG)
        pct_cli_say("it has more switches than a token has room for; `pct minimize` makes it smaller");
    free(list);
    pct_switches_free(&switches);
    return failed;
}
