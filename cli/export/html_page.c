/* What pages have in common: see html_page.h. */
#include "html_page.h"
#include <cli/base/markup.h>

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
    ".curves{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(22rem,100%),1fr));gap:1rem}figure{margin:0}"
    "\n"
    "figcaption{font-weight:600}svg{width:100%;height:auto;display:block}svg text{fill:var(--dim);font-size:11px}\n"
    "svg .axis{stroke:var(--line)}svg .curve{stroke:var(--curve);stroke-width:2;fill:none;stroke-linejoin:round}\n"
    "svg .mark{fill:var(--curve);visibility:hidden}output{color:var(--dim);font-size:.9em}\n"
    ".scroll{overflow-x:auto}.scroll "
    "th{white-space:nowrap}table{border-collapse:collapse;font-size:.9em}th,td{text-align:left;vertical-align:top;"
    "padding:.25rem .75rem .25rem 0;border-bottom:1px solid var(--line)}td.number{text-align:right;"
    "font-variant-numeric:tabular-nums}td code{white-space:nowrap}\n"
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

void pct_html_print(FILE *out, const char *before, const char *text, const char *after)
{
    fputs(before, out);
    pct_markup_print(out, text);
    fputs(after, out);
}

void pct_html_total(FILE *out, const char *name, const char *value, const char *class_)
{
    fprintf(out, "<div><dt>%s</dt><dd class=\"%s\">", name, class_);
    pct_markup_print(out, value);
    fputs("</dd></div>\n", out);
}

void pct_html_count(FILE *out, const char *name, uint64_t count, const char *class_)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)count);
    pct_html_total(out, name, text, class_);
}

void pct_html_begin(FILE *out, const char *command)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
          out);
    pct_html_print(out, "<title>pct: ", command, "</title>\n<style>\n");
    fputs(style, out);
    fputs("</style>\n</head>\n<body>\n", out);
}

void pct_html_end(FILE *out)
{
    fprintf(out, "<script>\n%s</script>\n</body>\n</html>\n", script);
}

enum { WIDTH = 400, HEIGHT = 170, LEFT = 56, RIGHT = 12, TOP = 12, BOTTOM = 26 };

/* It begins at 0 runs; each number of `data-points` is x, y, runs, value. */
void pct_html_curve(FILE *out, const char *name, const struct pct_html_point *points, size_t count)
{
    const struct pct_html_point *last = &points[count - 1];
    uint64_t top = last->value ? last->value : 1;
    double x = (double)(WIDTH - LEFT - RIGHT) / (double)last->runs, y = (double)(HEIGHT - TOP - BOTTOM) / (double)top;
    fprintf(out, "<figure><figcaption>%s<output></output></figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" ", name,
            WIDTH, HEIGHT);
    fprintf(out, "aria-label=\"%s: %llu after %llu runs\" data-points=\"%d,%d,0,0", name,
            (unsigned long long)last->value, (unsigned long long)last->runs, LEFT, HEIGHT - BOTTOM);
    for (size_t i = 0; i < count; i++)
        fprintf(out, " %.1f,%.1f,%llu,%llu", LEFT + x * (double)points[i].runs,
                HEIGHT - BOTTOM - y * (double)points[i].value, (unsigned long long)points[i].runs,
                (unsigned long long)points[i].value);
    fprintf(out, "\">\n<path class=\"axis\" fill=\"none\" d=\"M%d %dV%dH%d\"/>\n<path class=\"curve\" d=\"M%d %d", LEFT,
            TOP, HEIGHT - BOTTOM, WIDTH - RIGHT, LEFT, HEIGHT - BOTTOM);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "L%.1f %.1f", LEFT + x * (double)points[i].runs, HEIGHT - BOTTOM - y * (double)points[i].value);
    fprintf(out, "\"/>\n<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%llu</text>", LEFT - 6, TOP + 8,
            (unsigned long long)top);
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">0</text>", LEFT - 6, HEIGHT - BOTTOM);
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%llu runs</text>\n", WIDTH - RIGHT, HEIGHT - 8,
            (unsigned long long)last->runs);
    fputs("<circle class=\"mark\" r=\"4\"/>\n</svg></figure>\n", out);
}
