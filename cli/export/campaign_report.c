/* The report of a campaign: see campaign_report.h. */
#include "campaign_report.h"
#include <cli/campaign/campaign_file.h>
#include <cli/campaign/guarantee_report.h>
#include <cli/base/cli.h>
#include <cli/diagnose/print.h>
#include <cli/trace/early_timeouts.h>
#include <cli/trace/frames.h>
#include <cli/base/status_line.h>
#include <cli/base/wilson.h>
#include <cli/campaign/recorder.h>
#include <cli/trace/report.h>
#include "summary.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct printing {
    FILE *out;
    struct pct_store *store;
    uint64_t drawn; /* runs of which rates are */
    bool whole;
    char *innermost; /* frame of the thread that is being printed: a library's */
};

/* Of an exploration: how many schedules fail is no rate of anything. */
static bool is_exploration(struct pct_store *store)
{
    return *pct_store_fact(store, "bound");
}

/* The file may come from anybody: nothing of it is printed as it is. */
static void print_line(FILE *out, const char *text)
{
    pct_cli_print_clean(out, text, SIZE_MAX);
    fputc('\n', out);
}

static void print_exploration(FILE *out, struct pct_store *store, const struct pct_store_totals *totals)
{
    char duration[64];
    fputs("exploration of: ", out);
    pct_cli_print_clean(out, pct_store_fact(store, "command"), SIZE_MAX);
    fputc('\n', out);
    print_line(out, pct_store_fact(store, "spec"));
    fprintf(out, "%llu runs in %s: %llu failed, %llu finding%s; at most %u threads, %llu steps\n",
            (unsigned long long)totals->runs, pct_cli_format_duration(duration, sizeof duration, totals->seconds),
            (unsigned long long)totals->failures, (unsigned long long)totals->findings,
            totals->findings == 1 ? "" : "s", totals->max_threads, (unsigned long long)totals->max_steps);
    const char *verdict = pct_store_fact(store, "verdict");
    print_line(out, *verdict ? verdict : "not over: pct explore --resume goes on");
}

static void print_head(FILE *out, struct pct_store *store, const struct pct_store_totals *totals)
{
    char duration[64], date[64] = "?";
    time_t created = (time_t)pct_store_number(store, "created");
    struct tm when;
    if (gmtime_r(&created, &when))
        strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &when);
    unsigned long long seed = pct_store_number(store, "seed"), runs = pct_store_number(store, "runs");
    unsigned long long shard = pct_store_number(store, "shard"), of = pct_store_number(store, "of");
    fputs("campaign of: ", out);
    pct_cli_print_clean(out, pct_store_fact(store, "command"), SIZE_MAX);
    fputc('\n', out);
    pct_cli_print_clean(out, pct_store_fact(store, "spec"), SIZE_MAX);
    fprintf(out, ", seeds %llu to %llu", seed, seed + runs - 1);
    if (of > 1 && shard)
        fprintf(out, " (shard %llu of %llu)", shard, of);
    fprintf(out, ", begun %s\n", date);
    uint64_t share = shard ? pct_campaign_file_share(runs, shard, of) : runs;
    fprintf(out, "%llu of %llu runs in %s", (unsigned long long)totals->runs, (unsigned long long)share,
            pct_cli_format_duration(duration, sizeof duration, totals->seconds));
    if (totals->seconds > 0)
        fprintf(out, " (%.*f/s)", (double)totals->runs < 10 * totals->seconds, (double)totals->runs / totals->seconds);
    fprintf(out, ": %llu failed, %llu finding%s; at most n=%u, k=%llu\n", (unsigned long long)totals->failures,
            (unsigned long long)totals->findings, totals->findings == 1 ? "" : "s", totals->max_threads,
            (unsigned long long)totals->max_steps);
    fprintf(out, "coverage: %llu different schedule%s, %llu ordered pair%s of operations",
            (unsigned long long)totals->schedules, totals->schedules == 1 ? "" : "s", (unsigned long long)totals->pairs,
            totals->pairs == 1 ? "" : "s");
    if (totals->newest)
        fprintf(out, ", the last new one in run %llu of %llu", (unsigned long long)totals->newest,
                (unsigned long long)totals->runs);
    fputc('\n', out);
}

/* Where the campaign has looked at interleavings: maple's, and those with --sites. */
static int print_iroots(FILE *out, struct pct_store *store, const struct pct_store_totals *totals)
{
    struct pct_store_iroot_totals iroots;
    int failed = pct_store_iroot_totals(store, &iroots);
    if (failed || !pct_store_has_iroots(store))
        return failed;
    char text[320];
    fprintf(out, "iRoots: %s\n", pct_summary_format_iroots(text, sizeof text, &iroots, totals->runs));
    return 0;
}

