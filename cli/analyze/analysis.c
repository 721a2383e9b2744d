/* All that minimize and explain find out about a failing run: see analysis.h. */
#include "analysis.h"
#include "negated_orders.h"
#include "other_failures.h"
#include <cli/base/status_line.h>
#include <cli/binary/elf_facts.h>
#include "queries.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BEGINNERS = 8 }; /* threads whose beginnings are looked at */

/* Steps that two runs begin with in common. */
static uint64_t in_common(const struct pct_trace *a, const struct pct_trace *b)
{
    uint64_t i = 0;
    while (i < a->count && i < b->count && a->records[i] == b->records[i])
        i++;
    return i;
}

static void close_pass(struct pct_analysis *q)
{
    if (q->pass.trace)
        pct_narrative_close(&q->pass);
    if (q->passes) {
        pct_query_run_close(&q->pass_run);
        free(q->pass_list);
    }
    q->passes = false;
}

/* Looking for a run that passes. */
struct passing {
    struct pct_analysis *analysis;
    bool *keep;    /* room for a list of switches */
    uint64_t best; /* steps that the best run so far has in common with the one that fails */
};

static bool does_pass(const struct pct_query_run *run)
{
    struct pct_failure ending;
    return !pct_failure_read(&ending, &run->result) && run->result.trace.complete;
}

/* The new one is the run that passes, with the list that made it. */
static void adopt_pass(struct passing *p, struct pct_query *query, struct pct_query_run *run)
{
    struct pct_analysis *q = p->analysis;
    close_pass(q);
    q->passes = run->taken = true;
    q->pass_run = *run;
    q->pass_strategy = query->what.strategy;
    q->pass_list = query->what.list;
    q->pass_seed = query->what.seed;
    query->what.list = NULL;
}

/* The minimal schedule without one of its switches: the last, then the one before it, ... */
static int ask_without(void *context, size_t number, struct pct_query *query)
{
    struct passing *p = context;
    const struct pct_switches *minimal = &p->analysis->shrink.minimal;
    if (number == minimal->count)
        return 0;
    memset(p->keep, true, minimal->count);
    p->keep[minimal->count - 1 - number] = false;
    query->what = (struct pct_try){ .strategy = "schedule",
                                    .list = pct_switches_format(minimal, p->keep),
                                    .seed = p->analysis->shrink.runs.config.run.seed,
                                    .sites = "on" };
    query->expected = 1;
    return query->what.list ? 1 : -ENOMEM;
}

/* The one that goes along longest. */
static enum pct_answer answer_without(void *context, size_t number, struct pct_query *query, struct pct_query_run *run)
{
    struct passing *p = context;
    const struct pct_analysis *q = p->analysis;
    (void)number;
    uint64_t common = does_pass(run) ? in_common(&q->run.result.trace, &run->result.trace) : 0;
    if (does_pass(run) && (!q->passes || common > p->best)) {
        p->best = common;
        adopt_pass(p, query, run);
    }
    return PCT_ANSWER_NEXT;
}

static int ask_random(void *context, size_t number, struct pct_query *query)
{
    enum { TRIES = 100 };
    (void)context;
    if (number == TRIES)
        return 0;
    query->what = (struct pct_try){ .strategy = "order", .list = strdup(""), .seed = number, .sites = "on" };
    query->expected = 1;
    return query->what.list ? 1 : -ENOMEM;
}

static enum pct_answer answer_random(void *context, size_t number, struct pct_query *query, struct pct_query_run *run)
{
    (void)number;
    if (!does_pass(run))
        return PCT_ANSWER_NEXT;
    adopt_pass(context, query, run);
    return PCT_ANSWER_STOP;
}

/* The run that passes and differs least: the minimal schedule without one of its switches, which is the same up to
 * there; the one that goes along longest. If there is none, any. */
