/* Runs that the search has asked for, and what is found in them: see explorer.h. */
#include "explorer.h"
#include "keep.h"
#include "order.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- What was found ----------------------------------------------------------------------------------------------- */

static struct pct_finding *known_finding(struct pct_explorer *e, uint64_t hash)
{
    for (size_t i = 0; i < e->findings; i++)
        if (e->finding[i].hash == hash)
            return &e->finding[i];
    return NULL;
}

struct pct_finding *pct_explorer_finding(struct pct_explorer *e, uint64_t hash)
{
    struct pct_finding *known = known_finding(e, hash);
    if (known)
        return known;
    struct pct_finding *more = realloc(e->finding, (e->findings + 1) * sizeof *more);
    if (!more)
        return NULL;
    e->finding = more;
    more[e->findings] = (struct pct_finding){ .hash = hash };
    return &more[e->findings++];
}

static void save_trace(struct pct_explorer *e, const struct pct_result *result)
{
    char error[256];
    if (e->save && e->findings == 1 && pct_trace_save(&result->trace, e->save, error, sizeof error))
        pct_cli_say("the trace was not saved: %s: %s", e->save, error);
}

int pct_explorer_take_failure(struct pct_explorer *e, const struct pct_made *made, bool known)
{
    bool differs = e->failure && e->failure != made->run.failure;
    struct pct_finding *finding = pct_explorer_finding(e, made->run.failure);
    if (!finding)
        return pct_cli_no_memory("");
    e->differs |= differs;
    if (!finding->title[0] && made->result) {
        snprintf(finding->title, sizeof finding->title, "%s", made->signature->title);
        const struct pct_trace *trace = &made->result->trace;
        finding->too_long = false;
        if (pct_explorer_token(trace, &made->run, finding->token, sizeof finding->token))
            ;
        else if (pct_explorer_runs(e) == 1) /* it had no plan, which its own token says all of */
            snprintf(finding->token, sizeof finding->token, "%s", trace->header.token);
        else {
            finding->too_long = true;
            finding->token[0] = 0;
        }
        e->fresh = true;
        save_trace(e, made->result);
    }
    if (!finding->run) {
        finding->run = e->probes ? e->estimate.probes : pct_explorer_runs(e);
        finding->tuple = pct_search_facts(e->search)->tuple;
    }
    finding->walks += made->walk;
    finding->count += !known;
    e->failing += !known;
    return 0;
}

uint64_t pct_explorer_runs(const struct pct_explorer *e)
{
    return pct_search_facts(e->search)->runs + e->walks.made;
}

/* Of a random schedule: nothing but that it fails, and which class it was of. Takes the execution over. */
static int take_walk(struct pct_explorer *e, const struct pct_made *made, struct pct_execution *x)
{
    struct pct_order order;
    bool cut = made->run.flags & PCT_EXPLORED_CUT;
    int failed = cut || x->blocked ? 0 : pct_order_make(&order, x);
    if (!failed && !cut && !x->blocked) {
        failed = pct_walks_note(&e->walks, pct_order_class(&order), true);
        pct_order_free(&order);
    }
    pct_execution_free(x);
    if (failed)
        return pct_cli_no_memory("");
    e->walks.made++;
    if (cut || !(made->run.flags & PCT_EXPLORED_FAILED))
        return 0;
    e->walks.failing++;
    return pct_explorer_take_failure(e, made, true);
}

/* None of those that pct stands in for come here: a word of the program's own, or of a library's. */
static bool calls_futexes(const struct pct_explored *run)
{
    for (uint32_t i = 0; i < run->record_count; i++)
        if (pct_name_op_class(PCT_RECORD_OP(run->records[i])) == PCT_CLASS_FUTEX)
            return true;
    return false;
}

static bool frees(const struct pct_event *event)
{
    for (unsigned i = 0; i < event->touches; i++)
        if (event->touch[i].use == PCT_USE_FREES)
            return true;
    return false;
}

/* Whether a thread gives a block of memory back, and another one does something behind that: where nobody explores, it
 * may get the address (runtime/explored/heap.c). */
static bool frees_early(const struct pct_execution *x)
{
    uint32_t last = x->count; /* event that is not of the thread which ends the run */
    while (x->frees && last > 0 && x->event[last - 1].thread == x->event[x->count - 1].thread)
        last--;
    for (uint32_t i = 0; x->frees && i < x->count; i++)
        if (frees(&x->event[i]) && (i + 1 < last || x->event[i].thread != x->event[x->count - 1].thread))
            return true;
    return false;
}

