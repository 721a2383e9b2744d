/* The report of a run: see report.h. */
#include "report.h"
#include <cli/base/cli.h>
#include <cli/base/color.h>
#include "early_timeouts.h"
#include "races.h"
#include <cli/binary/patch_plan.h>
#include "schedule.h"
#include "stacks.h"
#include <stdlib.h>
#include <string.h>

static void print_message(FILE *out, const char *before, const struct pct_trace_header *header)
{
    if (!header->message[0])
        return;
    fputs(before, out);
    pct_cli_print_clean(out, header->message, sizeof header->message);
}

static void print_culprit(FILE *out, const struct pct_trace_header *header)
{
    if (header->culprit != PCT_NO_THREAD)
        fprintf(out, " in thread %u", header->culprit);
}

void pct_report_print_verdict(FILE *out, const struct pct_trace *trace)
{
    const struct pct_trace_header *header = &trace->header;
    switch (header->verdict) {
    case PCT_VERDICT_RUNNING:
        fputs("the target was killed, or ended in a way that pct does not see, after the steps recorded here", out);
        break;
    case PCT_VERDICT_EXIT:
        if (header->exit_status == PCT_STATUS_UNKNOWN)
            fputs("a sanitizer ended the target after its report", out);
        else
            fprintf(out, "the target ended with exit status %d", header->exit_status);
        break;
    case PCT_VERDICT_CRASH: {
        const char *name = header->signal > 0 && header->signal < 65 ? sigdescr_np(header->signal) : NULL;
        fputs("crash", out);
        print_culprit(out, header);
        fprintf(out, ": signal %d (%s)", header->signal, name ? name : "unknown");
        print_message(out, ": ", header);
        break;
    }
    case PCT_VERDICT_ASSERTION:
        fputs("assertion failed", out);
        print_culprit(out, header);
        print_message(out, ": ", header);
        break;
    case PCT_VERDICT_DEADLOCK:
        fprintf(out, "deadlock: %s",
                strcmp(header->message, PCT_MESSAGE_CYCLE)
                    ? "no thread can go on, no timer is pending, and nothing outside can wake one"
                    : PCT_MESSAGE_CYCLE);
        break;
    case PCT_VERDICT_LIVELOCK:
        fputs("livelock", out);
        print_message(out, ": ", header);
        break;
    case PCT_VERDICT_DIVERGENCE:
        fputs("the replay left the recorded schedule", out);
        print_message(out, " ", header);
        break;
    case PCT_VERDICT_TIMEOUT:
        fputs("timeout: the target did not end in time", out);
        break;
    case PCT_VERDICT_RACE:
        fputs("data race: two accesses that nothing orders", out);
        break;
    default:
        fputs("internal error of pct", out);
        print_message(out, ": ", header);
    }
}

void pct_report_print_cycle(FILE *out, const struct pct_snapshot *snapshot, struct pct_unwinder *unwinder)
{
    enum { MOST = 64 };
    uint32_t ids[MOST];
    size_t count = pct_snapshot_cycle(snapshot, ids, MOST);
    if (!count) {
        fputs("no cycle: each blocked thread waits for something that no thread that is left will do\n", out);
        return;
    }
    fputs("the cycle:\n", out);
    for (size_t i = 0; i < count && i < MOST; i++) {
        const struct pct_snap_thread *thread = pct_snapshot_thread(snapshot, ids[i]);
        fprintf(out, "  thread %u ", ids[i]);
        pct_stacks_print_wait(out, snapshot, thread, unwinder);
        pct_stacks_print_place(out, unwinder, (size_t)(thread - snapshot->threads));
        fputc('\n', out);
    }
    if (count > MOST)
        fprintf(out, "  and %zu more\n", count - MOST);
}

static void print_facts(FILE *out, const struct pct_trace *trace)
{
    const struct pct_trace_header *header = &trace->header;
    fputs("strategy ", out);
    pct_cli_print_clean(out, header->strategy, sizeof header->strategy);
    fprintf(out, ", seed %llu", (unsigned long long)header->seed);
    if (header->verdict == PCT_VERDICT_RUNNING) {
        fprintf(out, ", %llu steps recorded\n", (unsigned long long)trace->count);
        return;
    }
    fprintf(out, "; threads %u, steps %llu, switches %llu, preemptions %llu, virtual time %.6f s\n", header->threads,
            (unsigned long long)header->steps, (unsigned long long)header->switches,
            (unsigned long long)header->preemptions, (double)header->virtual_ns / 1e9);
}

void pct_report_ask_command(const struct pct_trace *trace)
{
    pct_cli_say("no command is given; the trace was recorded with:");
    fputs("  ", stderr);
    pct_cli_print_clean(stderr, trace->header.command, sizeof trace->header.command);
    fputc('\n', stderr);
}

