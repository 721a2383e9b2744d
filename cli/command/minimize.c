/* `pct minimize`: the smallest schedule that still fails, and how many orderings the bug needs. */
#include <cli/binary/code_hash.h>
#include <cli/analyze/analysis.h>
#include <cli/base/markup.h>
#include <cli/base/replacement.h>
#include <cli/process/hosts.h>
#include <cli/process/options.h>
#include <cli/process/settings.h>
#include "parse.h"
#include <cli/trace/schedule_file.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_NO_DEPTH = 4000 };

static const struct argp_option options[] = {
    { "output", 'o', "FILE", 0, "write the schedule as text, a line a switch: `pct replay FILE` follows it", 1 },
    { "no-depth", KEY_NO_DEPTH, NULL, 0, "do not measure which orderings the bug needs", 1 },
    { "quiet", 'q', NULL, 0, "print only the token of the smallest schedule, on standard output", 1 },
    { 0 },
};

struct minimize {
    struct pct_analysis analysis;
    const char *output;
    bool depth, quiet;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct minimize *m = state->input;
    const struct pct_setting settings[] = {
        { ARGP_KEY_INIT, .inputs = (void *[]){ &m->analysis.shrink, NULL } },
        { 'o', .text = &m->output },
        { 'q', .on = &m->quiet },
        { KEY_NO_DEPTH, .off = &m->depth },
        { 0 },
    };
    return pct_settings_take(settings, options, key, argument, state) ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "TOKEN|FILE [--] COMMAND [ARGUMENT...]",
    .doc = "Find the smallest schedule that fails like the run of this token (or of a trace, or of a schedule that an "
           "earlier "
           "minimize wrote), and measure the depth of the bug: the orderings of two operations that it needs.\v"
           "The exit status is 0 if there is a smaller schedule now, 122 if the run does not fail any more.",
    .children = pct_shrink_options,
};

/* Whether this name can be a word of a line, and no terminal and no log obeys it. */
static bool is_word(const char *name)
{
    uint32_t code;
    for (size_t left = strlen(name), length; left; name += length, left -= length) {
        length = pct_markup_character(name, left, &code);
        if (!length || code <= ' ' || code == '#' || !pct_markup_is_harmless(code))
            return false;
    }
    return true;
}

/* The functions that the run calls pct from: code that is as it was may still fail by this schedule. */
static void write_functions(FILE *out, const struct pct_analysis *q)
{
    enum { MOST = 200 };
    const struct pct_narrative *narrative = &q->narrative;
    const char *program = q->shrink.runs.launch.program, *slash = strrchr(program, '/');
    const struct pct_code_function *seen[MOST];
    struct pct_code code;
    size_t count = 0;
    if (!narrative->unwinder || pct_code_read(&code, program))
        return;
    for (uint64_t i = 0; i < narrative->snapshot.site_count && count < MOST; i++) {
        struct pct_frame frame;
        bool call = i >= narrative->trace->count || PCT_RECORD_OP(narrative->trace->records[i]) != PCT_OP_THREAD_START;
        pct_unwind_name(narrative->unwinder, narrative->snapshot.sites[i].call, call, &frame);
        if (strcmp(frame.module, slash ? slash + 1 : program) != 0)
            continue;
        const struct pct_code_function *function = pct_code_at(&code, frame.offset - call);
        size_t at = 0;
        while (at < count && seen[at] != function)
            at++;
        if (!function || at < count || !is_word(function->name))
            continue;
        if (!count)
            fputs("# the functions that it goes through, to see whether they have changed\n", out);
        seen[count++] = function;
        fprintf(out, "function %016llx %s\n", (unsigned long long)pct_code_hash(&code, function), function->name);
    }
    pct_code_free(&code);
}

/* In a comment: an argument may have several lines, each of which is to be one. */
static void write_command(FILE *out, char *const *command)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return;
    pct_cli_print_command(memory, command);
    if (!fclose(memory))
        for (const char *c = text; *c; c++)
            fprintf(out, *c == '\n' ? "%c# " : "%c", *c);
    free(text);
}

