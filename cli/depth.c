/* The depth of a bug, measured: see depth.h.
 *
 * PCT's definition (5 to 8): a set of constraints such that every schedule that keeps to them shows the bug; the depth is the
 * size of the smallest. All orderings of the failing run together are such a set, if the schedule decides the outcome.
 * Delta debugging takes away what is not needed; whether a set is enough is asked of random schedules that keep to it, and
 * one that passes is a proof that it is not. */
#include "depth.h"
#include "reduce.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct search {
    struct pct_depth *depth;
    struct pct_trials *trials;
    const struct pct_orders *orders;
    uint64_t seed;
    unsigned schedules;
    unsigned failed, passed; /* in the last test */
};

/* A schedule that fails. */
static void remember(struct pct_depth *depth, const struct pct_trace *trace)
{
    const struct pct_trace_header *header = &trace->header;
    bool simpler = header->preemptions < depth->simplest_preemptions ||
                   (header->preemptions == depth->simplest_preemptions && header->switches < depth->simplest_switches);
    struct pct_switches switches;
    if (!trace->complete || (depth->simplest.item && !simpler) || pct_switches_from_trace(&switches, trace))
        return;
    pct_switches_free(&depth->simplest);
    depth->simplest = switches;
    depth->simplest_preemptions = header->preemptions;
    depth->simplest_switches = header->switches;
}

/* Run schedules that keep to the constraints, until `passes` have passed or `schedules` of them were made. Negative: stop. */
static int sample(struct search *s, const bool *keep, size_t flipped, unsigned passes)
{
    static struct pct_trial trial;
    char *list = pct_orders_format(s->orders, keep, flipped);
    s->failed = s->passed = 0;
    if (!list)
        return -ENOMEM;
    /* A schedule that is forced to break a constraint says nothing; too many of these say that they contradict each other. */
    unsigned void_ = 0;
    while (s->failed + s->passed < s->schedules && s->passed < passes && void_ < 2 * s->schedules) {
        if (pct_trial_run(s->trials, &trial, "order", list, s->seed++)) {
            free(list);
            return -1;
        }
        if (trial.fails) {
            s->failed++;
            remember(s->depth, &trial.result.trace);
        } else if (pct_orders_broken(s->orders, keep, flipped, &trial.result.trace))
            void_++;
        else
            s->passed++;
        pct_trial_close(&trial);
    }
    free(list);
    return 0;
}

static int is_enough(void *context, const bool *keep, size_t count)
{
    (void)count;
    struct search *s = context;
    int stop = sample(s, keep, SIZE_MAX, 1);
    return stop ? stop : !s->passed && s->failed >= s->schedules;
}

/* The other way round, one after the other. */
static int flip(struct search *s, const bool *keep, struct pct_depth *depth)
{
    for (size_t i = 0; i < s->orders->count; i++) {
        if (!keep[i])
            continue;
        int stop = sample(s, keep, i, UINT32_MAX);
        if (stop)
            return stop;
        depth->needs[depth->count++] =
            (struct pct_need){ .order = s->orders->item[i], .passed = s->passed, .of = s->passed + s->failed };
    }
    return 0;
}

int pct_depth_measure(struct pct_depth *depth, struct pct_trials *trials, const struct pct_run_view *failing,
                      const struct pct_run_view *passing)
{
    struct pct_orders orders;
    memset(depth, 0, sizeof *depth);
    if (pct_orders_from_trace(&orders, failing, passing))
        return trials->status = PCT_EXIT_INTERNAL;
    struct search s = { .depth = depth, .trials = trials, .orders = &orders, .seed = 1, .schedules = PCT_DEPTH_SEARCH };
    bool *keep = malloc(orders.count + 1);
    depth->candidates = orders.count;
    depth->needs = calloc(orders.count + 1, sizeof *depth->needs);
    int stop = keep && depth->needs ? 0 : -ENOMEM;
    if (!stop) {
        memset(keep, true, orders.count);
        stop = is_enough(&s, keep, orders.count);
    }
    depth->measured = stop > 0;
    depth->failed = s.failed;
    depth->of = s.failed + s.passed;
    if (stop > 0)
        stop = pct_reduce(keep, orders.count, is_enough, &s);
    s.schedules = PCT_DEPTH_CONFIRM;
    if (!stop && depth->measured)
        stop = sample(&s, keep, SIZE_MAX, UINT32_MAX);
    if (!stop && depth->measured) {
        depth->failed = s.failed;
        depth->of = s.failed + s.passed;
        stop = flip(&s, keep, depth);
    }
    free(keep);
    pct_orders_free(&orders);
    if (stop && !trials->status)
        trials->status = PCT_EXIT_INTERNAL;
    return trials->status;
}

void pct_depth_free(struct pct_depth *depth)
{
    free(depth->needs);
    pct_switches_free(&depth->simplest);
    memset(depth, 0, sizeof *depth);
}
