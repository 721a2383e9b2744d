/* Schedules that keep to a set of constraints: see constrained_runs.h. */
#include "constrained_runs.h"
#include "queries.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

unsigned pct_constrained_of(const struct pct_constrained *k)
{
    return k->failed + k->otherwise + k->passed;
}

/* Schedules that keep to these constraints. One that is forced to break a constraint says nothing; so there may be
 * three times as many as are wanted, each with a seed of its own. */
static int ask_set(const struct pct_constrained *k, size_t number, struct pct_query *query, const bool *keep)
{
    bool *copy = malloc(k->orders->count + 1);
    query->data = copy;
    query->what = (struct pct_try){ .strategy = "order",
                                    .list = pct_orders_format(k->orders, keep, k->negated),
                                    .seed = k->seed + 3 * k->schedules * number };
    query->spread = true;
    query->expected = k->schedules;
    if (!copy || !query->what.list)
        return -ENOMEM;
    memcpy(copy, keep, k->orders->count * sizeof *copy);
    return 1;
}

/* One more schedule was made. Whether that is all: enough were made, or the limits are met; or this many were forced to
 * break a constraint that these must contradict each other. */
static bool is_sampled(struct pct_constrained *k, const struct pct_query *query, const struct pct_query_run *run)
{
    struct pct_failure failure;
    bool passes = !pct_failure_read(&failure, &run->result);
    /* What a watchpoint tells of has been done when its step is recorded (docs/WATCH.md): the steps of a run that fails
     * do not say then that it broke anything. */
    bool unsure = run->fails && *k->runs->config.watch;
    /* A run that ended where it had to fail may have kept to all that it came to. */
    if (!unsure && pct_orders_broken(k->orders, query->data, k->negated, &run->result.trace)) {
        k->forced++;
    } else {
        k->failed += run->fails;
        k->passed += passes;
        k->otherwise += !run->fails && !passes;
        if (k->look)
            k->look(k->context, run, passes);
    }
    return pct_constrained_of(k) >= k->schedules || k->passed + k->otherwise >= k->most_passed ||
           k->failed + k->otherwise >= k->most_failed || k->forced >= 2 * k->schedules;
}

static void start_sample(struct pct_constrained *k)
{
    k->failed = k->otherwise = k->passed = k->forced = 0;
}

static int ask_one(void *context, size_t number, struct pct_query *query)
{
    struct pct_constrained *k = context;
    return number ? 0 : ask_set(k, number, query, k->keep);
}

static enum pct_answer answer_one(void *context, size_t number, struct pct_query *query, struct pct_query_run *run)
{
    struct pct_constrained *k = context;
    (void)number;
    if (is_sampled(k, query, run))
        return PCT_ANSWER_STOP;
    query->expected = k->schedules + k->forced;
    return PCT_ANSWER_MORE;
}

int pct_constrained_sample(struct pct_constrained *k, const bool *keep)
{
    struct pct_queries queries = { .ask = ask_one, .answer = answer_one, .context = k };
    k->keep = keep;
    start_sample(k);
    int stop = pct_queries_run(k->runs, &queries);
    k->seed += 3 * k->schedules;
    return stop;
}

static int ask_part(void *context, size_t number, struct pct_query *query)
{
    struct pct_constrained *k = context;
    bool *keep = malloc(k->orders->count + 1);
    int there = !keep ? -ENOMEM : pct_reduction_next(&k->ahead, keep + k->fixed);
    for (size_t i = 0; there > 0 && i < k->fixed; i++)
        keep[i] = true;
    if (there > 0)
        there = ask_set(k, number, query, keep);
    free(keep);
    return there;
}

static enum pct_answer answer_part(void *context, size_t number, struct pct_query *query, struct pct_query_run *run)
{
    struct pct_constrained *k = context;
    if (!is_sampled(k, query, run)) {
        query->expected = k->schedules + k->forced;
        return PCT_ANSWER_MORE;
    }
    k->found = k->enough(k);
    k->which = number;
    start_sample(k);
    return k->found ? PCT_ANSWER_STOP : PCT_ANSWER_NEXT;
}

/* The first set of delta debugging that is enough. */
static int first_enough(void *context, struct pct_reduction ahead, size_t *which)
{
    struct pct_constrained *k = context;
    struct pct_queries queries = { .ask = ask_part, .answer = answer_part, .context = k };
    k->ahead = ahead;
    k->found = false;
    k->which = 0;
    start_sample(k);
    k->runs->progress.left = pct_reduction_left(&ahead);
    if (pct_queries_run(k->runs, &queries))
        return -1;
    k->seed += 3 * k->schedules * (k->which + 1);
    *which = k->which;
    return k->found;
}

int pct_constrained_reduce(struct pct_constrained *k, bool *keep,
                           bool (*enough)(const struct pct_constrained *constrained))
{
    k->enough = enough;
    return pct_delta_debug(keep + k->fixed, k->orders->count - k->fixed, first_enough, k);
}