static void write_schedule(FILE *out, const struct minimize *m)
{
    const struct pct_shrink *s = &m->analysis.shrink;
    const struct pct_switches *minimal = &s->minimal;
    char failure[1200];
    fprintf(out,
            "%s: `pct replay` follows it, and the lines `switch` may be edited.\n# command: ", PCT_SCHEDULE_FILE_MAGIC);
    write_command(out, s->runs.launch.command);
    fprintf(out, "\n# it ends with: ");
    pct_cli_print_clean(out, pct_failure_format(failure, sizeof failure, &s->runs.failure), sizeof failure);
    fprintf(out, "\ntoken %s\n# switch T.N.U: when thread T has made N operations of its own, thread U goes on\n",
            s->token ? s->token : "");
    for (size_t i = 0; i < minimal->count; i++) {
        const struct pct_switch *item = &minimal->item[i];
        fprintf(out, "switch %u.%u.%s%u  # ", item->thread, item->made, pct_switch_letter(item), item->value);
        pct_analysis_print_switch(out, &m->analysis.narrative, item);
        fputc('\n', out);
    }
    write_functions(out, &m->analysis);
}

static int write_file(const struct minimize *m)
{
    struct pct_replacement file;
    int failed = pct_replacement_open(&file, m->output);
    if (!failed) {
        write_schedule(file.out, m);
        failed = pct_replacement_close(&file);
    }
    if (failed)
        pct_cli_say("%s: %s", m->output, strerror(-failed));
    return failed ? PCT_EXIT_INTERNAL : 0; /* the name was fine when the work began */
}

static void print_schedule(FILE *out, const struct pct_analysis *q)
{
    const struct pct_shrink *s = &q->shrink;
    size_t wakes = 0, switches;
    for (size_t i = 0; i < s->minimal.count; i++)
        wakes += s->minimal.item[i].wake;
    switches = s->minimal.count - wakes;
    fprintf(out, "the smallest schedule: %zu switch%s, ", switches, switches == 1 ? "" : "es");
    if (wakes)
        fprintf(out, "%zu choice%s of whom a signal wakes, ", wakes, wakes == 1 ? "" : "s");
    fprintf(out, "%llu preemption%s (of %llu switch%s, %llu preemption%s); %llu steps (of %llu)\n",
            (unsigned long long)s->minimal_preemptions, s->minimal_preemptions == 1 ? "" : "s",
            (unsigned long long)s->switches, s->switches == 1 ? "" : "es", (unsigned long long)s->preemptions,
            s->preemptions == 1 ? "" : "s", (unsigned long long)s->minimal_steps, (unsigned long long)s->steps);
    for (size_t i = 0; i < s->minimal.count; i++) {
        const struct pct_switch *item = &s->minimal.item[i];
        fprintf(out, "  %zu. ", i + 1);
        pct_analysis_print_switch(out, &q->narrative, item);
        uint32_t earlier = s->ranges[i].latest - s->ranges[i].earliest;
        if (!item->wake && s->ranges[i].earliest < s->ranges[i].latest)
            fprintf(out, " (or up to %u operation%s earlier)", earlier, earlier == 1 ? "" : "s");
        fputc('\n', out);
    }
    if (!s->minimal.count)
        fputs("  none: it fails in the default order, without a preemption\n", out);
}

static void print_depth(FILE *out, const struct pct_analysis *q)
{
    const struct pct_depth *depth = &q->depth;
    if (!depth->measured && q->shrink.runs.late) {
        fprintf(out, "depth: not measured: %s\n", pct_query_runs_why(&q->shrink.runs));
        return;
    }
    if (!depth->measured && depth->left_out) {
        fprintf(out, "depth: not measured: the last %zu orderings of %zu do not decide it alone\n", depth->candidates,
                depth->candidates + depth->left_out);
        return;
    }
    if (!depth->measured && !depth->of) {
        fprintf(out, "depth: not measured: no schedule could be made that keeps to all %zu orderings of calls\n",
                depth->candidates);
        return;
    }
    if (!depth->measured) {
        fprintf(
            out,
            "depth: not measured: %u of %u schedules that keep to all %zu orderings of calls passed, so something else "
            "decides (a race on plain memory, time, input)\n",
            depth->of - depth->failed, depth->of, depth->candidates);
        return;
    }
    if (!depth->count) {
        fprintf(out, "depth 0: %u of %u random schedules fail%s: no ordering is needed\n", depth->failed, depth->of,
                q->shrink.runs.rate < 1 ? ", about as often as the one that was found" : "");
        return;
    }
    fprintf(out, "depth %zu: %u of %u schedules fail that keep to %s (of %zu ordering%s in the run):\n", depth->count,
            depth->failed, depth->of, depth->count == 1 ? "this ordering" : "these orderings", depth->candidates,
            depth->candidates == 1 ? "" : "s");
    for (size_t i = 0; i < depth->count; i++) {
        const struct pct_need *need = &depth->needs[i];
        fprintf(out, "  %zu. ", i + 1);
        pct_analysis_print_event(out, &q->narrative, &need->order.first);
        fputs("\n     ", out);
        pct_analysis_print_then(out, &q->narrative, &need->order);
        pct_analysis_print_negated(out, q, need);
    }
}

