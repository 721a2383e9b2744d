/* A campaign as a page in one file: findings with the command that replays each, and curves of failures and coverage.
 * It loads nothing, so it can be kept as a CI artefact and opened years later; without its script, all but the values
 * under the pointer and the buttons is there. */
#include <cli/base/cli.h>
#include "export.h"
#include <cli/base/markup.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1d2330;--dim:#5c6577;--line:#d6dae3;--back:#fff;--soft:#f4f6f9;--bad:#b3261e;"
    "--good:#1d7a3e;--curve:#2457a7}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e8f0;--dim:#9aa4b8;--line:#3a4252;--back:#14181f;--soft:#1d232d;"
    "--bad:#ff8a80;--good:#7bd69b;--curve:#8ab4f8}}\n"
    "*{box-sizing:border-box}body{margin:0 auto;max-width:72rem;padding:1.5rem;font:15px/1.5 system-ui,sans-serif;"
    "color:var(--ink);background:var(--back)}\n"
    "h1{font-size:1.4rem;margin:0 0 .5rem;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .5rem}\n"
    "h3{font-size:1rem;margin:0;overflow-wrap:anywhere}\n"
    "code,pre{font-family:ui-monospace,monospace;font-size:.87em}\n"
    "pre{background:var(--soft);padding:.75rem;overflow-x:auto;margin:.5rem 0;border-radius:4px}\n"
    "dl.totals{display:grid;grid-template-columns:repeat(2,1fr);gap:.75rem;margin:1rem 0}\n"
    "@media(min-width:44rem){dl.totals{grid-template-columns:repeat(4,1fr)}}\n"
    "dl.totals div{background:var(--soft);padding:.5rem .75rem;border-radius:4px}dl.totals "
    "dt{color:var(--dim);font-size:.85em}\n"
    "dl.totals dd{margin:0;font-size:1.2rem;font-variant-numeric:tabular-nums}\n"
    ".bad{color:var(--bad)}.good{color:var(--good)}.dim{color:var(--dim)}\n"
    "section.finding{border:1px solid var(--line);border-left:4px solid var(--bad);border-radius:4px;padding:.75rem "
    "1rem;"
    "margin:1rem 0}\n"
    ".replay{display:flex;gap:.5rem;align-items:start}.replay pre{flex:1;margin:.5rem 0;white-space:pre-wrap;"
    "overflow-wrap:anywhere}\n"
    "button{font:inherit;margin-top:.5rem;padding:.5rem .75rem;border:1px solid var(--line);border-radius:4px;"
    "background:var(--soft);color:var(--ink);cursor:pointer}\n"
    "ol.frames{margin:.25rem 0 .75rem;padding-left:2.5rem}summary{cursor:pointer}\n"
    ".curves{display:grid;grid-template-columns:repeat(auto-fit,minmax(22rem,1fr));gap:1rem}figure{margin:0}\n"
    "figcaption{font-weight:600}svg{width:100%;height:auto;display:block}svg text{fill:var(--dim);font-size:11px}\n"
    "svg .axis{stroke:var(--line)}svg .curve{stroke:var(--curve);stroke-width:2;fill:none;stroke-linejoin:round}\n"
    "svg .mark{fill:var(--curve);visibility:hidden}output{color:var(--dim);font-size:.9em}\n"
    "footer{margin-top:2.5rem;color:var(--dim);font-size:.85em;overflow-wrap:anywhere}\n";

/* A button copies the replay command; the pointer over a curve shows its value there. */
static const char script[] =
    "for(const b of document.querySelectorAll('button.copy')){b.hidden=false;b.onclick=()=>{"
    "navigator.clipboard.writeText(b.previousElementSibling.textContent).then(()=>{b.textContent='copied'},"
    "()=>{getSelection().selectAllChildren(b.previousElementSibling)})}}\n"
    "for(const f of document.querySelectorAll('figure')){const s=f.querySelector('svg'),m=s.querySelector('.mark'),"
    "o=f.querySelector('output'),p=s.dataset.points.trim().split(' ').map(t=>t.split(',').map(Number));"
    "s.onpointermove=e=>{const x=(e.clientX-s.getBoundingClientRect().left)/s.getBoundingClientRect().width*400;"
    "const "
    "n=p.reduce((a,b)=>Math.abs(b[0]-x)<Math.abs(a[0]-x)?b:a);m.setAttribute('cx',n[0]);m.setAttribute('cy',n[1]);"
    "m.style.visibility='visible';o.textContent=' '+n[3].toLocaleString()+' after '+n[2].toLocaleString()+' runs'};"
    "s.onpointerleave=()=>{m.style.visibility='hidden';o.textContent=''}}\n";

