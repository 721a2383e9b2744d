/* The trace as text, as the report prints it: see export.h. */
#include <cli/base/cli.h>
#include "trace_export.h"
#include "report.h"
#include "schedule.h"

static void print_process(FILE *out, const struct pct_trace_export *x)
{
    const struct pct_trace_header *header = &x->trace->header;
    if (x->process)
        fprintf(out, "process %u:\n", x->process);
    fputs("command: ", out);
    pct_cli_print_clean(out, header->command, sizeof header->command);
    fputs("\ntoken: ", out);
    pct_cli_print_clean(out, header->token, sizeof header->token);
    fputc('\n', out);
    struct pct_cli_narrow narrow;
    FILE *text = pct_cli_narrow_begin(&narrow, out);
    pct_report_print_verdict(text, x->trace);
    fputc('\n', text);
    pct_cli_narrow_end(&narrow);
    if (x->to > x->from)
        pct_schedule_print(out, x->trace, x->snapshot, x->from, x->to);
}

int pct_trace_export_text(const struct pct_trace_export *x)
{
    for (const struct pct_trace_export *at = x; at; at = at->next) {
        if (at != x)
            fputc('\n', x->out);
        print_process(x->out, at);
    }
    return 0;
}
