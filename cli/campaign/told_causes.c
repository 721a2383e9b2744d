/* The causes that are told of a failure: see diagnosing.h. */
#include "busy_clock.h"
#include "closer.h"
#include <cli/base/cli.h>
#include <stdarg.h>

enum { MOST_TOLD = 3 };

void pct_diagnosing_put_foreign_last(struct pct_diagnosing *d)
{
    struct pct_diagnosis foreign[PCT_DIAGNOSING_STACKS] = { 0 };
    size_t count = d->diagnoses.count < PCT_DIAGNOSING_STACKS ? d->diagnoses.count : PCT_DIAGNOSING_STACKS, own = 0,
           others = 0;
    for (size_t i = 0; i < count; i++) {
        struct pct_diagnosis *item = &d->diagnoses.item[i];
        if (pct_rule_decides(item->rule) || !pct_diagnosis_is_foreign(&d->history, item))
            d->diagnoses.item[own++] = *item;
        else if (item->score >= PCT_DIAGNOSIS_LIKELY)
            foreign[others++] = *item;
    }
    for (size_t i = 0; i < others; i++) {
        foreign[i].score = PCT_EVIDENCE_GUESS;
        d->diagnoses.item[own++] = foreign[i];
    }
    for (size_t i = count; i < d->diagnoses.count; i++)
        d->diagnoses.item[own++] = d->diagnoses.item[i];
    d->diagnoses.count = own;
    d->known = own;
}

/* Whether there is nothing to choose from: one run decides the best, which names what was done wrongly. */
static bool is_certain(const struct pct_diagnosis *best)
{
    return pct_rule_decides(best->rule) && best->score >= PCT_DIAGNOSIS_LIKELY && best->base >= PCT_DIAGNOSIS_DECISIVE;
}

/* The best that are told: such as score more than this, and say more than what stands before them; then others until
 * there are as many, if all are wanted. Returns how many. */
static size_t choose(const struct pct_diagnosing *d, double least, bool all, const struct pct_diagnosis **told)
{
    const struct pct_diagnosis *item = d->diagnoses.item;
    size_t count = 0, next = 0, passed[MOST_TOLD], skipped = 0;
    for (; next < d->diagnoses.count && next < PCT_DIAGNOSING_STACKS && count < MOST_TOLD; next++) {
        bool adds = !next || item[next].score > least;
        for (size_t j = 0; j < count && adds; j++)
            adds = pct_diagnosis_adds(&d->history, &item[next], told[j]);
        if (adds)
            told[count++] = &item[next];
        else if (skipped < MOST_TOLD)
            passed[skipped++] = next;
    }
    for (size_t i = 0; all && i < skipped && count < MOST_TOLD; i++)
        told[count++] = &item[passed[i]];
    return count;
}

/* Why no cause is said, and what to do. */
__attribute__((format(printf, 2, 3))) static void print_no_cause(FILE *out, const char *format, ...)
{
    struct pct_cli_narrow narrow;
    FILE *text = pct_cli_narrow_begin(&narrow, out);
    va_list arguments;
    va_start(arguments, format);
    fputs("no cause: ", text);
    vfprintf(text, format, arguments);
    va_end(arguments);
    pct_cli_narrow_end(&narrow);
}

/* Nothing is known of what is to blame. */
static void print_unknown(FILE *out, const struct pct_diagnosing *d)
{
    const struct pct_evidence *e = &d->evidence;
    if (d->too_long)
        print_no_cause(out,
                       "the run has more steps than the %u that the rules look at. A smaller test of the same may fail "
                       "sooner, or `pct minimize` find a shorter run.\n",
                       PCT_HISTORY_MOST);
    else if (e->one_schedule)
        print_no_cause(out, "the run has one thread, and so one schedule: no ordering is to blame. It needs a "
                            "debugger, or a look at what differs from runs that pass: its input, its environment.\n");
    else if (pct_evidence_all_fail(e))
        print_no_cause(
            out,
            "every run fails (%u of %u), so that, as far as they tell, no ordering is to blame. If it fails without "
            "pct, too, it needs a debugger, not another schedule; if not, look at what differs: its input, its "
            "environment, its time.\n",
            e->made + 1, e->made + 1);
    else if (e->drawn >= PCT_EVIDENCE_DRAWN && pct_evidence_by_numbers(e))
        print_no_cause(out,
                       "every run with the same random numbers fails (%u of %u), so that, as far as they tell, no "
                       "ordering is to blame: look at what the program does with these numbers.\n",
                       e->drawn + 1, e->drawn + 1);
    else if (pct_evidence_by_choices(e))
        print_no_cause(out,
                       "of %u runs that pass, %u got the same numbers from pct_choose(), too few to blame an ordering: "
                       "look at what the program does with these numbers.\n",
                       e->passing + e->otherwise, e->passing);
}

