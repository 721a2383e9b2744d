/* `pct explain`: why a run fails, on one screen. First by rules, from the one run and some that pass
 * (cli/campaign/diagnosing.h). With --search, or where no rule fits: the orderings that the bug needs, with stacks;
 * what is left of each thread; the schedule around them, and the one nearest to it that passes. Everything that is
 * looked up for that stands in analysis.c. */
#include <cli/analyze/analysis.h>
#include <cli/base/cli.h>
#include <cli/base/replacement.h>
#include <cli/base/status_line.h>
#include <cli/binary/memory_advice.h>
#include <cli/campaign/closer.h>
#include <cli/campaign/outcome.h>
#include <cli/analyze/queries.h>
#include <cli/process/hosts.h>
#include <cli/process/options.h>
#include <cli/process/settings.h>
#include "explain_beside.h"
#include "explain_exact.h"
#include "explain_family.h"
#include "explain_script.h"
#include "explain_json.h"
#include "forced.h"
#include "parse.h"
#include <cli/trace/races.h>
#include <cli/trace/report.h>
#include <cli/trace/schedule.h>
#include <cli/trace/stacks.h>
#include <cli/trace/trace_read.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRAMES = 4, /* of a stack */
    AROUND = 1, /* steps before and after a critical one */
    OTHERS = 6  /* threads whose end is told */
};

enum { KEY_SEARCH = 4000, KEY_ALL, KEY_SCRIPT, KEY_JSON };

static const struct argp_option options[] = {
    { "search", KEY_SEARCH, NULL, 0,
      "make the failing schedule small, and look for the orderings that the bug needs, by hundreds of runs", 1 },
    { "script", KEY_SCRIPT, "FILE", 0,
      "with what --search does: write the orderings as a script for `pct script`, by names, and try it", 1 },
    { "all", KEY_ALL, NULL, 0, "the three best diagnoses, with their steps", 1 },
    { "json", KEY_JSON, NULL, 0, "write it as JSON (docs/DIAGNOSIS.md), to standard output", 1 },
    { 0 },
};

struct explain {
    struct pct_analysis analysis;
    struct pct_diagnosing diagnosing;
    struct pct_closer closer;
    bool search, all, json;
    const char *script; /* a file to write, or NULL */
};

/* The diagnosis that is told. */
static const struct pct_diagnosing *told(const struct explain *e)
{
    return e->closer.better ? &e->closer.diagnosing : &e->diagnosing;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct explain *e = state->input;
    const struct pct_setting settings[] = {
        { ARGP_KEY_INIT, .inputs = (void *[]){ &e->analysis.shrink, NULL } },
        { KEY_SEARCH, .on = &e->search },
        { KEY_SCRIPT, .text = &e->script, .on = &e->search },
        { KEY_ALL, .on = &e->all },
        { KEY_JSON, .on = &e->json },
        { 0 },
    };
    return pct_settings_take(settings, options, key, argument, state) ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "TOKEN|FILE [--] COMMAND [ARGUMENT...]",
    .doc = "Say why the run of this token fails (or of a trace, or of a schedule that `pct minimize` wrote), by rules "
           "that know how concurrent programs go wrong. Where none fits, or with --search: which operations came in an "
           "order that the program does not survive, where they stand in the source, and how a run that passes "
           "differs.\vThe exit status is 0 if there was something to explain, 122 if the run does not fail any more.",
    .children = pct_shrink_options,
};

/* An operation and where it was made. */
static void print_event(FILE *out, const struct pct_narrative *narrative, const struct pct_event *event)
{
    char text[800];
    fprintf(out, "thread %u: ", event->thread);
    pct_cli_print_clean(out, pct_narrative_operation(narrative, text, sizeof text, event), sizeof text);
    if (event->step == PCT_STEP_PENDING)
        fputs(", for which it waits", out);
    else if (event->step == PCT_STEP_LATER)
        fputs(", which it did not come to", out);
    if (event->step < PCT_STEP_LATER)
        fprintf(out, " (step %llu)", (unsigned long long)event->step + 1);
    fputc('\n', out);
    pct_narrative_print_stack(narrative, out, event, "         ", FRAMES);
}

/* The way on where an order of accesses to memory may decide it, and none of them was a step. */
static void print_unseen(FILE *out, const struct pct_analysis *q)
{
    if (q->narrative.trace->header.threads > 1 &&
        pct_memory_is_unseen(&q->shrink.runs.config, q->shrink.runs.launch.command[0]))
        fputs("To see its accesses to memory, explain a failure under --memory=all, or of a build by pct-cc.\n", out);
}

