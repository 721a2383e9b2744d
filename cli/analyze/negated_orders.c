/* Each ordering that a bug needs, the other way round: see negated_orders.h.
 *
 * Where schedules fail all the same, the bug has more ways to happen, and there are two reasons for it. The ordering
 * may say more than the bug needs: of `both threads load before either stores`, a run shows `this store before that
 * one`, and when that is reversed the loads can still be where they must not be. Then a weaker one will do: an
 * earlier operation before a later one, whose other way round says more. Or the failure can come from another part of
 * the run (the next round of a loop). Then orderings that are the same in the run that fails and in one that passes
 * keep that part as it was. Where no such set is found, others of a run that passes say what must be reversed
 * besides. */
#include "negated_orders.h"
#include "constrained_runs.h"
#include "queries.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    FURTHER = 16, /* operations by which an end of an ordering is moved */
    NEAREST = 8   /* runs that pass whose common orderings are looked at */
};

/* The needs, and the orderings of a run that passes: first those that the failing run has, too. */
struct common {
    struct pct_orders orders; /* `shared` of them, or all */
    size_t shared, all;
    size_t apart; /* orderings by which the two runs differ */
};

struct negations {
    struct pct_depth *depth;
    const struct pct_orders *candidates;
    const struct pct_trace *trace;
    struct pct_constrained constrained;
    struct pct_orders needs; /* as depth has them */
    size_t which;            /* the one that is reversed */
    bool *all;               /* true, for every ordering that there can be in a set */
    struct common nearest[NEAREST];
    size_t count;
};

unsigned pct_tally_of(const struct pct_tally *tally)
{
    return tally->failed + tally->otherwise + tally->passed;
}

static bool is_open(const struct pct_tally *tally)
{
    return tally->failed || tally->otherwise;
}

/* This many schedules that keep to the set; or fewer, if this many do not fail, or do not pass. */
static int sample(struct negations *f, const struct pct_orders *set, size_t negated, unsigned schedules,
                  unsigned most_passed, unsigned most_failed)
{
    struct pct_constrained *k = &f->constrained;
    k->orders = set;
    k->negated = negated;
    k->schedules = schedules;
    k->most_passed = most_passed;
    k->most_failed = most_failed;
    return pct_constrained_sample(k, f->all);
}

static struct pct_tally tally(const struct negations *f)
{
    return (struct pct_tally){ f->constrained.failed, f->constrained.otherwise, f->constrained.passed };
}

/* Whether all of the last sample did, and it is one. */
static bool all_failed(const struct negations *f)
{
    return f->constrained.failed >= f->constrained.schedules;
}

static bool all_passed(const struct pct_constrained *k)
{
    return k->passed >= k->schedules;
}

/* As far as it goes, one end of the ordering that is `item`: its first operation to an earlier one of its thread, or
 * the other to a later one, as long as every schedule fails. */
static int move(struct negations *f, struct pct_order *item, bool first)
{
    struct pct_event *end = first ? &item->first : &item->then;
    struct pct_event best = *end;
    int stop = 0;
    for (unsigned i = 0; !stop && i < FURTHER; i++) {
        if (end->step >= f->trace->count ||
            !pct_orders_event(end, f->trace, end->thread, end->number + (first ? -1U : 1U)))
            break;
        if (first)
            end->end = 0; /* from the operation itself: that says less */
        stop = sample(f, &f->needs, SIZE_MAX, PCT_DEPTH_SEARCH, 1, UINT32_MAX);
        if (stop || !all_failed(f))
            break;
        /* A release is as good as what comes before it, and tells a reader less. */
        if (!pct_orders_releases(end->op))
            best = *end;
    }
    *end = best;
    return stop;
}

static bool is_moved(const struct pct_order *a, const struct pct_order *b)
{
    return a->first.number != b->first.number || a->then.number != b->then.number;
}

/* This ordering as weak as it can be, if then none fails the other way round. */
static int weaken(struct negations *f, size_t which)
{
    struct pct_need *need = &f->depth->needs[which];
    struct pct_order *item = &f->needs.item[which], before = *item;
    if (item->wake)
        return 0;
    int stop = move(f, item, true);
    stop = stop ? stop : move(f, item, false);
    if (!stop && !is_moved(&before, item))
        return 0;
    stop = stop ? stop : sample(f, &f->needs, which, PCT_DEPTH_NEGATED, UINT32_MAX, 1);
    bool better = !stop && all_passed(&f->constrained);
    struct pct_tally negated = tally(f);
    stop = stop ? stop : better ? sample(f, &f->needs, SIZE_MAX, PCT_DEPTH_CONFIRM, 1, UINT32_MAX) : 0;
    if (stop || !better || !all_failed(f)) {
        *item = before;
        return stop;
    }
    need->order = *item;
    need->negated = negated;
    return 0;
}

/* Whether this run has this ordering, or does not come to it. */
static bool has(const struct pct_order *order, const struct pct_trace *trace)
{
    struct pct_order item = *order;
    bool keep = true;
    return !pct_orders_broken(&(struct pct_orders){ .item = &item, .count = 1 }, &keep, SIZE_MAX, trace);
}