bool pct_report_several(FILE *out, const struct pct_trace *trace, char **orders)
{
    struct pct_snapshot snapshot;
    if (strcmp(trace->header.strategy, "script") != 0 || pct_snapshot_read(&snapshot, trace))
        return false;
    bool several = snapshot.script_parts;
    if (several && orders && snapshot.script_orders) {
        *orders = strdup(snapshot.script_orders);
        several = !*orders;
    }
    if (several) {
        fputs(
            "the trace has the steps of the first of several processes that a script ordered; this makes them again:\n",
            out);
        pct_cli_print_quoted(out, pct_cli_program);
        fputs(" script ", out);
        pct_cli_print_quoted(out, snapshot.script_name);
        fputs(" -- ", out);
        pct_cli_print_clean(out, trace->header.command, sizeof trace->header.command);
        fputc('\n', out);
    }
    pct_snapshot_free(&snapshot);
    return several;
}

static unsigned heading_of(unsigned kind)
{
    return kind == PCT_UNCONTROLLED_PRIORITY ? 2 : pct_name_is_blind(kind);
}

void pct_report_print_uncontrolled(FILE *out, const uint64_t *counts)
{
    static const char *const headings[] = {
        "not controlled by pct, so a replay may differ there:\n",
        "not seen by pct, so bugs there do not show (docs/MEMORY.md, docs/PATCHING.md):\n",
        "not respected by pct, so a failure may be impossible natively (docs/CONTROL.md):\n"
    };
    for (unsigned heading = 0; heading < sizeof headings / sizeof *headings; heading++) {
        bool any = false;
        for (unsigned i = 0; i < PCT_UNCONTROLLED_COUNT; i++) {
            if (!counts[i] || heading_of(i) != heading)
                continue;
            char *text = pct_name_uncontrolled_count(i, counts[i]);
            fprintf(out, "%s  %s\n", any ? "" : headings[heading], text ? text : "");
            any = true;
            free(text);
        }
    }
}

/* Where threads were stuck with the baton. */
static void print_places(FILE *out, const struct pct_trace_header *header)
{
    for (unsigned i = 0; i < PCT_PLACES && header->places[i].count; i++) {
        const struct pct_place *place = &header->places[i];
        if (place->kind == PCT_UNCONTROLLED_MODULE) {
            fputs("  ", out);
            pct_cli_print_clean(out, place->where, sizeof place->where);
            fprintf(out, " was not patched: %s\n", pct_plan_refusal((unsigned)place->call));
            continue;
        }
        fprintf(out, "  thread %u ", place->thread);
        if (place->kind == PCT_UNCONTROLLED_SLEPT && place->call < 0)
            fputs("slept at an access to memory that waits to be filled (userfaultfd)", out);
        else if (place->kind == PCT_UNCONTROLLED_SLEPT)
            fprintf(out, "slept in system call %d", place->call);
        else
            fputs(place->kind == PCT_UNCONTROLLED_SPUN ? "spun" : "ran long", out);
        fprintf(out, " %llu time%s, at ", (unsigned long long)place->count, place->count == 1 ? "" : "s");
        pct_cli_print_clean(out, place->where, sizeof place->where);
        fputc('\n', out);
    }
}

#define HELD " ms without a call while others could go on, which natively they do: "

/* A time limit's own message says it. */
void pct_report_print_held(FILE *out, const struct pct_trace_header *header)
{
    if (header->held_ms && header->verdict != PCT_VERDICT_TIMEOUT)
        fprintf(out,
                "thread %u computed for %u" HELD "should it wait in a\nloop that counts, PCT_WATCHDOG=MILLISECONDS "
                "lets them\n",
                header->held_by, header->held_ms);
}

char *pct_report_take_held(const char *report)
{
    const char *begin = strstr(report, HELD);
    if (!begin)
        return NULL;
    while (begin > report && begin[-1] != '\n')
        begin--;
    size_t line = strcspn(begin, "\n"), length = line;
    if (begin[line])
        length += 1 + strcspn(begin + line + 1, "\n");
    char *text = strndup(begin, length);
    if (text && line < length)
        text[line] = ' ';
    return text;
}

static void print_steps(FILE *out, const struct pct_trace *trace, const struct pct_snapshot *snapshot, uint64_t from)
{
    if (!trace->count)
        return;
    uint64_t total = pct_trace_steps(trace);
    if (!from && trace->count == total)
        fprintf(out, total == 1 ? "its only step:\n" : "all %llu steps:\n", (unsigned long long)total);
    else if (trace->complete || trace->first + trace->count == total)
        fprintf(out, "the last %llu of %llu steps:\n", (unsigned long long)(trace->count - from),
                (unsigned long long)total);
    else
        fprintf(out, "only the first %llu of %llu steps were recorded; the last of those:\n",
                (unsigned long long)trace->count, (unsigned long long)trace->header.steps);
    pct_schedule_print_last(out, trace, snapshot, from);
}