static void print_needs(FILE *out, const struct pct_analysis *q)
{
    const struct pct_depth *depth = &q->depth;
    if (!depth->measured && q->shrink.runs.late) {
        fprintf(out,
                "\nThe orderings that it needs were not found: %s (--seconds=%.0f). Give more, or explain the token "
                "below.\n",
                pct_query_runs_why(&q->shrink.runs), q->shrink.runs.seconds);
        return;
    }
    if (!depth->measured && depth->left_out) {
        fprintf(out,
                "\nThe run is long: the last %zu of its %zu orderings do not decide it alone, and earlier ones are not "
                "considered.\n",
                depth->candidates, depth->candidates + depth->left_out);
        return;
    }
    if (!depth->measured && !depth->of) {
        fprintf(out,
                "\nWhat it needs was not found: no schedule could be made that keeps to all of its %zu orderings.\n",
                depth->candidates);
        return;
    }
    if (!depth->measured) {
        fprintf(
            out,
            "\nThe order of calls does not decide it alone: %u of %u schedules that keep to all of its %zu orderings "
            "passed.\nA race on plain memory, time or input plays a part.\n",
            depth->of - depth->failed, depth->of, depth->candidates);
        print_unseen(out, q);
        return;
    }
    if (!depth->count) {
        fprintf(out, "\nNo ordering is needed: %u of %u random schedules fail%s.\n", depth->failed, depth->of,
                q->shrink.runs.rate < 1 ? ", about as often as the one that was found" : "");
        print_unseen(out, q);
        return;
    }
    fprintf(out, "\nIt needs %s (depth %zu; %u of %u schedules that keep to %s fail):\n",
            depth->count == 1 ? "this ordering" : "these orderings", depth->count, depth->failed, depth->of,
            depth->count == 1 ? "it" : "them");
    for (size_t i = 0; i < depth->count; i++) {
        const struct pct_need *need = &depth->needs[i];
        fprintf(out, "  %zu. ", i + 1);
        print_event(out, &q->narrative, &need->order.first);
        fputs(need->order.wake ? "     wakes, of those that wait, " : "     before ", out);
        print_event(out, &q->narrative, &need->order.then);
        pct_analysis_print_negated(out, q, need);
    }
}

/* Of each thread of a deadlock's cycle, where it waits, and where it locked what the one before it waits for. */
static void print_cycle(FILE *out, const struct pct_narrative *narrative)
{
    const struct pct_snapshot *snapshot = &narrative->snapshot;
    uint32_t ids[PCT_CYCLE_MOST];
    size_t count = pct_snapshot_cycle(snapshot, ids, PCT_CYCLE_MOST);
    if (count < 2) {
        pct_report_print_cycle(out, snapshot, narrative->unwinder);
        return;
    }
    fputs("the cycle:\n", out);
    for (size_t i = 0; i < count && i < PCT_CYCLE_MOST; i++) {
        const struct pct_snap_thread *thread = pct_snapshot_thread(snapshot, ids[i]);
        struct pct_event waits = { .thread = ids[i], .op = thread->op, .step = PCT_STEP_PENDING };
        uint64_t lock = pct_narrative_find_lock(narrative, pct_snapshot_waits_for(snapshot, thread), thread);
        fprintf(out, "  thread %u ", ids[i]);
        pct_stacks_print_wait(out, snapshot, thread, narrative->unwinder);
        fputs(":\n", out);
        pct_narrative_print_stack(narrative, out, &waits, "         ", FRAMES);
        if (lock == narrative->trace->count)
            continue;
        struct pct_event event = pct_narrative_event(narrative, lock);
        fprintf(out, "    which thread %u has held since step %llu:\n", event.thread, (unsigned long long)lock + 1);
        pct_narrative_print_stack(narrative, out, &event, "         ", FRAMES);
    }
    if (count > PCT_CYCLE_MOST)
        fprintf(out, "  and %zu more\n", count - PCT_CYCLE_MOST);
}