static void print(FILE *out, const char *before, const char *text, const char *after)
{
    fputs(before, out);
    pct_markup_print(out, text);
    fputs(after, out);
}

static void print_total(FILE *out, const char *name, const char *value, const char *class_)
{
    fprintf(out, "<div><dt>%s</dt><dd class=\"%s\">", name, class_);
    pct_markup_print(out, value);
    fputs("</dd></div>\n", out);
}

static void print_count(FILE *out, const char *name, uint64_t count, const char *class_)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)count);
    print_total(out, name, text, class_);
}

static void print_head(FILE *out, const struct pct_summary *s)
{
    const struct pct_store_totals *t = &s->totals;
    char text[64];
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
          out);
    print(out, "<title>pct: ", s->command, "</title>\n<style>\n");
    fputs(style, out);
    print(out, "</style>\n</head>\n<body>\n<h1>pct campaign of <code>", s->command, "</code></h1>\n");
    fputs("<dl class=\"totals\">\n", out);
    print_count(out, "findings", s->count, s->count ? "bad" : "good");
    print_count(out, "failing runs", t->failures, t->failures ? "bad" : "good");
    print_count(out, "runs", t->runs, "");
    print_count(out, "different schedules", t->schedules, "");
    print_count(out, "threads, at most", t->max_threads, "");
    print_count(out, "steps, at most", t->max_steps, "");
    print_total(out, "time", pct_cli_format_duration(text, sizeof text, t->seconds), "");
    snprintf(text, sizeof text, "%.3g", t->seconds > 0 ? (double)t->runs / t->seconds : 0);
    print_total(out, "runs a second", text, "");
    fputs("</dl>\n", out);
    if (s->guarantee)
        print(out, "<p id=\"guarantee\">", s->guarantee, "</p>\n");
    char iroots[320];
    if (s->has_iroots)
        print(out, "<p id=\"iroots\">iRoots: ", pct_summary_format_iroots(iroots, sizeof iroots, &s->iroots, t->runs),
              "</p>\n");
    if (s->uncontrolled_count)
        fputs("<p>Not controlled by pct, so replays may differ there:</p>\n<ul>\n", out);
    for (size_t i = 0; i < s->uncontrolled_count; i++) {
        fprintf(out, "<li>%llu ", (unsigned long long)s->uncontrolled[i].count);
        print(out, "", s->uncontrolled[i].name, "</li>\n");
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
            print(out, "", frame->frame.doing, "</div>\n<ol class=\"frames\" start=\"0\">\n");
        }
        print(out, "<li><code>", frame->frame.function[0] ? frame->frame.function : frame->frame.module, "</code>");
        if (frame->place.path) {
            print(out, " <span class=\"dim\">", frame->place.path, "");
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
    print(out, "", text, "</pre></details>\n");
}

/* `pct add` takes what `pct replay` takes, and what a failure is; but for --expect-same, which needs a campaign. */
static void print_keep(FILE *out, const struct pct_summary *s, const struct pct_summary_finding *f)
{
    const char *words = strchr(f->finding.replay, ' '), *judging = pct_store_fact(s->store, "judging");
    if (!words || strstr(judging, "--expect-same"))
        return;
    fputs("<details class=\"keep\"><summary>keep it as a regression test, for <code>pct check</code></summary>\n<pre>",
          out);
    print(out, "pct add ", judging, "");
    print(out, "", words + 1, "</pre></details>\n");
}

