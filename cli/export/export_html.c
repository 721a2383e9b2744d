/* A campaign as a page in one file: findings with the command that replays each, and curves of failures and coverage.
 * It loads nothing, so it can be kept as a CI artefact and opened years later. */
#include <cli/base/cli.h>
#include "export.h"
#include "html_page.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void print_head(FILE *out, const struct pct_summary *s)
{
    const struct pct_store_totals *t = &s->totals;
    char text[64];
    pct_html_begin(out, s->command);
    pct_html_print(out, "<h1>pct campaign of <code>", s->command, "</code></h1>\n");
    fputs("<dl class=\"totals\">\n", out);
    pct_html_count(out, "findings", s->count, s->count ? "bad" : "good");
    pct_html_count(out, "failing runs", t->failures, t->failures ? "bad" : "good");
    pct_html_count(out, "runs", t->runs, "");
    pct_html_count(out, "different schedules", t->schedules, "");
    pct_html_count(out, "threads, at most", t->max_threads, "");
    pct_html_count(out, "steps, at most", t->max_steps, "");
    pct_html_total(out, "time", pct_cli_format_duration(text, sizeof text, t->seconds), "");
    snprintf(text, sizeof text, "%.3g", t->seconds > 0 ? (double)t->runs / t->seconds : 0);
    pct_html_total(out, "runs a second", text, "");
    fputs("</dl>\n", out);
    if (s->guarantee)
        pct_html_print(out, "<p id=\"guarantee\">", s->guarantee, "</p>\n");
    char iroots[320];
    if (s->has_iroots)
        pct_html_print(out, "<p id=\"iroots\">iRoots: ",
                       pct_summary_format_iroots(iroots, sizeof iroots, &s->iroots, t->runs), "</p>\n");
    if (s->uncontrolled_count)
        fputs("<p>Not controlled by pct, so replays may differ there:</p>\n<ul>\n", out);
    for (size_t i = 0; i < s->uncontrolled_count; i++) {
        fprintf(out, "<li>%llu ", (unsigned long long)s->uncontrolled[i].count);
        pct_html_print(out, "", s->uncontrolled[i].name, "</li>\n");
    }
    if (s->uncontrolled_count)
        fputs("</ul>\n", out);
}

/* --- Findings ----------------------------------------------------------------------------------------------------- */

static void print_stacks(FILE *out, const struct pct_summary_finding *f)
{
    for (size_t i = 0; i < f->frame_count; i++) {
        const struct pct_summary_frame *frame = &f->frames[i];
        if (!i || frame->frame.stack != f->frames[i - 1].frame.stack) {
            fprintf(out, "%s<div>thread %u ", i ? "</ol>\n" : "", frame->frame.thread);
            pct_html_print(out, "", frame->frame.doing, "</div>\n<ol class=\"frames\" start=\"0\">\n");
        }
        pct_html_print(out, "<li><code>", frame->frame.function[0] ? frame->frame.function : frame->frame.module,
                       "</code>");
        if (frame->place.path) {
            pct_html_print(out, " <span class=\"dim\">", frame->place.path, "");
            fprintf(out, ":%d</span>", frame->place.line);
        }
        fputs("</li>\n", out);
    }
    if (f->frame_count)
        fputs("</ol>\n", out);
}

static void print_block(FILE *out, const char *name, const char *text)
{
    if (!*text)
        return;
    fprintf(out, "<details><summary>%s</summary>\n<pre>", name);
    pct_html_print(out, "", text, "</pre></details>\n");
}

/* `pct add` takes what `pct replay` takes, and what a failure is; but for --expect-same, which needs a campaign. */
static void print_keep(FILE *out, const struct pct_summary *s, const struct pct_summary_finding *f)
{
    const char *words = strchr(f->finding.replay, ' '), *judging = pct_store_fact(s->store, "judging");
    if (!words || strstr(judging, "--expect-same"))
        return;
    fputs("<details class=\"keep\"><summary>keep it as a regression test, for <code>pct check</code></summary>\n<pre>",
          out);
    pct_html_print(out, "pct add ", judging, "");
    pct_html_print(out, "", words + 1, "</pre></details>\n");
}