/* Of a run that the search has asked for. Takes the execution over. */
static int take_class(struct pct_explorer *e, const struct pct_made *made, struct pct_execution *x)
{
    const struct pct_search_facts *facts = pct_search_facts(e->search);
    uint64_t redundant = facts->redundant, class_ = 0;
    bool blocked = x->blocked;
    e->flags |= made->run.flags | (calls_futexes(&made->run) ? PCT_EXPLORED_FUTEXES : 0);
    e->assumes |= made->run.assumes | (x->pieces ? 1u << PCT_ASSUMES_PIECES : 0);
    e->assumes |= x->outside ? 1u << PCT_ASSUMES_OUTSIDE : 0;
    e->frees = e->frees || frees_early(x);
    if (e->threads < made->run.threads)
        e->threads = made->run.threads;
    if (e->classes)
        pct_separation_add(e->classes, x, made->run.flags & PCT_EXPLORED_FAILED ? made->run.failure : 0);
    if (pct_search_take(e->search, x, e->walks.on ? &class_ : NULL))
        return pct_cli_no_memory("");
    /* Of one that did not begin as it was to, nobody knows the class. */
    bool known = facts->redundant > redundant || facts->unrepeatable;
    if (e->classes && (known || made->run.flags & (PCT_EXPLORED_CUT | PCT_EXPLORED_BLOCKED)))
        pct_separation_drop(e->classes);
    if (!known && !blocked && e->walks.on && pct_walks_note(&e->walks, class_, false))
        return pct_cli_no_memory("");
    if (facts->runs == 1)
        e->first_failed = made->run.flags & PCT_EXPLORED_FAILED;
    if (made->run.flags & PCT_EXPLORED_CUT) {
        e->cut++;
        if (!e->cut_title[0] && made->signature)
            snprintf(e->cut_title, sizeof e->cut_title, "%s", made->signature->title);
    } else if (made->run.flags & PCT_EXPLORED_FAILED)
        return pct_explorer_take_failure(e, made, known);
    else
        e->passed += !known && !blocked;
    return 0;
}

int pct_explorer_take(struct pct_explorer *e, struct pct_campaign *c, struct pct_made *made)
{
    struct pct_execution x;
    int failed = pct_explored_read(&made->run, &x);
    /* Those that are forked have all the same, but others are not. */
    made->run.assumes |= c->launch.aslr || c->launch.random ? 1u << PCT_ASSUMES_ADDRESSES : 0;
    if (failed == -ENOMEM)
        return pct_cli_no_memory("");
    if (failed) {
        e->unreadable = true;
        return PCT_RUNS_ENOUGH;
    }
    for (unsigned i = 0; i < PCT_UNCONTROLLED_COUNT; i++)
        e->uncontrolled[i] += made->uncontrolled[i];
    int status = made->walk ? take_walk(e, made, &x) : take_class(e, made, &x);
    e->differs |= e->failure && !made->run.failure;
    e->failure = 0;
    made->row.seed = pct_explorer_runs(e) - 1;
    pct_explorer_warn(e, c);
    if (!status)
        status = pct_explorer_keep_add(e->keep, e, c, made);
    return !status && e->serves && e->warned ? PCT_RUNS_ENOUGH : status;
}

/* --- What comes next ---------------------------------------------------------------------------------------------- */

static struct pct_made *find_ahead(struct pct_explorer *e)
{
    for (size_t i = 0; i < e->aheads; i++)
        if (e->ahead[i].plan == e->wanted)
            return &e->ahead[i];
    return NULL;
}

static bool is_being_made(const struct pct_explorer *e)
{
    for (size_t i = 0; i < e->making_count; i++)
        if (e->making[i].used && e->making[i].plan == e->wanted && !e->making[i].process)
            return true;
    return false;
}

/* Take it out of those that were made ahead. */
static struct pct_made take_out(struct pct_explorer *e, struct pct_made *ahead)
{
    struct pct_made made = *ahead;
    e->ahead_bytes -=
        sizeof made + made.run.log_count * sizeof *made.run.log + made.run.record_count * sizeof *made.run.records;
    *ahead = e->ahead[--e->aheads];
    made.process = NULL;
    made.result = NULL;
    made.signature = NULL;
    return made;
}