static void print_finding(FILE *out, const struct pct_summary *s, const struct pct_summary_finding *f)
{
    char text[192];
    char *replay = pct_summary_replay(f);
    fprintf(out, "<section class=\"finding\" id=\"finding-%lld\">\n", (long long)f->finding.id);
    print(out, "<h3>", f->finding.title, "</h3>\n");
    if (f->place.path) {
        print(out, "<div>at <code>", f->place.path, "");
        fprintf(out, ":%d</code></div>\n", f->place.line);
    }
    print(out, "<div>", pct_summary_format_rate(text, sizeof text, s, f), "</div>\n");
    fprintf(out, "<div class=\"%s\">",
            !f->finding.replays                     ? "dim"
            : f->finding.same == f->finding.replays ? "good"
                                                    : "bad");
    print(out, "", pct_summary_format_replays(text, sizeof text, f), "</div>\n");
    if (f->finding.uncontrolled[0])
        print(out, "<div>not controlled by pct: ", f->finding.uncontrolled, "</div>\n");
    print(out, "<div class=\"replay\"><pre>", replay ? replay : f->finding.token,
          "</pre><button class=\"copy\" hidden>copy</button></div>\n");
    print_stacks(out, f);
    print_block(out, "report of the first run", f->finding.report);
    print_block(out, "what the target wrote", f->output_text);
    print_keep(out, s, f);
    fputs("</section>\n", out);
    free(replay);
}

/* --- Curves ------------------------------------------------------------------------------------------------------- */

enum { WIDTH = 400, HEIGHT = 170, LEFT = 56, RIGHT = 12, TOP = 12, BOTTOM = 26 };

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

static uint64_t value_of(const struct curve *curve, const struct pct_curve_point *point)
{
    uint64_t value;
    memcpy(&value, (const char *)point + curve->member, sizeof value);
    return value;
}

/* The curve begins at 0 runs; each number of `data-points` is x, y, runs, value. */
static void print_curve(FILE *out, const struct pct_summary *s, const struct curve *curve)
{
    const struct pct_curve_point *last = &s->curve[s->points - 1];
    uint64_t most = value_of(curve, last), top = most ? most : 1;
    double x = (double)(WIDTH - LEFT - RIGHT) / (double)last->runs, y = (double)(HEIGHT - TOP - BOTTOM) / (double)top;
    fprintf(out, "<figure><figcaption>%s<output></output></figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" ",
            curve->name, WIDTH, HEIGHT);
    fprintf(out, "aria-label=\"%s: %llu after %llu runs\" data-points=\"%d,%d,0,0", curve->name,
            (unsigned long long)most, (unsigned long long)last->runs, LEFT, HEIGHT - BOTTOM);
    for (size_t i = 0; i < s->points; i++)
        fprintf(out, " %.1f,%.1f,%llu,%llu", LEFT + x * (double)s->curve[i].runs,
                HEIGHT - BOTTOM - y * (double)value_of(curve, &s->curve[i]), (unsigned long long)s->curve[i].runs,
                (unsigned long long)value_of(curve, &s->curve[i]));
    fprintf(out, "\">\n<path class=\"axis\" fill=\"none\" d=\"M%d %dV%dH%d\"/>\n<path class=\"curve\" d=\"M%d %d", LEFT,
            TOP, HEIGHT - BOTTOM, WIDTH - RIGHT, LEFT, HEIGHT - BOTTOM);
    for (size_t i = 0; i < s->points; i++)
        fprintf(out, "L%.1f %.1f", LEFT + x * (double)s->curve[i].runs,
                HEIGHT - BOTTOM - y * (double)value_of(curve, &s->curve[i]));
    fprintf(out, "\"/>\n<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%llu</text>", LEFT - 6, TOP + 8,
            (unsigned long long)top);
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">0</text>", LEFT - 6, HEIGHT - BOTTOM);
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%llu runs</text>\n", WIDTH - RIGHT, HEIGHT - 8,
            (unsigned long long)last->runs);
    fputs("<circle class=\"mark\" r=\"4\"/>\n</svg></figure>\n", out);
}

static void print_foot(FILE *out, const struct pct_summary *s)
{
    char text[64] = "";
    time_t created = (time_t)pct_store_number(s->store, "created");
    struct tm utc;
    if (gmtime_r(&created, &utc))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc);
    fprintf(out, "<footer>pct %s; begun %s; ", PCT_CLI_VERSION, text);
    print(out, "strategy ", pct_store_fact(s->store, "spec"), "; ");
    print(out, "first seed ", pct_store_fact(s->store, "seed"), "</footer>\n");
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
    fprintf(out, "<script>\n%s</script>\n</body>\n</html>\n", script);
    return 0;
}
