/* A campaign for the pages on which teams look at their CI: workflow commands and the job summary of GitHub Actions,
 * GitLab's code quality, and JUnit XML, which most others read. */
#include <cli/base/cli.h>
#include "export.h"
#include <cli/base/json.h>
#include "junit.h"
#include <cli/base/markup.h>
#include <cli/campaign/recorder.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- GitHub Actions ----------------------------------------------------------------------------------------------- */

enum { SHOWN = 20, REPORT_MAX = 32 << 10 }; /* a job summary holds 1 MiB at most */

/* A workflow command ends at the end of its line; in its properties, commas and colons separate. */
static void print_command(FILE *out, const char *text, bool property)
{
    for (; *text; text++)
        if (*text == '%' || *text == '\n' || *text == '\r' || (property && (*text == ':' || *text == ',')))
            fprintf(out, "%%%02X", (unsigned char)*text);
        else
            fputc(*text, out);
}

static void print_annotation(FILE *out, const struct pct_summary *s, const struct pct_summary_finding *f)
{
    char rate[160], replays[160];
    char *replay = pct_summary_replay(f);
    fputs("::error ", out);
    if (f->place.path) {
        fputs("file=", out);
        print_command(out, f->place.path, true);
        if (f->place.line > 0)
            fprintf(out, ",line=%d", f->place.line);
        fputc(',', out);
    }
    fputs("title=pct%3A ", out);
    print_command(out, f->finding.verdict, true);
    fputs("::", out);
    print_command(out, f->finding.title, false);
    fputs("%0A", out);
    if (f->cause) {
        print_command(out, f->cause, false);
        fputs("%0A", out);
    }
    if (f->held) {
        print_command(out, f->held, false);
        fputs("%0A", out);
    }
    print_command(out, pct_summary_format_rate(rate, sizeof rate, s, f), false);
    fputs("; ", out);
    print_command(out, pct_summary_format_replays(replays, sizeof replays, f), false);
    fputs("%0A", out);
    print_command(out, replay ? replay : f->finding.token, false);
    fputc('\n', out);
    free(replay);
}

/* Between the bars of a table in Markdown, where HTML passes. */
static void print_cell(FILE *out, const char *text)
{
    char *escaped = NULL;
    size_t size;
    FILE *to = open_memstream(&escaped, &size);
    if (!to)
        return;
    pct_markup_print(to, text);
    fclose(to);
    for (const char *at = escaped; at && *at; at++)
        if (strchr("|*_`[]\\~#", *at))
            fprintf(out, "&#%d;", *at);
        else
            fputc(*at == '\n' ? ' ' : *at, out);
    free(escaped);
}

/* The line before <pre> is empty: in the block that <details> begins, Markdown would begin with the first empty line of
 * the report, and take its indents and asterisks for its own. */
static void print_details(FILE *out, const struct pct_summary_finding *f)
{
    char *replay = pct_summary_replay(f);
    char *report = strndup(f->finding.report, REPORT_MAX);
    fputs("\n<details><summary>", out);
    print_cell(out, f->finding.title);
    fputs("</summary>\n\n<pre>", out);
    pct_markup_print(out, replay ? replay : f->finding.token);
    fputs("\n\n", out);
    pct_markup_print(out, report ? report : "");
    fputs("</pre>\n</details>\n", out);
    free(report);
    free(replay);
}

static void print_markdown(FILE *out, const struct pct_summary *s)
{
    char text[256];
    fputs("### pct: ", out);
    print_cell(out, s->command);
    fprintf(out, "\n\n%llu run%s, %llu different schedule%s, %llu failed.\n", (unsigned long long)s->totals.runs,
            s->totals.runs == 1 ? "" : "s", (unsigned long long)s->totals.schedules,
            s->totals.schedules == 1 ? "" : "s", (unsigned long long)s->totals.failures);
    if (s->guarantee) {
        fputc('\n', out);
        print_cell(out, s->guarantee);
        fputc('\n', out);
    }
    if (!s->count)
        return;
    fputs("\n| finding | place | failing runs | replays |\n| --- | --- | --- | --- |\n", out);
    for (size_t i = 0; i < s->count && i < SHOWN; i++) {
        const struct pct_summary_finding *f = &s->findings[i];
        fputs("| ", out);
        print_cell(out, f->finding.title);
        fputs(" | ", out);
        if (f->place.path) {
            print_cell(out, f->place.path);
            fprintf(out, ":%d", f->place.line);
        }
        fputs(" | ", out);
        print_cell(out, pct_summary_format_rate(text, sizeof text, s, f));
        fputs(" | ", out);
        print_cell(out, pct_summary_format_replays(text, sizeof text, f));
        fputs(" |\n", out);
    }
    for (size_t i = 0; i < s->count && i < SHOWN; i++)
        print_details(out, &s->findings[i]);
    if (s->count > SHOWN)
        fprintf(out, "\nand %zu more findings: `pct campaign report` prints all\n", s->count - SHOWN);
}

