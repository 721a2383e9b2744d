/* Smaller schedules from other failing runs: see other_failures.h. */
#include "other_failures.h"
#include "queries.h"
#include <cli/campaign/signature.h>
#include <errno.h>
#include <string.h>

enum { TRIES = 48 };

struct others {
    uint64_t signature; /* of the failure; 0: not known */
    uint64_t size;      /* of the smallest run so far: others are larger, or as large */
    struct pct_switches smallest;
};

static int ask(void *context, size_t number, struct pct_query *query)
{
    (void)context;
    if (number == TRIES)
        return 0;
    query->what = (struct pct_try){ .strategy = "order", .list = strdup(""), .seed = number };
    query->expected = 1;
    return query->what.list ? 1 : -ENOMEM;
}

static enum pct_answer answer(void *context, size_t number, struct pct_query *query, struct pct_query_run *run)
{
    (void)number;
    (void)query;
    struct others *o = context;
    struct pct_switches switches;
    const struct pct_trace *trace = &run->result.trace;
    uint64_t size = pct_shrink_size(&trace->header);
    if (!run->fails || !trace->complete || size >= o->size ||
        pct_signature_of(&run->process, &run->result) != o->signature || pct_switches_from_trace(&switches, trace))
        return PCT_ANSWER_NEXT;
    pct_switches_free(&o->smallest);
    o->smallest = switches;
    o->size = size;
    return PCT_ANSWER_NEXT;
}

int pct_other_failures_try(struct pct_shrink *s)
{
    static struct pct_query_run run;
    struct pct_query_runs *runs = &s->runs;
    struct pct_queries queries = { .ask = ask, .answer = answer };
    struct others o = { .size = UINT64_MAX };
    bool better;
    /* How large a run is says nothing where it differs from run to run. */
    if (!runs->steady || pct_query_runs_over(runs))
        return 0;
    int failed = pct_shrink_show(s, &run, NULL);
    if (failed)
        return failed;
    o.signature = pct_signature_of(&run.process, &run.result);
    /* Most of its switches will go, but few of its steps. */
    o.size = pct_shrink_size(&run.result.trace.header);
    pct_query_run_close(&run);
    queries.context = &o;
    pct_queries_step(runs, "looking for other schedules that fail", TRIES);
    if (o.signature)
        failed = pct_queries_run(runs, &queries);
    if (!failed && o.smallest.count)
        failed = pct_shrink_consider(s, &o.smallest, &better);
    pct_switches_free(&o.smallest);
    return failed;
}