static int find_pass(struct pct_analysis *q)
{
    struct pct_query_runs *runs = &q->shrink.runs;
    size_t count = q->shrink.minimal.count;
    struct passing p = { .analysis = q, .keep = malloc(count + 1) };
    struct pct_queries without = { .ask = ask_without, .answer = answer_without, .context = &p },
                       random = { .ask = ask_random, .answer = answer_random, .context = &p };
    p.best = q->passes ? in_common(&q->run.result.trace, &q->pass_run.result.trace) : 0;
    pct_queries_step(runs, "looking for the nearest schedule that passes", count);
    int failed = p.keep ? pct_queries_run(runs, &without) : PCT_EXIT_INTERNAL;
    if (!failed && !q->passes)
        failed = pct_queries_run(runs, &random);
    free(p.keep);
    if (!failed && q->passes && !q->pass.trace && pct_narrative_open(&q->pass, &q->pass_run.result.trace))
        failed = PCT_EXIT_INTERNAL;
    return failed;
}

/* Where the operations of the orderings stand in the run of the smallest schedule, in which a thread may have made
 * fewer operations before; nowhere is not said to be where they stood in another run. */
static void locate(const struct pct_analysis *q, struct pct_event *event)
{
    const struct pct_trace *trace = q->narrative.trace;
    if (event->step < PCT_STEP_LATER) {
        if (!pct_orders_find(event, trace))
            event->step = PCT_STEP_LATER;
        return;
    }
    /* Objects are numbered by their first use, which may have been another in the run that the orderings are from. */
    const struct pct_snap_thread *thread = pct_snapshot_thread(&q->narrative.snapshot, event->thread);
    if (event->step == PCT_STEP_PENDING && thread && thread->op == event->op && thread->object)
        event->object = thread->object;
}

static void locate_order(const struct pct_analysis *q, struct pct_order *order)
{
    locate(q, &order->first);
    locate(q, &order->then);
}

/* Where the threads of a deadlock's cycle locked what they hold. Returns how many there are. */
static size_t locks_of_cycle(const struct pct_narrative *narrative, uint64_t *steps)
{
    uint32_t ids[PCT_CYCLE_MOST];
    size_t count = pct_snapshot_cycle(&narrative->snapshot, ids, PCT_CYCLE_MOST);
    count = count < PCT_CYCLE_MOST ? count : PCT_CYCLE_MOST;
    for (size_t i = 0; i < count; i++)
        steps[i] =
            pct_narrative_find_lock(narrative, ids[(i + 1) % count], pct_snapshot_thread(&narrative->snapshot, ids[i]));
    return count;
}

/* The first operations of threads that a library may have started: which function of the program's own they are in.
 * Returns how many there are. */
static size_t beginnings(const struct pct_analysis *q, const struct pct_trace *trace, uint64_t *steps)
{
    unsigned made[BEGINNERS] = { 0 };
    size_t count = 0;
    if (!pct_elf_has_library_threads(q->shrink.runs.launch.program))
        return 0;
    for (uint64_t i = 0; i < trace->count; i++) {
        uint32_t thread = PCT_RECORD_THREAD(trace->records[i]);
        if (thread && thread <= BEGINNERS && made[thread - 1]++ <= PCT_ANALYSIS_BEGINNING)
            steps[count++] = i;
    }
    return count;
}

/* The steps of a run whose stacks are wanted: of the switches, the orderings, a cycle's locks, and the beginnings of
 * threads. To be freed. */
static char *wanted(const struct pct_analysis *q, const struct pct_narrative *narrative, bool switches)
{
    size_t count = 0;
    const struct pct_switches *minimal = &q->shrink.minimal;
    uint64_t *steps =
        malloc((minimal->count + 2 * q->depth.count + PCT_CYCLE_MOST + BEGINNERS * (PCT_ANALYSIS_BEGINNING + 1)) *
               sizeof *steps);
    if (!steps)
        return NULL;
    for (size_t i = 0; i < 2 * q->depth.count; i++) {
        const struct pct_order *order = &q->depth.needs[i / 2].order;
        const struct pct_event *event = i % 2 ? &order->then : &order->first;
        uint64_t at = pct_narrative_find(narrative, event->thread, event->number);
        if (at < narrative->trace->count)
            steps[count++] = at;
    }
    for (size_t i = 0; switches && i < minimal->count; i++) {
        const struct pct_switch *item = &minimal->item[i];
        uint64_t at = pct_narrative_find(narrative, item->thread, item->made + item->wake);
        if (at < narrative->trace->count)
            steps[count++] = at;
    }
    count += locks_of_cycle(narrative, steps + count);
    if (switches)
        count += beginnings(q, narrative->trace, steps + count);
    char *text = pct_narrative_stacks(steps, count);
    free(steps);
    return text;
}