/* The run that is asked for was made already: take it, if all is there that is to be told of it. */
static int take_ahead(struct pct_explorer *e, struct pct_campaign *c, struct pct_made *ahead, bool *taken)
{
    struct pct_made made = take_out(e, ahead);
    int status = 0;
    *taken = !(made.run.flags & PCT_EXPLORED_FAILED) || made.run.flags & PCT_EXPLORED_CUT ||
             known_finding(e, made.run.failure);
    if (*taken)
        status = pct_explorer_take(e, c, &made);
    else
        e->failure = made.run.failure; /* it is made once more, to be looked at */
    pct_explored_free(&made.run);
    return status;
}

bool pct_explorer_is_late(const struct pct_explorer *e)
{
    return e->budget > 0 && pct_cli_now() - e->began >= e->budget;
}

/* If the search has begun again, no class that it had before counts. */
static void forget_classes(struct pct_explorer *e)
{
    const struct pct_search_facts *facts = pct_search_facts(e->search);
    if (facts->begun == e->begun)
        return;
    e->begun = facts->begun;
    e->passed = e->failing = 0;
    for (size_t i = 0; i < e->findings; i++)
        e->finding[i].count = 0;
    pct_separation_free(e->classes);
    e->classes = pct_separation_new();
}

bool pct_explorer_search_next(struct pct_explorer *e)
{
    bool more = pct_search_next(e->search, &e->plan, &e->plan_count);
    forget_classes(e);
    return more;
}

/* A random schedule, if one is due, or what the search names. False: it is over. */
static bool choose_next(struct pct_explorer *e)
{
    struct pct_walks *w = &e->walks;
    w->asked = e->walks.on && w->made < pct_walks_due(pct_search_facts(e->search)->runs, e->first);
    if (!w->asked)
        return pct_explorer_search_next(e);
    w->named = w->named > w->made ? w->named : w->made + 1;
    w->plan = pct_walks_plan(w->made + 1);
    e->plan = &w->plan;
    e->plan_count = 1;
    return true;
}

/* Ask for the next run. False: there is none that is to be made. */
static bool ask(struct pct_explorer *e)
{
    const struct pct_search_facts *facts = pct_search_facts(e->search);
    if ((e->first || e->serves) && e->findings)
        return false;
    if (!choose_next(e)) {
        e->complete = !facts->unrepeatable && !facts->no_memory;
        return false;
    }
    e->wanted = pct_explorer_plan(e->plan, e->plan_count);
    e->asked = is_being_made(e);
    e->used_up = e->plan_count >= PCT_EXPLORER_PLAN_MAX || (e->limit && pct_explorer_runs(e) >= e->limit) ||
                 pct_explorer_is_late(e);
    return !e->used_up;
}

int pct_explorer_go_on(struct pct_explorer *e, struct pct_campaign *c)
{
    bool taken = true;
    while (taken) {
        if (!ask(e)) /* behind a search that may verify something, all runs are to be the same once more */
            return e->complete && !e->findings && !e->cut ? 0 : PCT_RUNS_ENOUGH;
        struct pct_made *ahead = find_ahead(e);
        if (!ahead)
            return 0;
        int status = take_ahead(e, c, ahead, &taken);
        if (status)
            return status;
    }
    return 0;
}

/* --- Replays of what was found ------------------------------------------------------------------------------------ */

static int replay(const struct pct_explorer *e, struct pct_campaign *c, struct pct_finding *finding)
{
    static struct pct_ended_run run; /* large */
    struct pct_engine engine = { .launch = &c->launch, .quiet = true };
    struct pct_run_spec spec = { .index = UINT64_MAX };
    struct pct_signature signature;
    char error[256];
    if (pct_run_spec_parse(&spec, finding->token, error, sizeof error))
        return pct_cli_usage("%s", error);
    int status = pct_engine_run_one(&engine, &spec, &run);
    if (!status)
        status = pct_explorer_keep_classify(e->keep, c, &run.process, &run.result);
    if (status)
        return status;
    if (!pct_signature_make(&signature, &run.process, &run.result)) {
        finding->replayed = signature.hash == finding->hash;
        if (finding->replayed)
            snprintf(finding->token, sizeof finding->token, "%s", run.result.trace.header.token);
        pct_signature_free(&signature);
    }
    pct_ended_run_close(&run);
    return 0;
}

int pct_explorer_replay(struct pct_explorer *e, struct pct_campaign *c)
{
    e->fresh = false;
    for (size_t i = 0; i < e->findings; i++) {
        struct pct_finding *finding = &e->finding[i];
        if (finding->replayed || !finding->token[0])
            continue;
        int status = replay(e, c, finding);
        if (status)
            return status;
        if (!finding->replayed)
            finding->token[0] = 0;
    }
    return pct_explorer_keep_confirm(e->keep, c);
}