/* What became of the others. */
static void print_meanwhile(FILE *out, const struct pct_narrative *narrative)
{
    const struct pct_snapshot *snapshot = &narrative->snapshot;
    unsigned told = 0;
    size_t count = snapshot->thread_count;
    for (size_t i = 0; i < 2 * count && told < OTHERS; i++) {
        bool joins = i >= count;
        size_t index = joins ? i - count : i;
        const struct pct_snap_thread *thread = &snapshot->threads[index];
        if (thread->id == narrative->trace->header.culprit || thread->state == PCT_SNAP_FINISHED ||
            pct_stacks_is_joining(snapshot, thread) != joins)
            continue;
        fprintf(out, "%s thread %u ", told++ ? "          " : "Meanwhile,", thread->id);
        if (thread->state == PCT_SNAP_BLOCKED)
            pct_stacks_print_wait(out, snapshot, thread, narrative->unwinder);
        else if (thread->op == PCT_OP_EXIT)
            fputs("is ending the process", out);
        else
            fprintf(out, "is before: %s", pct_name_op(thread->op));
        pct_stacks_print_place(out, narrative->unwinder, index);
        fputc('\n', out);
    }
}

/* The objects of the steps that are shown, by name. */
static void print_objects(FILE *out, const struct pct_narrative *narrative, const bool *show)
{
    char name[600];
    bool any = false;
    for (uint64_t i = 0; i < narrative->trace->count; i++) {
        struct pct_event event = pct_narrative_event(narrative, i);
        bool seen = !show[i];
        for (uint64_t before = 0; before < i && !seen; before++)
            seen = show[before] && PCT_RECORD_OBJECT(narrative->trace->records[before]) == event.object &&
                   pct_name_op_class(PCT_RECORD_OP(narrative->trace->records[before])) == pct_name_op_class(event.op);
        if (seen || !*pct_narrative_object(narrative, name, sizeof name, &event))
            continue;
        fprintf(out, "%s %s %u: ", any ? ";" : "Objects:", pct_name_class(pct_name_op_class(event.op)), event.object);
        pct_cli_print_clean(out, name, sizeof name);
        any = true;
    }
    if (any)
        fputc('\n', out);
}

/* The steps to show: critical ones, which are marked, and those around them. */
static void choose_steps(const struct pct_analysis *q, bool *show, bool *mark)
{
    const struct pct_trace *trace = q->narrative.trace;
    for (size_t i = 0; i < 2 * q->depth.count; i++) {
        const struct pct_order *order = &q->depth.needs[i / 2].order;
        uint64_t step = i % 2 ? order->then.step : order->first.step;
        if (step < trace->count)
            mark[step] = true;
    }
    for (size_t i = 0; i < 2 * q->narrative.snapshot.race_count; i++) {
        uint64_t step = q->narrative.snapshot.races[i / 2].access[i % 2].step; /* from 1 */
        if (step && step <= trace->count)
            mark[step - 1] = true;
    }
    bool *critical = calloc(trace->count + 1, sizeof *critical);
    for (uint64_t i = 0; critical && i < trace->count; i++)
        critical[i] = mark[i];
    for (size_t i = 0; critical && i < q->shrink.minimal.count; i++) {
        const struct pct_switch *item = &q->shrink.minimal.item[i];
        uint64_t step = pct_narrative_find(&q->narrative, item->thread, item->made + item->wake);
        if (step < trace->count)
            critical[step] = true;
    }
    for (uint64_t i = 0; critical && i < trace->count; i++)
        for (uint64_t near = i > AROUND ? i - AROUND : 0; near <= i + AROUND && near < trace->count; near++)
            show[i] = show[i] || critical[near] || i + 3 > trace->count;
    free(critical);
}

static void print_schedule(FILE *out, const struct pct_analysis *q)
{
    const struct pct_trace *trace = q->narrative.trace;
    bool *show = calloc(trace->count + 1, sizeof *show), *mark = calloc(trace->count + 1, sizeof *mark);
    if (show && mark) {
        struct pct_cli_narrow narrow;
        FILE *text = pct_cli_narrow_begin(&narrow, out);
        choose_steps(q, show, mark);
        fprintf(text,
                "\nThe smallest schedule that fails (%llu preemption%s, %llu steps; * are the operations above):\n",
                (unsigned long long)q->shrink.minimal_preemptions, q->shrink.minimal_preemptions == 1 ? "" : "s",
                (unsigned long long)q->shrink.minimal_steps);
        pct_cli_narrow_end(&narrow);
        pct_schedule_print_some(out, trace, &q->narrative.snapshot, show, mark);
        print_objects(pct_cli_narrow_begin(&narrow, out), &q->narrative, show);
        pct_cli_narrow_end(&narrow);
    }
    free(show);
    free(mark);
}

