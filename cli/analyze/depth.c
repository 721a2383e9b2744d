/* The depth of a bug, measured: see depth.h.
 *
 * PCT's definition (5 to 8): a set of constraints such that every schedule that keeps to them shows the bug; the depth
 * is the size of the smallest. All orderings of the failing run together are such a set, if the schedule decides the
 * outcome. Delta debugging takes away what is not needed; whether a set is enough is asked of random schedules that
 * keep to it, and one that passes is a proof that it is not. */
#include "depth.h"
#include "negated_orders.h"
#include "constrained_runs.h"
#include "queries.h"
#include "shrink.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A schedule that fails may be simpler than all before. */
static void remember(void *context, const struct pct_query_run *run, bool passes)
{
    struct pct_depth *depth = context;
    const struct pct_trace *trace = &run->result.trace;
    const struct pct_trace_header *header = &trace->header;
    uint64_t size = pct_shrink_size(header);
    bool simpler = size < depth->simplest_size ||
                   (size == depth->simplest_size && header->preemptions < depth->simplest_preemptions);
    struct pct_switches switches;
    if (passes || !run->fails || !trace->complete || (depth->simplest.item && !simpler) ||
        pct_switches_from_trace(&switches, trace))
        return;
    pct_switches_free(&depth->simplest);
    depth->simplest = switches;
    depth->simplest_size = size;
    depth->simplest_preemptions = header->preemptions;
}

/* A failure that the schedule does not decide alone: it has to come as often as under the schedule that was found. */
static bool is_sometimes(const struct pct_constrained *k)
{
    return k->runs->rate < 1;
}

/* Whether the sample says that the set is enough. */
static bool says_enough(const struct pct_constrained *k)
{
    return is_sometimes(k) ? k->failed && k->failed >= k->runs->rate * pct_constrained_of(k)
                           : k->failed == pct_constrained_of(k) && k->failed >= k->schedules;
}

/* As many schedules as this, or as it takes to see a rate. */
static unsigned at_least(const struct pct_constrained *k, unsigned schedules)
{
    return k->runs->repeat > schedules ? k->runs->repeat : schedules;
}

/* How many schedules fail that keep to what is left. */
static int confirm(struct pct_constrained *k, struct pct_depth *depth, const bool *keep)
{
    k->most_passed = UINT32_MAX;
    int stop = pct_constrained_sample(k, keep);
    depth->failed = k->failed;
    depth->of = pct_constrained_of(k);
    return stop;
}

/* Constraints need not be between operations that depend on each other: two of those found may follow from one, under
 * which every schedule keeps to both. Those that some schedules can only break are left apart: a thread would wait for
 * one that waits for it. */
static int merge(struct pct_constrained *k, struct pct_depth *depth, struct pct_orders *orders, bool *keep,
                 const struct pct_trace *trace)
{
    size_t count = orders->count;
    bool merged = false, *kept = malloc(count + 1);
    struct pct_order *items = malloc((count + 1) * sizeof *items);
    unsigned failed = depth->failed, of = depth->of;
    int stop = kept && items ? 0 : -ENOMEM;
    if (!stop) {
        memcpy(kept, keep, count * sizeof *kept);
        memcpy(items, orders->item, count * sizeof *items);
    }
    for (size_t i = 0; !stop && i < count; i++)
        for (size_t j = i + 1; j < count && keep[i]; j++)
            if (keep[j] && pct_orders_merge(&orders->item[j], &orders->item[i], trace)) {
                keep[i] = false;
                merged = true;
            }
    if (merged)
        stop = confirm(k, depth, keep);
    if (merged && !stop && (k->forced || depth->failed < depth->of)) {
        memcpy(keep, kept, count * sizeof *kept);
        memcpy(orders->item, items, count * sizeof *items);
        depth->failed = failed;
        depth->of = of;
    }
    free(kept);
    free(items);
    return stop;
}

/* Take away what is not needed, and confirm what is left by more schedules than the search took. If one of these
 * passes, the search was content with too little: once more with three times as many. keep: all; in the end the
 * orderings that are needed. */