/* In one line, coloured. */
static void print_headline(FILE *out, const struct pct_trace *trace, const char *headline)
{
    struct pct_cli_narrow narrow;
    pct_color(out, PCT_COLOR_BAD);
    FILE *text = pct_cli_narrow_begin(&narrow, out);
    if (headline)
        pct_cli_print_clean(text, headline, SIZE_MAX);
    else
        pct_report_print_verdict(text, trace);
    pct_cli_narrow_end(&narrow);
    pct_color(out, PCT_COLOR_NONE);
    fputc('\n', out);
}

static void print_notes(FILE *out, const struct pct_trace *trace)
{
    pct_report_print_uncontrolled(out, trace->header.uncontrolled);
    print_places(out, &trace->header);
    if (trace->note[0])
        fprintf(out, "note: %s\n", trace->note); /* our own words */
    unsigned verdict = trace->header.verdict;
    if (verdict == PCT_VERDICT_RUNNING || verdict == PCT_VERDICT_EXIT || verdict == PCT_VERDICT_TIMEOUT ||
        (verdict == PCT_VERDICT_DEADLOCK && strcmp(trace->header.message, PCT_MESSAGE_CYCLE) != 0)) {
        print_message(out, "note: ", &trace->header);
        if (trace->header.message[0])
            fputc('\n', out);
    }
}

void pct_report_print(FILE *out, const struct pct_trace *trace, const char *headline, uint64_t lines)
{
    struct pct_snapshot snapshot;
    struct pct_cli_narrow narrow;
    uint64_t from = pct_schedule_last(trace, lines);
    if (pct_snapshot_read(&snapshot, trace)) {
        pct_cli_say("out of memory");
        return;
    }
    pct_schedule_fill_holders(&snapshot, trace);
    print_headline(out, trace, headline);
    FILE *text = pct_cli_narrow_begin(&narrow, out);
    print_facts(text, trace);
    pct_early_timeouts_print(text, trace);
    pct_report_print_held(text, &trace->header);
    struct pct_unwinder *unwinder = NULL;
    if (snapshot.thread_count || snapshot.race_count) {
        unwinder = pct_unwind_open(&snapshot);
        if (trace->header.verdict == PCT_VERDICT_DEADLOCK)
            pct_report_print_cycle(text, &snapshot, unwinder);
        pct_races_print(text, &snapshot, unwinder);
        pct_stacks_print(text, trace, &snapshot, unwinder);
    }
    pct_races_print_suppressed(text, trace->header.suppressed);
    pct_cli_narrow_end(&narrow);
    if (lines)
        print_steps(out, trace, &snapshot, from);
    text = pct_cli_narrow_begin(&narrow, out);
    if (lines)
        pct_stacks_print_objects(text, trace, &snapshot, unwinder, from);
    pct_unwind_close(unwinder);
    print_notes(text, trace);
    pct_cli_narrow_end(&narrow);
    pct_snapshot_free(&snapshot);
}

void pct_report_print_ending(FILE *out, const struct pct_trace *trace, const char *headline)
{
    struct pct_snapshot snapshot;
    print_headline(out, trace, headline);
    if (trace->header.verdict != PCT_VERDICT_DEADLOCK || pct_snapshot_read(&snapshot, trace))
        return;
    pct_schedule_fill_holders(&snapshot, trace);
    if (snapshot.thread_count)
        pct_report_print_cycle(out, &snapshot, NULL);
    pct_snapshot_free(&snapshot);
}

void pct_report_print_races(FILE *out, const struct pct_trace *trace)
{
    struct pct_snapshot snapshot;
    if (pct_snapshot_read(&snapshot, trace)) {
        pct_cli_say("out of memory");
        return;
    }
    struct pct_unwinder *unwinder = pct_unwind_open(&snapshot);
    pct_races_print(out, &snapshot, unwinder);
    pct_unwind_close(unwinder);
    pct_snapshot_free(&snapshot);
}

void pct_report_print_ops(FILE *out, const struct pct_trace *trace)
{
    bool seen[PCT_OP_COUNT] = { false };
    for (uint64_t i = 0; i < trace->count; i++)
        seen[PCT_RECORD_OP(trace->records[i])] = true;
    for (unsigned i = 0; i < PCT_OP_COUNT; i++)
        if (seen[i])
            fprintf(out, "%s\n", pct_name_op_identifier(i));
}