static void print_command(FILE *out, const struct pct_analysis *q, const struct pct_query_run *run, const char *token)
{
    pct_cli_print_quoted(out, pct_cli_program);
    fputs(" replay ", out);
    pct_options_print(out, &q->shrink.runs.launch, &run->process, false);
    pct_cli_print_quoted(out, token);
    fputs(" -- ", out);
    pct_cli_print_command(out, run->process.command);
    fputc('\n', out);
}

static void print_commands(FILE *out, const struct pct_analysis *q)
{
    /* There is no smallest one where the time was over before a run by it had failed again. */
    const bool small = q->shrink.token != NULL;
    fputs(small ? "\nThis replays the smallest schedule:\n" : "\nThis replays the run:\n", out);
    print_command(out, q, &q->run, small ? q->shrink.token : q->shrink.given);
    if (!q->passes)
        return;
    fputs("and this the one that passes:\n", out);
    print_command(out, q, &q->pass_run, q->pass.trace->header.token);
}

/* The run as it was given, and the commands that go on from here: of a recorded one, which its token alone does not
 * make again, the replay. */
static void print_given(FILE *out, const struct explain *e)
{
    static const char *const commands[2] = { "explain --search", "replay" };
    const struct pct_shrink *shrink = &e->analysis.shrink;
    const struct pct_launch *launch = &shrink->runs.launch;
    const struct pct_process *process = &told(e)->run.process;
    bool recorded = told(e)->replay;
    fputc('\n', out);
    for (unsigned i = recorded; i < 2; i++) {
        pct_cli_wrap(out,
                     !i         ? "This looks for the smallest schedule that fails:\n"
                     : recorded ? "This replays the run:\n"
                                : "and this replays the run:\n",
                     pct_status_line_columns(out), 0, 4);
        pct_cli_print_quoted(out, pct_cli_program);
        fprintf(out, " %s ", commands[i]);
        pct_options_print(out, launch, process, false);
        pct_cli_print_quoted(out, recorded ? shrink->name : shrink->given);
        fputs(" -- ", out);
        pct_cli_print_command(out, process->command ? process->command : launch->command);
        fputc('\n', out);
    }
}

/* The same as JSON; d: by rules, NULL: by a search. process: NULL: a trace is all that there is. */
static int write_json(const struct explain *e, const struct pct_diagnosing *d, const struct pct_trace *trace,
                      const struct pct_process *process, const struct pct_result *result)
{
    char headline[512];
    bool has_headline = process && pct_outcome_headline(headline, sizeof headline, process, result);
    const struct pct_shrink *shrink = &e->analysis.shrink;
    const struct pct_query_runs *runs = &shrink->runs;
    char *replay = NULL;
    size_t size;
    FILE *out = open_memstream(&replay, &size);
    if (!out)
        return pct_cli_no_memory("");
    pct_cli_print_quoted(out, pct_cli_program);
    fputs(" replay ", out);
    pct_options_print(out, &runs->launch, d ? &told(e)->run.process : &e->analysis.run.process, false);
    pct_cli_print_quoted(out, d && told(e)->replay ? shrink->name : pct_shrink_token_of_run(shrink));
    fputs(" -- ", out);
    pct_cli_print_command(out, runs->launch.command);
    int failed = fclose(out) ? pct_cli_no_memory("")
                             : pct_explain_json(&e->analysis, d, trace, has_headline ? headline : NULL, replay);
    free(replay);
    return failed;
}

/* How it ended: the client's failure is the run's, whatever the server's trace says. */
static void print_verdict(const struct pct_process *process, const struct pct_result *result)
{
    char headline[512];
    struct pct_cli_narrow narrow;
    FILE *out = pct_cli_narrow_begin(&narrow, stdout);
    if (pct_outcome_headline(headline, sizeof headline, process, result))
        pct_cli_print_clean(out, headline, sizeof headline);
    else
        pct_report_print_verdict(out, &result->trace);
    fputc('\n', out);
    pct_cli_narrow_end(&narrow);
}

/* Of a run of maple: what it was to force, as far as this trace, of it or of a smaller one, has been there. */
static void print_forced(const struct explain *e, const struct pct_trace *trace)
{
    struct pct_cli_narrow narrow;
    pct_forced_print(pct_cli_narrow_begin(&narrow, stdout), pct_shrink_token_of_run(&e->analysis.shrink), trace);
    pct_cli_narrow_end(&narrow);
}