enum { BEFORE_TITLE = 56, TITLE = 40 }; /* columns of the table */

/* What is no wider than this gets no columns. */
static bool is_narrow(FILE *out)
{
    const unsigned columns = pct_status_line_columns(out);
    return columns && columns < BEFORE_TITLE + TITLE;
}

static int print_row(void *data, const struct pct_store_finding *finding)
{
    const struct printing *p = data;
    struct pct_wilson rate = pct_wilson_wilson(finding->drawn, p->drawn);
    char is[24], low[24], high[24], interval[80], confirmed[24] = "-";
    *interval = 0;
    if (!is_exploration(p->store))
        snprintf(interval, sizeof interval, "%s (%s to %s)",
                 pct_wilson_percent(is, sizeof is, p->drawn ? (double)finding->drawn / (double)p->drawn : 0),
                 pct_wilson_percent(low, sizeof low, rate.low), pct_wilson_percent(high, sizeof high, rate.high));
    if (finding->replays)
        snprintf(confirmed, sizeof confirmed, "%u of %u", finding->same, finding->replays);
    struct pct_cli_narrow narrow;
    FILE *out = pct_cli_narrow_begin(&narrow, p->out);
    if (is_narrow(p->out))
        fprintf(out, "#%lld: %llu run%s%s%s, replays: %s; ", (long long)finding->id, (unsigned long long)finding->count,
                finding->count == 1 ? "" : "s", *interval ? ", rate: " : "", interval,
                finding->replays ? confirmed : "none");
    else
        fprintf(out, "%4lld  %8llu  %-28s  %-8s  ", (long long)finding->id, (unsigned long long)finding->count,
                interval, confirmed);
    print_line(out, finding->title);
    pct_cli_narrow_end(&narrow);
    return 0;
}

static void print_place(FILE *out, const struct pct_store_frame *frame)
{
    fprintf(out, "    #%-2u ", frame->level);
    pct_cli_print_clean(out, frame->function[0] ? frame->function : "?", SIZE_MAX);
    fputs(frame->file[0] ? "  at " : "  in ", out);
    pct_cli_print_clean(out, frame->file[0] ? frame->file : frame->module, SIZE_MAX);
    if (frame->file[0])
        fprintf(out, ":%d\n", frame->line);
    else
        fprintf(out, "+0x%llx\n", (unsigned long long)frame->offset);
}

/* What stands for a thread of which no frame is the program's own. */
static void end_thread(struct printing *p)
{
    if (p->innermost)
        fputs(p->innermost, p->out);
    free(p->innermost);
    p->innermost = NULL;
}

static int print_frame(void *data, const struct pct_store_frame *frame)
{
    struct printing *p = data;
    bool library = !pct_frames_all && pct_frame_is_library(frame->function, frame->file, frame->module);
    if (!frame->level) {
        end_thread(p);
        fprintf(p->out, "  thread %u", frame->thread);
        if (frame->doing[0])
            fputc(' ', p->out);
        pct_cli_print_clean(p->out, frame->doing, SIZE_MAX);
        fputs(":\n", p->out);
    }
    if (!library) {
        free(p->innermost);
        p->innermost = NULL;
        print_place(p->out, frame);
    } else if (!frame->level) {
        size_t size;
        FILE *text = open_memstream(&p->innermost, &size);
        if (text) {
            print_place(text, frame);
            fclose(text);
        }
    }
    return 0;
}

/* What the report of a run says of a thread that kept others from running. */
static void print_held(FILE *out, const char *report)
{
    char *text = pct_report_take_held(report);
    pct_cli_print_lines(out, text ? text : "", 2);
    free(text);
}

/* What the report of a run says of deadlines that came early. */
static void print_early(FILE *out, const char *report)
{
    const char *at = strstr(report, PCT_EARLY_TIMEOUTS_BEGINS);
    for (bool first = true; at && *at && (first || !strncmp(at, "    ", 4)); first = false) {
        size_t length = strcspn(at, "\n");
        fputs("  ", out);
        pct_cli_print_clean(out, at, length);
        fputc('\n', out);
        at += length + (at[length] == '\n');
    }
}

/* The hash is the last but one part of a token. */
static bool has_hash(const char *token)
{
    const char *check = strrchr(token, ':');
    return check && !(check - token >= 2 && check[-1] == '-' && check[-2] == ':');
}

