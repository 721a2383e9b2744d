/* The trace as text, as the report prints it: see export.h. */
#include <cli/base/cli.h>
#include "trace_export.h"
#include "report.h"
#include "schedule.h"

int pct_trace_export_text(const struct pct_trace_export *x)
{
    const struct pct_trace_header *header = &x->trace->header;
    fputs("command: ", x->out);
    pct_cli_print_clean(x->out, header->command, sizeof header->command);
    fputs("\ntoken: ", x->out);
    pct_cli_print_clean(x->out, header->token, sizeof header->token);
    fputc('\n', x->out);
    struct pct_cli_narrow narrow;
    FILE *out = pct_cli_narrow_begin(&narrow, x->out);
    pct_report_print_verdict(out, x->trace);
    fputc('\n', out);
    pct_cli_narrow_end(&narrow);
    if (x->to > x->from)
        pct_schedule_print(x->out, x->trace, x->snapshot, x->from, x->to);
    return 0;
}