enum {
    SHARE = 4,   /* of the time that is left: something may have to follow */
    PATIENCE = 2 /* on a busy machine, so that it ends within that time all the same */
};

/* How far the runs are that tell the cause. */
static void draw(void *context, uint64_t made)
{
    struct pct_query_runs *runs = context;
    struct pct_query_progress *p = &runs->progress;
    runs->made += made - p->runs;
    p->runs = made;
    pct_query_runs_draw_progress(runs);
}

/* Explain it by rules: the run of the token, or the recorded one. *done: there was something to say. */
static int diagnose(struct explain *e, bool recorded, bool *done)
{
    enum { OTHERS = 40 };
    struct pct_shrink *shrink = &e->analysis.shrink;
    struct pct_query_runs *runs = &shrink->runs;
    struct pct_diagnosing *d = &e->diagnosing;
    double left = pct_query_runs_left(runs);
    *d = (struct pct_diagnosing){ .launch = &runs->launch,
                                  .jobs = runs->jobs,
                                  .token = recorded ? shrink->recorded : shrink->given,
                                  .replay = recorded ? shrink->name : NULL,
                                  .others = OTHERS,
                                  .seconds = left / SHARE,
                                  .patience = PATIENCE,
                                  .tell = draw,
                                  .context = runs };
    pct_queries_step(runs, "diagnosing it", 0);
    int failed = pct_diagnosing_run(d);
    if (!failed && pct_closer_helps(d)) {
        pct_queries_step(runs, "looking at accesses to memory", 0);
        failed = pct_closer_look(&e->closer, d, pct_query_runs_left(runs) / SHARE);
    }
    pct_status_line_clear(runs->progress.quiet);
    if (e->closer.better) {
        pct_cli_say(
            "no rule fits well: this explains another run, which fails in the same way and shows accesses to memory");
        shrink->given = e->closer.token;
        d = &e->closer.diagnosing;
    }
    /* A search would compare it with runs that have other numbers. */
    const struct pct_evidence *evidence = &d->evidence;
    bool numbers = pct_evidence_by_choices(evidence) ||
                   (evidence->drawn >= PCT_EVIDENCE_DRAWN && pct_evidence_by_numbers(evidence));
    /* Nor could it find an order that passes where no run does, and all of them fail alike. */
    bool alike = pct_evidence_all_fail(evidence) && evidence->failing > evidence->made;
    *done = d->known || (d->have && (evidence->one_schedule || ((numbers || alike) && !e->json)));
    pct_diagnosing_say_interrupted(d);
    if (!*done && d->too_long && !e->json)
        pct_diagnosing_print(stdout, d, e->all);
    if (!*done)
        return failed;
    if (e->json)
        return write_json(e, d, &d->run.result.trace, &d->run.process, &d->run.result);
    const struct pct_history *history = &d->history;
    print_verdict(&d->run.process, &d->run.result);
    print_forced(e, &d->run.result.trace);
    fputc('\n', stdout);
    if (!history->unwinder)
        fputs("(no names: the memory map of the run cannot be read)\n", stdout);
    pct_diagnosing_print(stdout, d, e->all);
    struct pct_cli_narrow narrow;
    pct_races_print(pct_cli_narrow_begin(&narrow, stdout), &history->snapshot, history->unwinder);
    pct_cli_narrow_end(&narrow);
    if (!failed && !recorded && !evidence->one_schedule)
        failed = pct_explain_exact(stdout, d, pct_query_runs_left(runs) / SHARE);
    print_given(stdout, e);
    return failed;
}

/* What its trace alone tells, as JSON. */
static int write_recorded_json(const struct explain *e, const struct pct_trace *trace)
{
    static struct pct_diagnosing d; /* large */
    pct_diagnosing_of_trace(&d, trace);
    int failed = write_json(e, &d, trace, NULL, NULL);
    pct_diagnosing_close(&d);
    return failed;
}

/* A recorded run that does not come again from its token: what came from outside is in the trace only. *done: there was
 * something to say. */