void pct_diagnosing_print(FILE *out, const struct pct_diagnosing *d, bool all)
{
    const struct pct_diagnosis *told[MOST_TOLD];
    double least = d->known && !all ? PCT_DIAGNOSIS_CLOSE * d->diagnoses.item->score : 0;
    size_t count = d->known ? choose(d, least, all, told) : 0;
    if (!d->known)
        print_unknown(out, d);
    else
        pct_diagnosis_print(out, pct_diagnosis_is_likely(told[0]) ? "likely cause: " : "cause: ", &d->history, told[0]);
    /* Where one run decides the first, there is nothing to choose from. */
    for (size_t i = 1; i < count && (all || !is_certain(told[0])); i++)
        (all ? pct_diagnosis_print : pct_diagnosis_print_brief)(out, "or: ", &d->history, told[i]);
}

void pct_diagnosing_say_interrupted(const struct pct_diagnosing *d)
{
    const unsigned runs = d->evidence.failing + d->evidence.passing;
    if (d->interrupted && d->have)
        pct_cli_say("interrupted: the cause is told by %u run%s, and more may tell better", runs, runs == 1 ? "" : "s");
    else if (d->interrupted)
        pct_cli_say("interrupted before other runs could tell the cause");
}

void pct_diagnosing_recorded(FILE *out, const struct pct_trace *trace, bool all)
{
    static struct pct_diagnosing d; /* large */
    pct_diagnosing_of_trace(&d, trace);
    pct_diagnosing_print(out, &d, all);
    pct_diagnosing_close(&d);
}

bool pct_diagnosing_is_whole(const struct pct_launch *launch, const struct pct_result *result)
{
    return !result->unrecorded && !launch->replay && result->state == PCT_TRACE_GOOD;
}

bool pct_diagnosing_is_cheap(const struct pct_launch *launch, const struct pct_process *process,
                             const struct pct_result *result)
{
    return pct_diagnosing_is_whole(launch, result) && !launch->around.setup && !launch->around.teardown &&
           process->seconds < PCT_DIAGNOSING_SECONDS / 2.0 * pct_busy_clock_slower(PCT_DIAGNOSING_PATIENCE);
}

void pct_diagnosing_show(FILE *out, struct pct_launch *launch, const struct pct_process *process,
                         const struct pct_result *result, const bool *ok)
{
    static struct pct_diagnosing d; /* large */
    static struct pct_closer closer;
    if (!pct_diagnosing_is_cheap(launch, process, result)) {
        if (pct_diagnosing_is_whole(launch, result))
            pct_diagnosing_recorded(out, &result->trace, false);
        return;
    }
    d = (struct pct_diagnosing){ .launch = launch,
                                 .jobs = 1,
                                 .token = result->trace.header.token,
                                 .ok = ok,
                                 .others = PCT_DIAGNOSING_OTHERS,
                                 .seconds = PCT_DIAGNOSING_SECONDS,
                                 .patience = PCT_DIAGNOSING_PATIENCE,
                                 .quiet = true,
                                 .first = true };
    closer = (struct pct_closer){ 0 };
    int failed = pct_diagnosing_run(&d);
    if (!failed && pct_closer_helps(&d))
        failed = pct_closer_look(&closer, &d, PCT_DIAGNOSING_SECONDS);
    if (closer.better)
        pct_cli_say(
            "no rule fits it well; this is of a run that fails in the same way and shows accesses to memory, %s",
            closer.token);
    pct_diagnosing_say_interrupted(&d);
    if (!failed || (d.interrupted && d.known))
        pct_diagnosing_print(out, closer.better ? &closer.diagnosing : &d, false);
    pct_closer_close(&closer);
    pct_diagnosing_close(&d);
}