static void print_finding(FILE *out, const struct pct_summary *s, const struct pct_summary_finding *f)
{
    char text[192];
    char *replay = pct_summary_replay(f);
    fprintf(out, "<section class=\"finding\" id=\"finding-%lld\">\n", (long long)f->finding.id);
    pct_html_print(out, "<h3>", f->finding.title, "</h3>\n");
    if (f->place.path) {
        pct_html_print(out, "<div>at <code>", f->place.path, "");
        fprintf(out, ":%d</code></div>\n", f->place.line);
    }
    pct_html_print(out, "<div>", pct_summary_format_rate(text, sizeof text, s, f), "</div>\n");
    fprintf(out, "<div class=\"%s\">",
            !f->finding.replays                     ? "dim"
            : f->finding.same == f->finding.replays ? "good"
                                                    : "bad");
    pct_html_print(out, "", pct_summary_format_replays(text, sizeof text, f), "</div>\n");
    if (f->held)
        pct_html_print(out, "<div>", f->held, "</div>\n");
    if (f->finding.uncontrolled[0])
        pct_html_print(out, "<div>not controlled by pct: ", f->finding.uncontrolled, "</div>\n");
    pct_html_print(out, "<div class=\"replay\"><pre>", replay ? replay : f->finding.token,
                   "</pre><button class=\"copy\" hidden>copy</button></div>\n");
    print_stacks(out, f);
    print_block(out, "report of the first run", f->finding.report);
    print_block(out, "what the target wrote", f->output_text);
    print_keep(out, s, f);
    fputs("</section>\n", out);
    free(replay);
}

/* --- Curves ------------------------------------------------------------------------------------------------------- */

static const struct curve {
    const char *name;
    size_t member;
} curves[] = {
    { "failing runs", offsetof(struct pct_curve_point, failures) },
    { "findings", offsetof(struct pct_curve_point, findings) },
    { "different schedules", offsetof(struct pct_curve_point, schedules) },
    { "pairs of neighbouring operations", offsetof(struct pct_curve_point, pairs) },
    { "iRoots exposed", offsetof(struct pct_curve_point, iroots) }, /* the last: only campaigns of maple have it */
};

static void print_curve(FILE *out, const struct pct_summary *s, const struct curve *curve)
{
    struct pct_html_point points[PCT_SUMMARY_POINTS + 1];
    for (size_t i = 0; i < s->points; i++) {
        points[i].runs = s->curve[i].runs;
        memcpy(&points[i].value, (const char *)&s->curve[i] + curve->member, sizeof points[i].value);
    }
    pct_html_curve(out, curve->name, points, s->points);
}

static void print_foot(FILE *out, const struct pct_summary *s)
{
    char text[64] = "";
    time_t created = (time_t)pct_store_number(s->store, "created");
    struct tm utc;
    if (gmtime_r(&created, &utc))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc);
    fprintf(out, "<footer>pct %s; begun %s; ", PCT_CLI_VERSION, text);
    pct_html_print(out, "strategy ", pct_store_fact(s->store, "spec"), "; ");
    pct_html_print(out, "first seed ", pct_store_fact(s->store, "seed"), "</footer>\n");
}

int pct_export_html(FILE *out, const struct pct_summary *summary)
{
    print_head(out, summary);
    if (summary->count)
        fputs("<h2>Findings</h2>\n", out);
    for (size_t i = 0; i < summary->count; i++)
        print_finding(out, summary, &summary->findings[i]);
    if (summary->points) {
        fputs("<h2>Curves</h2>\n<div class=\"curves\">\n", out);
        for (size_t i = 0; i < sizeof curves / sizeof *curves - !summary->has_iroots; i++)
            print_curve(out, summary, &curves[i]);
        fputs("</div>\n", out);
    }
    print_foot(out, summary);
    pct_html_end(out);
    return 0;
}