static int find_needs(struct pct_constrained *k, struct pct_depth *depth, bool *keep)
{
    int stop = 0;
    for (unsigned again = 0; !stop && again < PCT_DEPTH_AGAIN; again++) {
        memset(keep, true, k->orders->count);
        pct_queries_step(k->runs, "looking for the orderings that the bug needs", 0);
        k->most_passed = is_sometimes(k) ? UINT32_MAX : 1;
        stop = pct_constrained_reduce(k, keep, says_enough);
        unsigned searched = k->schedules;
        k->schedules = searched > PCT_DEPTH_CONFIRM ? searched : PCT_DEPTH_CONFIRM;
        if (!stop)
            stop = confirm(k, depth, keep);
        if (stop || depth->failed == depth->of || is_sometimes(k))
            break;
        k->schedules = 3 * searched;
    }
    k->schedules = at_least(k, PCT_DEPTH_CONFIRM);
    return stop;
}

/* What is left of the orderings, as the result. */
static int take_needs(struct pct_depth *depth, const struct pct_orders *orders, const bool *keep)
{
    depth->needs = calloc(orders->count + 1, sizeof *depth->needs);
    for (size_t i = 0; depth->needs && i < orders->count; i++)
        if (keep[i])
            depth->needs[depth->count++].order = orders->item[i];
    return depth->needs ? 0 : -ENOMEM;
}

bool pct_need_decides(const struct pct_depth *depth, const struct pct_need *need)
{
    uint64_t fail = need->negated.failed + need->negated.otherwise, of = pct_tally_of(&need->negated);
    return !of || need->held.count || fail * depth->of < depth->failed * of;
}

/* What the failure has to do with comes first. */
static void sort_needs(struct pct_depth *depth)
{
    for (size_t i = 1; i < depth->count; i++)
        for (size_t j = i;
             j && pct_need_decides(depth, &depth->needs[j]) && !pct_need_decides(depth, &depth->needs[j - 1]); j--) {
            struct pct_need swapped = depth->needs[j];
            depth->needs[j] = depth->needs[j - 1];
            depth->needs[j - 1] = swapped;
        }
}

int pct_depth_measure(struct pct_depth *depth, struct pct_query_runs *runs, const struct pct_run_view *failing,
                      const struct pct_run_view *passing)
{
    struct pct_orders orders;
    memset(depth, 0, sizeof *depth);
    if (pct_orders_from_trace(&orders, failing, passing))
        return runs->status = PCT_EXIT_INTERNAL;
    struct pct_constrained k = { .runs = runs,
                                 .orders = &orders,
                                 .negated = SIZE_MAX,
                                 .seed = 1,
                                 .most_failed = UINT32_MAX,
                                 .look = remember,
                                 .context = depth };
    k.schedules = at_least(&k, PCT_DEPTH_SEARCH);
    bool *keep = malloc(orders.count + orders.wakes + 1);
    depth->candidates = orders.count;
    depth->left_out = orders.left_out;
    int stop = keep ? 0 : -ENOMEM;
    if (!stop) {
        memset(keep, true, orders.count);
        pct_queries_step(runs, "checking whether the order of calls decides it", 1);
        k.most_passed = is_sometimes(&k) ? UINT32_MAX : 1;
        stop = pct_constrained_sample(&k, keep);
    }
    /* Most bugs leave it to chance whom a signal wakes, or it follows from the orderings. */
    if (!stop && !says_enough(&k) && orders.wakes) {
        orders.count += orders.wakes;
        orders.wakes = 0;
        depth->candidates = orders.count;
        memset(keep, true, orders.count);
        stop = pct_constrained_sample(&k, keep);
    }
    depth->measured = !stop && says_enough(&k);
    depth->failed = k.failed;
    depth->of = pct_constrained_of(&k);
    if (!stop && depth->measured)
        stop = find_needs(&k, depth, keep);
    if (!stop && depth->measured)
        stop = merge(&k, depth, &orders, keep, failing->trace);
    /* What was not confirmed is no result. */
    depth->measured = depth->measured && !runs->late;
    if (!stop && depth->measured)
        stop = take_needs(depth, &orders, keep);
    if (!stop && depth->measured)
        stop = pct_negated_orders_measure(depth, runs, &orders, failing->trace, &k.seed);
    sort_needs(depth);
    free(keep);
    pct_orders_free(&orders);
    if (stop && !runs->status)
        runs->status = PCT_EXIT_INTERNAL;
    return runs->status;
}

void pct_depth_free(struct pct_depth *depth)
{
    for (size_t i = 0; i < depth->count; i++)
        pct_orders_free(&depth->needs[i].held);
    free(depth->needs);
    pct_switches_free(&depth->simplest);
    memset(depth, 0, sizeof *depth);
}