static int explain_recorded(struct explain *e, bool *done)
{
    static struct pct_trace trace; /* large */
    const struct pct_shrink *shrink = &e->analysis.shrink;
    char error[512];
    pct_cli_say("so the recorded run is explained, as it was");
    int failed = diagnose(e, true, done);
    if (failed || *done || pct_trace_open(&trace, shrink->name, error, sizeof error) != PCT_TRACE_GOOD)
        return failed;
    if (trace.header.verdict == PCT_VERDICT_EXIT && !trace.header.exit_status)
        pct_cli_say("the target itself did not fail in it; that a client did is not in a trace: give --ready and "
                    "--drive, as when the failure was found");
    if (e->json) {
        failed = write_recorded_json(e, &trace);
    } else {
        pct_diagnosing_recorded(stdout, &trace, e->all);
        pct_report_print(stdout, &trace, NULL, PCT_REPORT_LINES);
    }
    pct_trace_close(&trace);
    if (!e->json)
        print_given(stdout, e);
    *done = true;
    return failed;
}

/* A script of what other processes do, too: where there are such, the schedule of the first does not decide it alone.
 * failed: the status without one. */
static int write_family(struct explain *e, int failed)
{
    bool found;
    e->analysis.shrink.runs.status = 0;
    int status = pct_explain_family(&e->analysis.shrink, e->script, &found);
    if (!status && !found)
        pct_cli_say("no script was written: the program does not fail under one that has the turns of the threads of "
                    "each of its processes, or no other process has threads");
    return status || found ? status : failed;
}

static int write_script(struct explain *e)
{
    bool found;
    int failed = pct_explain_script(&e->analysis, e->script, &found);
    if (!failed && !found)
        failed = pct_explain_family(&e->analysis.shrink, e->script, &found);
    if (!failed && !found)
        puts(
            "\nNo script was written: the program does not fail under one that keeps to these orderings, nor under one "
            "that has the schedule turn by turn.");
    return failed;
}

/* Explain it by hundreds of runs. */
static int search(struct explain *e)
{
    struct pct_analysis *q = &e->analysis;
    int failed = pct_analysis_run(q, true, true);
    if (failed == PCT_EXIT_DIVERGENCE && e->script && !q->shrink.runs.interrupted)
        return write_family(e, failed);
    if (failed)
        return failed;
    if (e->json)
        return write_json(e, NULL, q->narrative.trace, &q->run.process, &q->run.result);
    const struct pct_trace *trace = q->narrative.trace;
    print_verdict(&q->run.process, &q->run.result);
    print_forced(e, trace);
    struct pct_cli_narrow narrow;
    FILE *out = pct_cli_narrow_begin(&narrow, stdout);
    if (!q->narrative.unwinder)
        fputs("(no names: the memory map of the run cannot be read)\n", out);
    if (trace->header.verdict == PCT_VERDICT_DEADLOCK)
        print_cycle(out, &q->narrative);
    else
        print_meanwhile(out, &q->narrative);
    pct_report_print_held(out, &trace->header);
    pct_races_print(out, &q->narrative.snapshot, q->narrative.unwinder);
    print_needs(out, q);
    pct_cli_narrow_end(&narrow);
    print_schedule(stdout, q);
    pct_explain_beside(stdout, q);
    print_commands(stdout, q);
    pct_hosts_print(stderr, &q->shrink.runs.launch);
    return e->script ? write_script(e) : 0;
}

int pct_cmd_explain(int argc, char **argv)
{
    static struct explain e;
    bool done = false;
    struct pct_shrink *shrink = &e.analysis.shrink;
    pct_parse(&argp, argc, argv, 1, &e);
    if (e.json && e.script)
        return pct_cli_usage("--json and --script exclude each other: both are what is written");
    int failed = e.script ? pct_replacement_check(e.script) : 0;
    if (failed)
        return pct_cli_usage("--script: %s: %s", e.script, strerror(-failed));
    failed = pct_shrink_open(shrink);
    if (failed == PCT_EXIT_DIVERGENCE && shrink->recorded[0])
        failed = explain_recorded(&e, &done);
    else if (!failed && !e.search)
        failed = diagnose(&e, false, &done);
    if (!failed && !done)
        failed = search(&e);
    if (failed && !done && (shrink->runs.late || e.diagnosing.interrupted) && shrink->given)
        print_given(stdout, &e);
    failed = failed ? failed : pct_query_runs_status(&shrink->runs);
    pct_diagnosing_close(&e.diagnosing);
    pct_closer_close(&e.closer);
    pct_analysis_close(&e.analysis);
    return failed;
}