static void print_result(const struct pct_analysis *q, bool depth)
{
    struct pct_cli_narrow narrow;
    FILE *out = pct_cli_narrow_begin(&narrow, stderr);
    print_schedule(out, q);
    if (depth)
        print_depth(out, q);
    pct_cli_narrow_end(&narrow);
}

/* What was left undone, and the way to have it. */
static void print_late(const struct pct_query_runs *runs)
{
    if (runs->interrupted)
        pct_cli_say("interrupted: this is the best that was found so far; the new token goes on from here");
    else if (runs->late || runs->cut)
        pct_cli_say("out of time (--seconds=%.0f): this is the best that was found so far; give more, or go on from "
                    "the new token",
                    runs->seconds);
}

/* Of runs that were started early, some are not needed: how many is the machine's matter. */
static void print_cost(const struct pct_query_runs *runs)
{
    char others[64] = "";
    if (runs->vain)
        snprintf(others, sizeof others, " (and %llu abandoned)", (unsigned long long)runs->vain);
    pct_cli_say("%llu runs%s, %u at a time, %.1f s", (unsigned long long)runs->made, others, runs->jobs,
                pct_cli_now() - runs->begun);
}

static void print_commands(const struct pct_analysis *q)
{
    const struct pct_shrink *s = &q->shrink;
    if (!s->token) {
        pct_cli_say("the schedule is too long for a token: its file (-o) has it");
        return;
    }
    static const char *const commands[2] = { "replay", "explain" };
    for (unsigned i = 0; i < 2; i++) {
        fprintf(stderr, "pct: %s:\n", i ? "this explains it" : "this replays it");
        pct_cli_print_quoted(stderr, pct_cli_program);
        fprintf(stderr, " %s ", commands[i]);
        pct_options_print(stderr, &s->runs.launch, &q->run.process, false);
        pct_cli_print_quoted(stderr, s->token);
        fputs(" -- ", stderr);
        pct_cli_print_command(stderr, q->run.process.command);
        fputc('\n', stderr);
    }
}

/* What was found could not be shown in the time that there was. */
static void print_unshown(const struct pct_shrink *s)
{
    fputs(s->token ? "pct: this replays the smallest run so far:\n"
                   : "pct: nothing smaller was found so far; this replays the run as it is:\n",
          stderr);
    pct_cli_print_quoted(stderr, pct_cli_program);
    fputs(" replay ", stderr);
    pct_options_print(stderr, &s->runs.launch, NULL, false);
    pct_cli_print_quoted(stderr, s->token ? s->token : s->given);
    fputs(" -- ", stderr);
    pct_cli_print_command(stderr, s->runs.launch.command);
    fputc('\n', stderr);
}

int pct_cmd_minimize(int argc, char **argv)
{
    static struct minimize m = { .depth = true };
    struct pct_analysis *q = &m.analysis;
    pct_parse(&argp, argc, argv, 1, &m);
    q->shrink.runs.progress.quiet = m.quiet;
    int failed = m.output ? pct_replacement_check(m.output) : 0;
    if (failed)
        return pct_cli_usage("%s: %s", m.output, strerror(-failed));
    failed = pct_shrink_open(&q->shrink);
    failed = failed ? failed : pct_analysis_run(q, m.depth, m.quiet);
    if (!failed && m.output)
        failed = write_file(&m);
    if (!failed && !m.quiet) {
        print_result(q, m.depth);
        print_late(&q->shrink.runs);
        print_cost(&q->shrink.runs);
        pct_hosts_print(stderr, &q->shrink.runs.launch);
        print_commands(q);
    } else if (!failed) {
        puts(q->shrink.token ? q->shrink.token : "");
    }
    if (failed && q->shrink.runs.late && q->shrink.given)
        print_unshown(&q->shrink);
    failed = failed ? failed : pct_query_runs_status(&q->shrink.runs);
    pct_analysis_close(q);
    return failed;
}
