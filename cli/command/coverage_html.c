/* The page of `pct coverage --html`: see coverage_html.h. */
#include "coverage_html.h"
#include <cli/base/cli.h>
#include <cli/campaign/directed.h>
#include <cli/export/export.h>
#include <cli/export/html_page.h>
#include <cli/export/summary.h>
#include <errno.h>
#include <stdlib.h>

static char *format_command(const struct pct_campaign *c)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    pct_cli_print_command(out, c->launch.command);
    return fclose(out) ? NULL : text;
}

static size_t count_left(const struct pct_coverage_page *page)
{
    size_t left = 0;
    for (size_t i = 0; i < page->predicted->count; i++)
        left += !pct_iroots_find_either(page->exposed, page->predicted->item[i]);
    return left;
}

static void print_head(FILE *out, const struct pct_coverage_page *page, const char *command)
{
    pct_html_begin(out, command);
    pct_html_print(out, "<h1>pct coverage of <code>", command, "</code></h1>\n<dl class=\"totals\">\n");
    pct_html_count(out, "iRoots exposed", page->exposed->count, "");
    pct_html_count(out, "predicted and not exposed", count_left(page), "");
    if (page->campaign->directed)
        pct_html_count(out, "of these, missed by all tries", page->tried->missed.count, "");
    pct_html_count(out, "reads-from pairs", page->pairs->count, "");
    pct_html_count(out, "runs", page->runs, "");
    pct_html_count(out, "failing runs", page->campaign->failures, page->campaign->failures ? "bad" : "good");
    fputs("</dl>\n", out);
    if (page->exposed->full || page->pairs->full)
        fputs("<p>There are more, which are not counted.</p>\n", out);
    fputs("<p>An iRoot is a way in which threads came in between each other: A &rArr; B says that one thread did A and "
          "another one B, on one object, with nothing that conflicts in between.</p>\n",
          out);
    if (page->directed)
        pct_html_print(out, "<p>To try those that are predicted and not exposed: <code>", page->directed,
                       "</code></p>\n");
}

/* --- Curves ------------------------------------------------------------------------------------------------------- */

static void print_curve(FILE *out, const struct pct_coverage_page *page, const char *name,
                        const struct pct_iroots *roots)
{
    struct pct_html_point points[PCT_SUMMARY_POINTS + 1];
    size_t count = 0, had = 0;
    const uint64_t step = page->runs / PCT_SUMMARY_POINTS + 1;
    for (uint64_t run = 1; run <= page->runs; run++) {
        while (had < roots->count && roots->item[had]->first <= run)
            had++;
        if (run % step == 0 || run == page->runs)
            points[count++] = (struct pct_html_point){ .runs = run, .value = had };
    }
    if (count)
        pct_html_curve(out, name, points, count);
}

/* --- Tables ------------------------------------------------------------------------------------------------------- */

static void print_place(FILE *out, const struct pct_access_places *places, uint32_t number)
{
    if (!number) {
        fputs("<td class=\"dim\">what was there before</td>", out);
        return;
    }
    const struct pct_access_place *place = places->item[number - 1];
    pct_html_print(out, "<td>", pct_name_op(place->op), "");
    if (place->function[0])
        pct_html_print(out, " in <code>", place->function, "</code>");
    if (place->file[0])
        pct_html_print(out, "<br><code class=\"dim\">", place->file, "");
    if (place->file[0] && place->line)
        fprintf(out, ":%d", place->line);
    fputs(place->file[0] ? "</code></td>" : "</td>", out);
}

/* instead: of what was not exposed; NULL: the runs that have exposed it are told. */
static void print_row(FILE *out, const struct pct_coverage_page *page, const struct pct_iroot *root, unsigned places,
                      const char *instead)
{
    fputs("<tr>", out);
    for (unsigned k = 0; k < places; k++)
        print_place(out, page->places, root->place[k]);
    if (!instead)
        fprintf(out, "<td class=\"number\">%llu</td><td class=\"number\">%llu</td></tr>\n",
                (unsigned long long)root->runs, (unsigned long long)pct_campaign_seed(page->campaign, root->first - 1));
    else
        fprintf(out, "<td class=\"dim\" colspan=\"2\">%s</td></tr>\n", instead);
}

static void begin_table(FILE *out, const char *title, const char *const *names, unsigned count)
{
    fprintf(out, "<h2>%s</h2>\n<div class=\"scroll\"><table>\n<tr>", title);
    for (unsigned k = 0; k < count; k++)
        fprintf(out, "<th scope=\"col\">%s</th>", names[k]);
    fputs("<th scope=\"col\">runs</th><th scope=\"col\">first with seed</th></tr>\n", out);
}

static bool has(const struct pct_iroots *roots, uint32_t idiom)
{
    return roots->by_idiom[idiom];
}