/* The same run again, with the stacks of these steps. */
static int reopen(struct pct_analysis *q, struct pct_narrative *narrative, struct pct_query_run *run, bool fails)
{
    static struct pct_query_run again;
    char *sites = wanted(q, narrative, fails);
    if (!sites)
        return PCT_EXIT_INTERNAL;
    int failed = fails
                     ? pct_shrink_show(&q->shrink, &again, sites)
                     : pct_query_run_make(&q->shrink.runs, &again, q->pass_strategy, q->pass_list, q->pass_seed, sites);
    free(sites);
    if (failed)
        return failed;
    /* Where the schedule does not decide alone, this time it may have been otherwise: the first is as good, without
     * stacks. */
    if (again.result.trace.header.hash != run->result.trace.header.hash) {
        pct_query_run_close(&again);
        return 0;
    }
    pct_narrative_close(narrative);
    pct_query_run_close(run);
    *run = again;
    return pct_narrative_open(narrative, &run->result.trace) ? PCT_EXIT_INTERNAL : 0;
}

/* The run of the smallest schedule, with sites. */
static int open_story(struct pct_analysis *q)
{
    struct pct_query_runs *t = &q->shrink.runs;
    for (unsigned i = 0; i < t->repeat; i++) {
        int failed = pct_shrink_show(&q->shrink, &q->run, "on");
        if (failed)
            return failed;
        if (q->run.fails)
            return pct_narrative_open(&q->narrative, &q->run.result.trace) ? PCT_EXIT_INTERNAL : 0;
        pct_query_run_close(&q->run);
    }
    pct_status_line_clear(t->progress.quiet);
    pct_cli_say("the smallest schedule did not fail when it was to be shown");
    return PCT_EXIT_DIVERGENCE;
}

static void close_story(struct pct_analysis *q)
{
    if (q->narrative.trace) {
        pct_narrative_close(&q->narrative);
        pct_query_run_close(&q->run);
    }
}

/* The orderings that the bug needs, seen from the smallest schedule. */
static int measure_once(struct pct_analysis *q, struct pct_depth *depth)
{
    struct pct_run_view failing = { q->narrative.trace, &q->narrative.snapshot },
                        passing = { q->pass.trace, &q->pass.snapshot };
    /* In a deadlock all is done that could be, and what was to come is known. */
    bool later = q->passes && failing.trace->header.verdict != PCT_VERDICT_DEADLOCK;
    return pct_depth_measure(depth, &q->shrink.runs, &failing, later ? &passing : NULL);
}

/* Whether the run of the smallest schedule has the orderings that were measured: those of another run may differ. */
static bool has_orders(const struct pct_analysis *q)
{
    for (size_t i = 0; i < q->depth.count; i++) {
        struct pct_event first = q->depth.needs[i].order.first, then = q->depth.needs[i].order.then;
        bool found = pct_orders_find(&first, q->narrative.trace);
        if (!found || (pct_orders_find(&then, q->narrative.trace) && then.step < first.step))
            return false;
    }
    return true;
}

/* Tell of this schedule from now on. */
static int tell_anew(struct pct_analysis *q)
{
    close_story(q);
    int failed = open_story(q);
    return failed ? failed : find_pass(q);
}

/* There is a smaller schedule. If what was measured is not true of it, it is measured anew; if nothing comes of that,
 * the schedule before it stays. */
