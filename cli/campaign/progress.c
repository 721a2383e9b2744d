/* Progress: see progress.h. */
#include "progress.h"
#include "guarantee_report.h"
#include <cli/base/cli.h>
#include <cli/base/status_line.h>
#include "outcome.h"
#include <math.h>

enum { BAR = 10 };

static void add_guarantee(FILE *out, const struct pct_campaign *c)
{
    char reason[256], miss[32];
    if (pct_guarantee_report_doubt(c, reason, sizeof reason) || c->done < 2)
        return;
    /* Where it is drawn for each run (0), one depth of five: most bugs have it, or a smaller one. */
    uint32_t depth = c->config.run.param[c->depth] ? (uint32_t)c->config.run.param[c->depth] : 2;
    double log_miss = c->guarantee.threads == 1 ? -INFINITY : pct_guarantee_log_miss(&c->guarantee, depth);
    fprintf(out, "; depth %u missed: p<=%s", depth, pct_guarantee_report_format_miss(miss, sizeof miss, log_miss));
}

void pct_progress_draw(const struct pct_campaign *c, double begun, size_t findings, double *drawn)
{
    bool terminal = pct_status_line_obeys();
    double seconds = pct_cli_now() - begun;
    if (!pct_status_line_is_due(terminal, begun, drawn))
        return;
    char line[512] = "", left[64];
    FILE *out = fmemopen(line, sizeof line, "w");
    if (!out)
        return;
    double rate = seconds > 0 ? (double)(c->done - c->resumed) / seconds : 0;
    if (terminal) {
        unsigned filled = c->runs ? (unsigned)(BAR * (double)c->done / (double)c->runs) : BAR;
        fputc('[', out);
        for (unsigned i = 0; i < BAR; i++)
            fputc(i < filled ? '#' : '.', out);
        fputs("] ", out);
    }
    fprintf(out, "%llu/%llu, %.*f/s, %zu finding%s", (unsigned long long)c->done, (unsigned long long)c->runs,
            rate < 10, rate, findings, findings == 1 ? "" : "s");
    if (rate > 0 && c->done < c->runs)
        fprintf(out, ", %s left", pct_cli_format_duration(left, sizeof left, (double)(c->runs - c->done) / rate));
    add_guarantee(out, c);
    fclose(out);
    line[sizeof line - 1] = 0;
    pct_status_line_put(terminal, line);
}

void pct_progress_draw_runs(const struct pct_campaign *c, double begun)
{
    /* With --confidence, how many runs it will be is known after the first. */
    if (!c->progress || (c->confidence > 0 && !c->done))
        return;
    double seconds = pct_cli_now() - begun, rate = seconds > 0 ? (double)c->done / seconds : 0;
    char line[256], left[80] = "", rest[64];
    if (rate > 0 && c->done < c->runs)
        snprintf(left, sizeof left, ", %s left",
                 pct_cli_format_duration(rest, sizeof rest, (double)(c->runs - c->done) / rate));
    snprintf(line, sizeof line, "%llu of %llu runs, %.*f/s, %llu failed%s", (unsigned long long)c->done,
             (unsigned long long)c->runs, rate < 10, rate, (unsigned long long)c->failures, left);
    pct_status_line_put(true, line);
}

void pct_progress_say_early(const struct pct_campaign *c, const struct pct_process *process,
                            const struct pct_result *result)
{
    char ending[128];
    pct_status_line_clear(!c->progress);
    pct_cli_say("seed %llu fails (%s); before that counts, the run before it that was cut is made again: %s",
                (unsigned long long)pct_campaign_seed(c, process->index),
                pct_outcome_format(ending, sizeof ending, process, result), result->trace.header.token);
}

void pct_progress_say_undecided(const struct pct_campaign *c)
{
    const unsigned long long cut = c->undecided, ahead = c->ahead;
    if (cut)
        pct_cli_say("%llu run%s cut, and not made again to the end: whether %s, is not known, and not counted", cut,
                    cut == 1 ? " was" : "s were", cut == 1 ? "it is a timeout" : "they are timeouts");
    if (ahead)
        pct_cli_say("%llu failure%s behind runs that had not ended yet %s not counted", ahead, ahead == 1 ? "" : "s",
                    ahead == 1 ? "is" : "are");
}