static const struct pct_iroot *find_further(const struct pct_coverage_page *page, const struct pct_iroot *root)
{
    return root->idiom > PCT_IDIOMS ? pct_iroots_find(page->combined, root)
                                    : pct_iroots_find_either(page->exposed, root);
}

/* Of this idiom, what was not exposed, or is combined. */
static void print_others(FILE *out, const struct pct_coverage_page *page, uint32_t idiom, unsigned places)
{
    const struct pct_iroots *predicted = page->predicted, *missed = &page->tried->missed,
                            *further = &page->tried->further;
    char tries[64];
    snprintf(tries, sizeof tries, "predicted, not exposed in %d tries", PCT_DIRECTED_TRIES);
    for (size_t i = 0; i < missed->count; i++)
        if (missed->item[i]->idiom == idiom)
            print_row(out, page, missed->item[i], places, tries);
    for (size_t i = 0; i < predicted->count; i++)
        if (predicted->item[i]->idiom == idiom && !pct_iroots_find_either(page->exposed, predicted->item[i]) &&
            !pct_iroots_find_either(missed, predicted->item[i]))
            print_row(out, page, predicted->item[i], places, "predicted, not exposed");
    for (size_t i = 0; i < further->count; i++) {
        const struct pct_iroot *exposed = find_further(page, further->item[i]);
        if (further->item[i]->idiom != idiom || (exposed && idiom <= PCT_IDIOMS))
            continue;
        print_row(out, page, exposed ? exposed : further->item[i], places,
                  exposed ? NULL : "guessed and tried, not exposed");
    }
}

static void print_idiom(FILE *out, const struct pct_coverage_page *page, uint32_t idiom)
{
    static const char *const titles[PCT_COMBINED + 1] = {
        [1] = "Idiom 1: A &rArr; B",
        [2] = "Idiom 2: A &rArr; B &rArr; C, one object",
        [3] = "Idiom 3: A &rArr; B, then C &rArr; D, one object",
        [4] = "Idiom 4: A &rArr; B, then C &rArr; D, two objects",
        [5] = "Idiom 5: A &rArr; B; across C &rArr; D, two objects",
        [6] = "Idiom 6: A &rArr; B, and C &rArr; D, two objects",
        [7] = "Combined, 7: A &rArr; B, then by the first thread C &rArr; D by a third one",
        [8] = "Combined, 8: A &rArr; B, then by a third thread C &rArr; D by the first one",
        [9] = "Combined, 9: A &rArr; B, then by the second thread C &rArr; D by a third one",
        [10] = "Combined, 10: A &rArr; B, then by a third thread C &rArr; D by the second one"
    };
    static const char *const names[PCT_IROOT_PLACES] = { "A", "B", "C", "D" };
    const unsigned places = pct_idiom_accesses(idiom);
    if (!has(page->exposed, idiom) && !has(page->predicted, idiom) && !has(&page->tried->missed, idiom) &&
        !has(&page->tried->further, idiom))
        return;
    begin_table(out, titles[idiom], names, places);
    for (size_t i = 0; i < page->exposed->count; i++)
        if (page->exposed->item[i]->idiom == idiom)
            print_row(out, page, page->exposed->item[i], places, NULL);
    print_others(out, page, idiom, places);
    fputs("</table></div>\n", out);
}

static void print_pairs(FILE *out, const struct pct_coverage_page *page)
{
    static const char *const names[] = { "write", "read" };
    if (!page->pairs->count)
        return;
    begin_table(out, "Reads-from pairs", names, 2);
    for (size_t i = 0; i < page->pairs->count; i++)
        print_row(out, page, page->pairs->item[i], 2, NULL);
    fputs("</table></div>\n", out);
}

static int write_page(FILE *out, void *data)
{
    const struct pct_coverage_page *page = data;
    char *command = format_command(page->campaign);
    if (!command)
        return -ENOMEM;
    print_head(out, page, command);
    free(command);
    if (page->runs) {
        fputs("<h2>Over the runs</h2>\n<div class=\"curves\">\n", out);
        print_curve(out, page, "iRoots exposed", page->exposed);
        print_curve(out, page, "reads-from pairs", page->pairs);
        fputs("</div>\n", out);
    }
    for (uint32_t idiom = 1; idiom <= PCT_COMBINED; idiom++)
        print_idiom(out, page, idiom);
    print_pairs(out, page);
    fprintf(out, "<footer>pct %s; ", PCT_CLI_VERSION);
    pct_html_print(out, "strategy ", page->campaign->config.strategy, "");
    fprintf(out, "; first seed %llu; window %u steps</footer>\n",
            (unsigned long long)pct_campaign_seed(page->campaign, 0), page->window);
    pct_html_end(out);
    return 0;
}

int pct_coverage_html(const char *path, const struct pct_coverage_page *page)
{
    return pct_export_write(path, write_page, (void *)(uintptr_t)page);
}