static int measure_better(struct pct_analysis *q, struct pct_shrunk *before)
{
    int failed = tell_anew(q);
    bool has = !failed && has_orders(q);
    if (failed || (has && q->depth.count <= q->shrink.minimal_preemptions + 1))
        return failed;
    struct pct_depth again;
    failed = measure_once(q, &again);
    bool taken = !failed && again.measured && again.count <= q->depth.count - has;
    struct pct_depth *other = taken ? &q->depth : &again;
    pct_depth_free(other);
    if (taken)
        q->depth = again;
    if (failed || taken || has)
        return failed;
    pct_shrink_take_back(&q->shrink, before);
    return tell_anew(q);
}

/* The same, and what follows from it: random schedules under few constraints may be simpler than the smallest so far;
 * and d orderings are met by d-1 preemptions (PCT, section 3), so if there are fewer, there may be fewer orderings,
 * too. */
static int measure(struct pct_analysis *q)
{
    struct pct_shrunk before;
    int failed = measure_once(q, &q->depth);
    bool better = false;
    if (failed || !q->depth.simplest.count || q->shrink.runs.late || !pct_shrink_save(&q->shrink, &before))
        return failed;
    failed = pct_shrink_consider(&q->shrink, &q->depth.simplest, &better);
    if (!failed && better)
        failed = measure_better(q, &before);
    pct_shrunk_drop(&before);
    return failed;
}

int pct_analysis_run(struct pct_analysis *q, bool depth, bool quiet)
{
    char failure[1200];
    size_t length = strlen(pct_failure_format(failure, sizeof failure, &q->shrink.runs.failure));
    if (length && failure[length - 1] == '.')
        failure[length - 1] = '\0';
    if (!quiet)
        pct_cli_say("%s, after %llu step%s, %llu switch%s, %llu preemption%s", failure,
                    (unsigned long long)q->shrink.steps, q->shrink.steps == 1 ? "" : "s",
                    (unsigned long long)q->shrink.switches, q->shrink.switches == 1 ? "" : "es",
                    (unsigned long long)q->shrink.preemptions, q->shrink.preemptions == 1 ? "" : "s");
    /* Each step has its share, so that a long one leaves the others something. */
    struct pct_query_runs *runs = &q->shrink.runs;
    pct_query_runs_share(runs, depth ? 0.5 : 0.8);
    int failed = pct_shrink_run(&q->shrink);
    failed = failed ? failed : pct_other_failures_try(&q->shrink);
    double begun = pct_cli_now();
    failed = failed ? failed : open_story(q);
    pct_query_runs_keep(runs, pct_cli_now() - begun);
    pct_query_runs_share(runs, 0.3);
    failed = failed ? failed : find_pass(q);
    pct_query_runs_share(runs, 1);
    if (!failed && depth)
        failed = measure(q);
    for (size_t i = 0; i < q->depth.count && !failed; i++) {
        struct pct_need *need = &q->depth.needs[i];
        locate_order(q, &need->order);
        for (size_t j = 0; j < need->held.count; j++)
            locate_order(q, &need->held.item[j]);
    }
    failed = failed ? failed : reopen(q, &q->narrative, &q->run, true);
    if (!failed && q->passes)
        failed = reopen(q, &q->pass, &q->pass_run, false);
    q->narrative.later = q->passes ? &q->pass : NULL;
    pct_status_line_clear(q->shrink.runs.progress.quiet);
    if (failed == PCT_EXIT_INTERNAL && !q->shrink.runs.status)
        pct_cli_say("out of memory");
    return failed;
}

void pct_analysis_close(struct pct_analysis *q)
{
    close_story(q);
    close_pass(q);
    pct_depth_free(&q->depth);
    pct_shrink_close(&q->shrink);
}