static void print_confirmation(FILE *out, const struct pct_store_finding *finding)
{
    if (pct_recorder_never_replays(finding)) {
        fputs(*finding->token ? "  not replayed, as it would kill pct again\n"
                              : "  its schedule is too long for a token; its trace was kept instead\n",
              out);
        return;
    }
    if (!finding->replays) {
        fputs("  not yet replayed: the same command does that\n", out);
        return;
    }
    unsigned passed = finding->replays - finding->same - finding->other;
    fprintf(out, "  replayed %u times: %u failed the same way", finding->replays, finding->same);
    if (finding->other)
        fprintf(out, ", %u in another way", finding->other);
    if (passed)
        fprintf(out, ", %u did not fail", passed);
    if (has_hash(finding->token))
        fprintf(out, "; %u identical\n", finding->identical);
    else
        fputs("; a run that was killed has no hash to compare\n", out);
    if (finding->same == finding->replays)
        return;
    if (finding->uncontrolled[0]) {
        fputs("  not controlled by pct, so that a replay may differ:\n", out);
        pct_cli_print_lines(out, finding->uncontrolled, 4);
    } else {
        fputs("  pct saw nothing that it does not control. What is left: races between plain memory accesses with no "
              "call "
              "between them, input\n  or files that change from run to run, addresses, process ids, the CPU's clock\n",
              out);
    }
}

/* What is known of it: all but the command that replays it. */
static int print_known(struct printing *p, const struct pct_store_finding *finding)
{
    fprintf(p->out, "\nfinding %lld: ", (long long)finding->id);
    print_line(p->out, finding->title);
    size_t title, cause = p->whole ? 0 : pct_diagnosis_in_report(finding->report, &title);
    char *text = cause ? strndup(finding->report, cause) : NULL;
    pct_cli_print_lines(p->out, text ? text : "", 2);
    free(text);
    int failed = p->whole ? 0 : pct_store_each_frame(p->store, finding->id, print_frame, p);
    end_thread(p);
    if (failed)
        return -1;
    if (!p->whole)
        print_held(p->out, finding->report);
    print_early(p->out, finding->report);
    print_confirmation(p->out, finding);
    if (p->whole) {
        pct_cli_print_lines(p->out, finding->report, 2);
        char *output = pct_summary_output(finding);
        if (output && *output) {
            fputs("  what the target wrote:\n", p->out);
            pct_cli_print_lines(p->out, output, 4);
        }
        free(output);
    }
    return 0;
}

static int print_finding(void *data, const struct pct_store_finding *finding)
{
    const struct printing *p = data;
    struct printing known = *p;
    struct pct_cli_narrow narrow;
    known.out = pct_cli_narrow_begin(&narrow, p->out);
    int failed = print_known(&known, finding);
    pct_cli_narrow_end(&narrow);
    if (failed)
        return failed;
    fprintf(p->out, "this replays it (%s %llu):\n", is_exploration(p->store) ? "run" : "seed",
            (unsigned long long)finding->seed);
    pct_cli_print_quoted(p->out, pct_cli_program);
    fputc(' ', p->out);
    print_line(p->out, finding->replay);
    return 0;
}

static void print_worth(FILE *out, struct pct_store *store, const struct pct_store_totals *totals)
{
    static struct pct_campaign c; /* large */
    memset(&c, 0, sizeof c);
    if (!pct_campaign_file_restore(store, &c))
        return;
    struct pct_cli_narrow narrow;
    FILE *text = pct_cli_narrow_begin(&narrow, out);
    pct_report_print_uncontrolled(text, c.uncontrolled);
    if (!is_exploration(store) && !totals->failures && !totals->findings && totals->runs > 1)
        pct_guarantee_report_print(text, &c, false);
    pct_cli_narrow_end(&narrow);
}

int pct_campaign_report_print(FILE *out, struct pct_store *store, bool whole)
{
    struct pct_store_totals totals;
    int failed = pct_store_totals(store, &totals);
    if (failed)
        return failed;
    struct printing p = { .out = out, .store = store, .drawn = totals.drawn, .whole = whole };
    bool exploration = is_exploration(store);
    struct pct_cli_narrow narrow;
    FILE *head = pct_cli_narrow_begin(&narrow, out);
    if (exploration)
        print_exploration(head, store, &totals);
    else
        print_head(head, store, &totals);
    failed = print_iroots(head, store, &totals);
    pct_cli_narrow_end(&narrow);
    if (failed)
        return failed;
    if (totals.findings) {
        if (is_narrow(out))
            fputs(exploration ? "\n" : "\n(rates with their 95 % interval)\n", out);
        else
            fprintf(out, "\n%4s  %8s  %-28s  %-8s  %s\n", "#", "runs", exploration ? "" : "rate (95 % interval)",
                    "replays", "finding");
        failed = pct_store_each_finding(store, print_row, &p);
        if (!failed)
            failed = pct_store_each_finding(store, print_finding, &p);
    } else
        fputs(pct_recorder_is_open(store, totals.runs) ? "none of these failed\n" : "no failure\n", out);
    print_worth(out, store, &totals);
    return failed;
}
