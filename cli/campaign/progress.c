/* Progress: see progress.h. */
#include "progress.h"
#include "claim.h"
#include "cli.h"
#include <math.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BAR = 10 };
#define LOG_SECONDS 60
#define TERMINAL_SECONDS 0.15

void pct_progress_clear(bool quiet)
{
    if (!quiet && isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

static void add_guarantee(FILE *out, const struct pct_campaign *c)
{
    char reason[256], miss[32];
    if (pct_claim_doubt(c, reason, sizeof reason) || c->done < 2)
        return;
    /* Where it is drawn for each run (0), one depth of five: most bugs have it, or a smaller one. */
    uint32_t depth = c->config.run.param[c->depth] ? (uint32_t)c->config.run.param[c->depth] : 2;
    double log_miss = c->guarantee.threads == 1 ? -INFINITY : pct_guarantee_log_miss(&c->guarantee, depth);
    fprintf(out, "; depth %u missed: p<=%s", depth, pct_claim_format_miss(miss, sizeof miss, log_miss));
}

/* Columns of the terminal; a line that is longer would not be cleared. */
static size_t columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 20 ? 80 : size.ws_col;
}

/* Whether something is to be said now; then it will have been. */
static bool is_due(bool terminal, double begun, double *drawn)
{
    double now = pct_cli_now();
    if (now - (*drawn > 0 ? *drawn : begun) < (terminal ? TERMINAL_SECONDS : LOG_SECONDS))
        return false;
    *drawn = now;
    return true;
}

static void put(bool terminal, const char *line)
{
    if (terminal)
        fprintf(stderr, "\rpct: %.*s\033[K", (int)columns() - 6, line);
    else
        fprintf(stderr, "pct: %s\n", line);
    fflush(stderr);
}

void pct_progress_draw_trials(struct pct_trials *trials)
{
    struct pct_trial_progress *p = &trials->progress;
    bool terminal = isatty(STDERR_FILENO);
    if (p->quiet || !p->what || !is_due(terminal, trials->begun, &p->drawn))
        return;
    char line[512] = "", left[64];
    FILE *out = fmemopen(line, sizeof line, "w");
    if (!out)
        return;
    double all = pct_cli_now() - trials->begun, step = pct_cli_now() - p->begun;
    double rate = all > 0 ? (double)trials->runs / all : 0;
    fprintf(out, "%s: %llu runs, %.*f/s", p->what, (unsigned long long)trials->runs, rate < 10, rate);
    if (p->known)
        fprintf(out, ", %llu preemption%s left", (unsigned long long)p->preemptions, p->preemptions == 1 ? "" : "s");
    if (p->left && p->answers)
        fprintf(out, ", at most %s for this step",
                pct_cli_format_duration(left, sizeof left, step * (double)p->left / (double)p->answers));
    fclose(out);
    line[sizeof line - 1] = 0;
    put(terminal, line);
}

void pct_progress_draw(const struct pct_campaign *c, double begun, size_t findings, double *drawn)
{
    bool terminal = isatty(STDERR_FILENO);
    double seconds = pct_cli_now() - begun;
    if (!is_due(terminal, begun, drawn))
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
    put(terminal, line);
}