void pct_analysis_print_event(FILE *out, const struct pct_narrative *narrative, const struct pct_event *event)
{
    char text[800];
    fprintf(out, "thread %u's ", event->thread);
    pct_cli_print_clean(out, pct_narrative_operation(narrative, text, sizeof text, event), sizeof text);
    /* These are made by the C library, whose place says nothing. */
    bool last = event->op == PCT_OP_THREAD_FINISH || event->op == PCT_OP_EXIT;
    if (!last && *pct_narrative_place(narrative, text, sizeof text, event)) {
        fputs(", ", out);
        pct_cli_print_clean(out, text, sizeof text);
    }
}

void pct_analysis_print_then(FILE *out, const struct pct_narrative *narrative, const struct pct_order *order)
{
    if (order->wake) {
        fprintf(out, "wakes thread %u, of those that wait\n", order->then.thread);
        return;
    }
    fputs("before ", out);
    pct_analysis_print_event(out, narrative, &order->then);
    fputc('\n', out);
}

void pct_analysis_print_switch(FILE *out, const struct pct_narrative *narrative, const struct pct_switch *item)
{
    uint64_t at = pct_narrative_find(narrative, item->thread, item->made + item->wake);
    if (item->back) {
        fprintf(out, "where thread %u is back from outside", item->thread);
    } else if (at < narrative->trace->count) {
        struct pct_event event = pct_narrative_event(narrative, at);
        fputs(item->wake ? "at " : "after ", out);
        pct_analysis_print_event(out, narrative, &event);
    } else {
        fprintf(out, "after operation %u of thread %u", item->made, item->thread);
    }
    if (item->wake)
        fprintf(out, ": waiter %u is woken", item->value + 1);
    else
        fprintf(out, item->awaits ? ": thread %u is awaited" : ": thread %u goes on", item->value);
}

void pct_analysis_print_negated(FILE *out, const struct pct_analysis *q, const struct pct_need *need)
{
    enum { HELD = 6 };
    const struct pct_tally *negated = &need->negated;
    unsigned of = pct_tally_of(negated);
    if (!of && q->shrink.runs.late) {
        fprintf(out, "     It was not reversed: %s.\n", pct_query_runs_why(&q->shrink.runs));
        return;
    }
    if (!of) {
        fputs("     Reversed, it contradicts the other orderings.\n", out);
        return;
    }
    fprintf(out, "     Reversed, %u of %u pass", negated->passed, of);
    if (negated->failed)
        fprintf(out, ", %u still fail%s: it can come about in another way, too", negated->failed,
                negated->failed == 1 ? "s" : "");
    if (negated->otherwise)
        fprintf(out, ", %u fail%s in another way", negated->otherwise, negated->otherwise == 1 ? "s" : "");
    fputs(".\n", out);
    if (!pct_need_decides(&q->depth, need)) {
        fputs("     It fails as often then, so this is not the cause.\n", out);
        return;
    }
    if (q->shrink.runs.late && negated->failed + negated->otherwise && !need->held.count) {
        fprintf(out, "     Whether that can be ruled out was not tried: %s.\n", pct_query_runs_why(&q->shrink.runs));
        return;
    }
    bool open =
        negated->failed + negated->otherwise && !need->held.count && q->shrink.runs.rate == 1 && !q->shrink.runs.quick;
    if (open)
        fputs("     No orderings were found that rule this out: something else decides, too.\n", out);
    if (!need->held.count)
        return;
    const char *these = need->held.count == 1 ? "this" : "these";
    if (need->shared)
        fprintf(out, "     With %s kept, too, this ordering decides: %u of %u fail; reversed, ", these,
                need->held_kept.failed, pct_tally_of(&need->held_kept));
    else
        fprintf(out, "     Reversed, and with %s kept, too, ", these);
    fprintf(out, "%u of %u pass:\n", need->held_negated.passed, pct_tally_of(&need->held_negated));
    for (size_t i = 0; i < need->held.count && i < HELD; i++) {
        fputs("       ", out);
        pct_analysis_print_event(out, &q->narrative, &need->held.item[i].first);
        fputs("\n         ", out);
        pct_analysis_print_then(out, &q->narrative, &need->held.item[i]);
    }
    if (need->held.count > HELD)
        fprintf(out, "       and %zu more\n", need->held.count - HELD);
}
