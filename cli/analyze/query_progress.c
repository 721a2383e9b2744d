/* How far minimize and explain are: see query_run.h. */
#include "query_run.h"
#include <cli/base/cli.h>
#include <cli/base/status_line.h>

/* Who gives this many seconds does not wait for them. */
#define NO_LIMIT 100000

void pct_query_runs_draw_progress(struct pct_query_runs *runs)
{
    struct pct_query_progress *p = &runs->progress;
    bool terminal = pct_status_line_obeys();
    if (p->quiet || !p->what || !pct_status_line_is_due(terminal, runs->begun, &p->drawn))
        return;
    char line[512] = "", left[64];
    FILE *out = fmemopen(line, sizeof line, "w");
    if (!out)
        return;
    double all = pct_cli_now() - runs->begun, step = pct_cli_now() - p->begun;
    double rate = all > 0 ? (double)runs->made / all : 0;
    fprintf(out, "%s: %llu runs, %.*f/s", p->what, (unsigned long long)runs->made, rate < 10, rate);
    if (p->known)
        fprintf(out, ", %llu preemption%s left", (unsigned long long)p->preemptions, p->preemptions == 1 ? "" : "s");
    /* One time for all of it: the search ends when that is over, or before. */
    double most = pct_query_runs_left(runs), rest = p->answers ? step * (double)p->left / (double)p->answers : 0;
    if (p->left && p->answers && rest < most)
        fprintf(out, ", at most %s for this step", pct_cli_format_duration(left, sizeof left, rest));
    else if (runs->seconds < NO_LIMIT)
        fprintf(out, ", at most %s left", pct_cli_format_duration(left, sizeof left, most));
    fclose(out);
    line[sizeof line - 1] = 0;
    pct_status_line_put(terminal, line);
}