/* Whether another ordering follows from this one. */
static bool says(const struct pct_order *order, const struct pct_order *other)
{
    if (order->wake || other->wake)
        return order->wake && other->wake && order->first.thread == other->first.thread &&
               order->first.number == other->first.number;
    return order->first.thread == other->first.thread && order->then.thread == other->then.thread &&
           order->first.number >= other->first.number && order->then.number <= other->then.number;
}

/* The needs, with the orderings of this run that the failing one has, too, and those of the failing one that this one
 * has. Returns 0, or -ENOMEM. */
static int find_common(struct common *common, const struct negations *f, const struct pct_trace *trace)
{
    static const struct pct_snapshot no_snapshot;
    struct pct_orders orders;
    struct pct_run_view view = { trace, &no_snapshot };
    *common = (struct common){ 0 };
    if (pct_orders_from_trace(&orders, &view, NULL))
        return -ENOMEM;
    orders.count += orders.wakes;
    size_t candidates = f->candidates->count + f->candidates->wakes;
    size_t most = f->needs.count + orders.count + candidates;
    struct pct_order *item = calloc(most + 1, sizeof *item);
    size_t count = f->needs.count;
    if (item)
        memcpy(item, f->needs.item, count * sizeof *item);
    for (size_t i = 0; item && i < candidates; i++)
        if (!has(&f->candidates->item[i], trace))
            common->apart++;
        /* A run that does not come to the ordering which it turns round has it, too; but held, the two contradict each
         * other. */
        else if (!says(&f->candidates->item[i], &f->needs.item[f->which]))
            item[count++] = f->candidates->item[i];
    for (size_t i = 0; item && i < orders.count; i++)
        if (has(&orders.item[i], f->trace))
            item[count++] = orders.item[i];
    common->shared = count;
    for (size_t i = 0; item && i < orders.count; i++)
        if (!has(&orders.item[i], f->trace))
            item[count++] = orders.item[i];
    common->all = count;
    common->apart += count - common->shared;
    pct_orders_free(&orders);
    common->orders = (struct pct_orders){ .item = item };
    return item ? 0 : -ENOMEM;
}

/* A run with an ordering reversed: of those that pass, the nearest to the failing run are kept, the very nearest
 * first. */
static void keep_nearest(void *context, const struct pct_query_run *run, bool passes)
{
    struct negations *f = context;
    struct common common;
    if (!passes || !run->result.trace.complete || find_common(&common, f, &run->result.trace))
        return;
    size_t at = f->count;
    while (at && f->nearest[at - 1].apart > common.apart)
        at--;
    if (at == NEAREST) {
        pct_orders_free(&common.orders);
        return;
    }
    if (f->count == NEAREST)
        pct_orders_free(&f->nearest[NEAREST - 1].orders);
    else
        f->count++;
    memmove(f->nearest + at + 1, f->nearest + at, (f->count - at - 1) * sizeof *f->nearest);
    f->nearest[at] = common;
}

static void forget_nearest(struct negations *f)
{
    for (size_t i = 0; i < f->count; i++)
        pct_orders_free(&f->nearest[i].orders);
    f->count = 0;
}

/* Operations as the failing run has them; those that it does not come to as they were found. */
static void find_in_run(const struct negations *f, struct pct_event *event)
{
    struct pct_event there = *event;
    if (event->step >= PCT_STEP_LATER)
        return;
    if (pct_orders_find(&there, f->trace))
        *event = there;
    else
        event->step = PCT_STEP_LATER;
}

/* With these orderings, does none fail if this one is reversed, and all as it is (if the failing run has them all)?
 */
static int confirm_held(struct negations *f, const struct pct_orders *set, bool shared, size_t which, bool *fine)
{
    struct pct_need *need = &f->depth->needs[which];
    int stop = sample(f, set, which, PCT_DEPTH_CONFIRM, UINT32_MAX, 1);
    need->held_negated = tally(f);
    *fine = !stop && all_passed(&f->constrained);
    if (*fine && shared) {
        stop = sample(f, set, SIZE_MAX, PCT_DEPTH_CONFIRM, 1, UINT32_MAX);
        need->held_kept = tally(f);
        *fine = !stop && all_failed(f);
    }
    return stop;
}

/* The fewest orderings of the set that will do, judged by this many schedules each; they are the first of it then. */
static int reduce_held(struct negations *f, const struct pct_orders *set, size_t which, unsigned schedules,
                       struct pct_orders *least)
{
    bool *keep = malloc(set->count + 1);
    least->item = calloc(set->count + 1, sizeof *least->item);
    least->count = 0;
    int stop = keep && least->item ? 0 : -ENOMEM;
    if (!stop) {
        memset(keep, true, set->count);
        f->constrained.orders = set;
        f->constrained.negated = which;
        f->constrained.schedules = schedules;
        f->constrained.most_passed = UINT32_MAX;
        f->constrained.most_failed = 1;
        stop = pct_constrained_reduce(&f->constrained, keep, all_passed);
    }
    for (size_t i = 0; !stop && i < set->count; i++)
        if (keep[i])
            least->item[least->count++] = set->item[i];
    free(keep);
    return stop;
}