int pct_export_github(FILE *out, const struct pct_summary *summary)
{
    for (size_t i = 0; i < summary->count; i++)
        print_annotation(out, summary, &summary->findings[i]);
    if (!summary->count) {
        fprintf(out, "::notice title=pct::%llu run%s, no failure%%0A", (unsigned long long)summary->totals.runs,
                summary->totals.runs == 1 ? "" : "s");
        print_command(out, summary->guarantee ? summary->guarantee : "", false);
        fputc('\n', out);
    }
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    FILE *page = path && *path ? fopen(path, "ae") : NULL;
    if (path && *path && !page)
        pct_cli_say("$GITHUB_STEP_SUMMARY, %s: %s; there will be no job summary", path, strerror(errno));
    if (!page)
        return 0;
    print_markdown(page, summary);
    bool failed = ferror(page);
    return fclose(page) || failed ? -EIO : 0;
}

/* --- GitLab ------------------------------------------------------------------------------------------------------- */

int pct_export_gitlab(FILE *out, const struct pct_summary *summary)
{
    struct json_object *root = json_object_new_array();
    for (size_t i = 0; i < summary->count; i++) {
        const struct pct_summary_finding *f = &summary->findings[i];
        struct json_object *issue = pct_json_append_object(root);
        char text[2048], rate[160], name[128];
        snprintf(text, sizeof text, "%.800s: %s. %s%s%.1000s", f->finding.title,
                 pct_summary_format_rate(rate, sizeof rate, summary, f), f->held ? f->held : "", f->held ? ". " : "",
                 f->finding.token);
        pct_json_add_string(issue, "description", text);
        snprintf(name, sizeof name, "pct/%.100s", f->finding.verdict);
        pct_json_add_string(issue, "check_name", name);
        snprintf(name, sizeof name, "%016llx", (unsigned long long)f->finding.signature);
        pct_json_add_string(issue, "fingerprint", name);
        pct_json_add_string(issue, "severity", "critical");
        struct json_object *location = pct_json_add_object(issue, "location");
        pct_json_add_string(location, "path", f->place.path ? f->place.path : summary->program);
        pct_json_add_number(pct_json_add_object(location, "lines"), "begin",
                            f->place.path && f->place.line > 0 ? (uint64_t)f->place.line : 1);
    }
    return pct_json_print(out, root);
}

/* --- JUnit -------------------------------------------------------------------------------------------------------- */

/* What a reader of the failing test wants: how to repeat it first. */
static char *describe(const struct pct_summary *s, const struct pct_summary_finding *f)
{
    char rate[160], replays[160];
    char *text = NULL, *replay = pct_summary_replay(f);
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out) {
        fprintf(out, "%s\n%s; %s\n\n%s\n", replay ? replay : f->finding.token,
                pct_summary_format_rate(rate, sizeof rate, s, f),
                pct_summary_format_replays(replays, sizeof replays, f), f->finding.report);
        if (f->finding.uncontrolled[0])
            fprintf(out, "\nnot controlled by pct:\n%s\n", f->finding.uncontrolled);
        if (f->output_text[0])
            fprintf(out, "\nwhat the target wrote:\n%s\n", f->output_text);
        fclose(out);
    }
    free(replay);
    return text;
}

/* Why it is no test that passed, where there are no findings. NULL: it is one. Of an exploration that no schedule fails
 * is what "verified" says. */
static const char *find_doubt(const struct pct_summary *s)
{
    if (!s->totals.runs)
        return "no run was made";
    if (pct_recorder_is_open(s->store, s->totals.runs))
        return "it was interrupted, and runs that were cut, or failed, do not count yet";
    if (!*pct_store_fact(s->store, "bound"))
        return NULL;
    const char *verdict = pct_store_fact(s->store, "verdict");
    if (!*verdict)
        return "not over: pct explore --resume goes on";
    return strncmp(verdict, "verified", 8) != 0 && strncmp(verdict, "shard ", 6) != 0 ? verdict : NULL;
}

int pct_export_junit(FILE *out, const struct pct_summary *summary)
{
    uint64_t tests = summary->count ? summary->count : 1;
    const char *doubt = summary->count ? NULL : find_doubt(summary);
    pct_junit_begin(out, &(struct pct_junit_suite){ .name = "pct campaign",
                                                    .tests = tests,
                                                    .failures = summary->count,
                                                    .errors = doubt != NULL,
                                                    .seconds = summary->totals.seconds });
    int failed = 0;
    for (size_t i = 0; !failed && i < summary->count; i++) {
        const struct pct_summary_finding *f = &summary->findings[i];
        char *text = describe(summary, f);
        failed = text ? 0 : -ENOMEM;
        pct_junit_case(out, &(struct pct_junit_case){ .class_name = summary->command,
                                                      .name = f->finding.title,
                                                      .file = f->place.path,
                                                      .line = f->place.line > 0 ? (unsigned)f->place.line : 0,
                                                      .seconds = summary->totals.seconds / (double)tests,
                                                      .type = f->finding.verdict,
                                                      .message = f->finding.title,
                                                      .text = text });
        free(text);
    }
    if (!summary->count)
        pct_junit_case(out, &(struct pct_junit_case){ .class_name = summary->command,
                                                      .name = "no schedule fails",
                                                      .seconds = summary->totals.seconds,
                                                      .type = "not known",
                                                      .message = doubt,
                                                      .text = summary->guarantee,
                                                      .error = doubt });
    pct_junit_end(out);
    return failed;
}