/* Of these orderings, the fewest that will do, as the result. *possible: all of them would do. */
static int take_held(struct negations *f, const struct pct_orders *set, bool shared, size_t which, bool *possible)
{
    struct pct_need *need = &f->depth->needs[which];
    /* What seldom fails passes for good too easily. */
    unsigned schedules = 4 * pct_tally_of(&need->negated) / (need->negated.failed + need->negated.otherwise);
    schedules = schedules > PCT_DEPTH_NEGATED ? schedules : PCT_DEPTH_NEGATED;
    int stop = sample(f, set, which, schedules, UINT32_MAX, 1);
    *possible = !stop && all_passed(&f->constrained);
    bool fine = false;
    for (unsigned again = 0; *possible && !stop && !fine && again < PCT_DEPTH_AGAIN; again++, schedules *= 3) {
        struct pct_orders least;
        stop = reduce_held(f, set, which, schedules, &least);
        stop = stop ? stop : confirm_held(f, &least, shared, which, &fine);
        if (!fine) {
            pct_orders_free(&least);
            continue;
        }
        least.count -= f->needs.count;
        memmove(least.item, least.item + f->needs.count, least.count * sizeof *least.item);
        for (size_t i = 0; i < least.count; i++) {
            find_in_run(f, &least.item[i].first);
            find_in_run(f, &least.item[i].then);
        }
        need->held = least;
        need->shared = shared;
    }
    return stop;
}

/* What has to be held, too, so that the failure depends on this ordering alone. */
static int hold(struct negations *f, size_t which)
{
    f->which = which;
    f->constrained.look = keep_nearest;
    f->constrained.context = f;
    int stop = sample(f, &f->needs, which, PCT_DEPTH_NEGATED, UINT32_MAX, UINT32_MAX);
    f->constrained.look = NULL;
    f->constrained.fixed = f->needs.count;
    bool *all = f->all;
    for (unsigned shared = 2; !stop && !f->depth->needs[which].held.count && shared-- > 0;) {
        bool possible = false;
        for (size_t i = 0; !stop && !possible && i < f->count; i++) {
            struct common *common = &f->nearest[i];
            common->orders.count = shared ? common->shared : common->all;
            f->all = malloc(common->all + 1);
            stop = f->all ? 0 : -ENOMEM;
            if (!stop) {
                memset(f->all, true, common->all);
                stop = take_held(f, &common->orders, shared, which, &possible);
            }
            free(f->all);
        }
    }
    f->all = all;
    f->constrained.fixed = 0;
    forget_nearest(f);
    return stop;
}

/* Each the other way round, under the others. */
static int turn(struct negations *f, unsigned schedules)
{
    int stop = 0;
    for (size_t i = 0; !stop && i < f->needs.count; i++) {
        stop = sample(f, &f->needs, i, schedules, UINT32_MAX, UINT32_MAX);
        f->depth->needs[i].negated = tally(f);
    }
    return stop;
}

static int measure(struct negations *f)
{
    struct pct_query_runs *runs = f->constrained.runs;
    bool weaker = false;
    pct_queries_step(runs, "reversing each ordering", f->needs.count);
    int stop = turn(f, runs->repeat > PCT_DEPTH_NEGATED ? runs->repeat : PCT_DEPTH_NEGATED);
    if (stop || runs->rate < 1 || runs->quick)
        return stop;
    for (size_t i = 0; !stop && i < f->needs.count; i++) {
        struct pct_order before = f->needs.item[i];
        if (!is_open(&f->depth->needs[i].negated))
            continue;
        pct_queries_step(runs, "looking for an ordering that says no more than is needed", 0);
        stop = weaken(f, i);
        weaker = weaker || is_moved(&before, &f->needs.item[i]);
    }
    /* The others were reversed under one that said more. */
    if (!stop && weaker)
        stop = turn(f, PCT_DEPTH_NEGATED);
    for (size_t i = 0; !stop && i < f->needs.count; i++) {
        if (!is_open(&f->depth->needs[i].negated))
            continue;
        pct_queries_step(runs, "looking for what else decides it", 0);
        stop = hold(f, i);
    }
    return stop;
}

int pct_negated_orders_measure(struct pct_depth *depth, struct pct_query_runs *runs,
                               const struct pct_orders *candidates, const struct pct_trace *trace, uint64_t *seed)
{
    struct negations f = { .depth = depth,
                           .candidates = candidates,
                           .trace = trace,
                           .constrained = { .runs = runs, .seed = *seed },
                           .needs = { .count = depth->count } };
    f.needs.item = calloc(depth->count + 1, sizeof *f.needs.item);
    f.all = malloc(depth->count + 1);
    int stop = f.needs.item && f.all ? 0 : -ENOMEM;
    for (size_t i = 0; !stop && i < depth->count; i++) {
        f.needs.item[i] = depth->needs[i].order;
        f.all[i] = true;
    }
    stop = stop ? stop : measure(&f);
    pct_orders_free(&f.needs);
    free(f.all);
    *seed = f.constrained.seed;
    return stop;
}
