/* The depth of a bug, measured: see depth.h.
 *
 * PCT's definition (5 to 8): a set of constraints such that every schedule that keeps to them shows the bug; the depth is the
 * size of the smallest. All orderings of the failing run together are such a set, if the schedule decides the outcome.
 * Delta debugging takes away what is not needed; whether a set is enough is asked of random schedules that keep to it, and
 * one that passes is a proof that it is not. */
#include "depth.h"
#include "reduce.h"
#include "series.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct search {
    struct pct_depth *depth;
    struct pct_trials *trials;
    const struct pct_orders *orders;
    uint64_t seed; /* of the next question's first schedule */
    unsigned schedules;
    unsigned failed, passed; /* in the last test */
    unsigned forced;         /* schedules in it that were forced to break a constraint */
    /* What is asked: */
    struct pct_reduction ahead; /* of delta debugging, what is tried next; */
    const bool *keep;           /* or one set */
    size_t flipped;
    unsigned passes; /* so many schedules that pass are an answer */
    bool enough;     /* a set was found, */
    size_t which;    /* of this number */
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

/* Schedules that keep to these constraints. A schedule that is forced to break one says nothing; so there may be three times as many
 * as are wanted, each with a seed of its own. */
static int ask_set(const struct search *s, size_t number, struct pct_question *question, const bool *keep,
                   size_t flipped)
{
    bool *copy = malloc(s->orders->count + 1);
    question->data = copy;
    question->what = (struct pct_try){ .strategy = "order",
                                       .list = pct_orders_format(s->orders, keep, flipped),
                                       .seed = s->seed + 3 * s->schedules * number };
    question->spread = true;
    question->expected = s->schedules;
    if (!copy || !question->what.list)
        return -ENOMEM;
    memcpy(copy, keep, s->orders->count * sizeof *copy);
    return 1;
}

/* One more schedule was made. Whether that is all: `passes` have passed, or enough were made; or so many were forced to break a
 * constraint that these must contradict each other. */
static bool is_sampled(struct search *s, const struct pct_question *question, size_t flipped,
                       const struct pct_trial *trial)
{
    if (trial->fails) {
        s->failed++;
        remember(s->depth, &trial->result.trace);
    } else if (pct_orders_broken(s->orders, question->data, flipped, &trial->result.trace))
        s->forced++;
    else
        s->passed++;
    return s->failed + s->passed >= s->schedules || s->passed >= s->passes || s->forced >= 2 * s->schedules;
}

static void start_sample(struct search *s)
{
    s->failed = s->passed = s->forced = 0;
}

static int ask_one(void *context, size_t number, struct pct_question *question)
{
    struct search *s = context;
    return number ? 0 : ask_set(s, number, question, s->keep, s->flipped);
}

static enum pct_answer answer_one(void *context, size_t number, struct pct_question *question, struct pct_trial *trial)
{
    struct search *s = context;
    (void)number;
    if (is_sampled(s, question, s->flipped, trial))
        return PCT_ANSWER_STOP;
    question->expected = s->schedules + s->forced;
    return PCT_ANSWER_MORE;
}

/* Run schedules that keep to the constraints, until `passes` have passed or `schedules` of them were made. Negative: stop. */
static int sample(struct search *s, const bool *keep, size_t flipped, unsigned passes)
{
    struct pct_series series = { .ask = ask_one, .answer = answer_one, .context = s };
    s->keep = keep;
    s->flipped = flipped;
    s->passes = passes;
    start_sample(s);
    int stop = pct_series_run(s->trials, &series);
    s->seed += 3 * s->schedules;
    return stop ? -1 : 0;
}

/* A failure that the schedule does not decide alone: it has to come as often as under the schedule that was found. */
static bool is_sometimes(const struct search *s)
{
    return s->trials->rate < 1;
}

/* Whether the sample says that the set is enough. */
static bool says_enough(const struct search *s)
{
    return is_sometimes(s) ? s->failed && s->failed >= s->trials->rate * (s->failed + s->passed)
                           : !s->passed && s->failed >= s->schedules;
}

static int ask_part(void *context, size_t number, struct pct_question *question)
{
    struct search *s = context;
    bool *keep = malloc(s->orders->count + 1);
    int there = !keep ? -ENOMEM : pct_reduction_next(&s->ahead, keep);
    if (there > 0)
        there = ask_set(s, number, question, keep, SIZE_MAX);
    free(keep);
    return there;
}

static enum pct_answer answer_part(void *context, size_t number, struct pct_question *question, struct pct_trial *trial)
{
    struct search *s = context;
    if (!is_sampled(s, question, SIZE_MAX, trial)) {
        question->expected = s->schedules + s->forced;
        return PCT_ANSWER_MORE;
    }
    s->enough = says_enough(s);
    s->which = number;
    start_sample(s);
    return s->enough ? PCT_ANSWER_STOP : PCT_ANSWER_NEXT;
}

/* The first set of delta debugging that is enough. */
static int first_enough(void *context, struct pct_reduction ahead, size_t *which)
{
    struct search *s = context;
    struct pct_series series = { .ask = ask_part, .answer = answer_part, .context = s };
    s->ahead = ahead;
    s->passes = is_sometimes(s) ? UINT32_MAX : 1;
    s->enough = false;
    s->which = 0;
    start_sample(s);
    s->trials->progress.left = pct_reduction_left(&ahead);
    if (pct_series_run(s->trials, &series))
        return -1;
    s->seed += 3 * s->schedules * (s->which + 1);
    *which = s->which;
    return s->enough;
}

/* How many schedules fail that keep to what is left. */
static int confirm(struct search *s, const bool *keep)
{
    int stop = sample(s, keep, SIZE_MAX, UINT32_MAX);
    s->depth->failed = s->failed;
    s->depth->of = s->failed + s->passed;
    return stop;
}

/* Constraints need not be between operations that depend on each other: two of those found may follow from one, under which
 * every schedule keeps to both. Those that some schedules can only break are left apart: a thread would wait for one that waits
 * for it. */
static int merge(struct search *s, struct pct_orders *orders, bool *keep, const struct pct_trace *trace)
{
    size_t count = orders->count;
    bool merged = false, *kept = malloc(count + 1);
    struct pct_order *items = malloc((count + 1) * sizeof *items);
    unsigned failed = s->depth->failed, of = s->depth->of;
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
        stop = confirm(s, keep);
    if (merged && !stop && (s->forced || s->passed)) {
        memcpy(keep, kept, count * sizeof *kept);
        memcpy(orders->item, items, count * sizeof *items);
        s->depth->failed = failed;
        s->depth->of = of;
    }
    free(kept);
    free(items);
    return stop;
}

/* The other way round, one after the other. */
static int flip(struct search *s, const bool *keep, struct pct_depth *depth)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->orders->count; i++)
        kept += keep[i];
    s->schedules = s->trials->repeat > PCT_DEPTH_FLIPPED ? s->trials->repeat : PCT_DEPTH_FLIPPED;
    pct_series_step(s->trials, "turning each ordering round", kept);
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

/* Take away what is not needed, and confirm what is left by more schedules than the search took. If one of these passes, the search
 * was content with too little: once more with three times as many. keep: all; in the end the orderings that are needed. */
static int find_needs(struct search *s, bool *keep)
{
    size_t count = s->orders->count;
    int stop = 0;
    for (unsigned again = 0; !stop && again < PCT_DEPTH_AGAIN; again++) {
        memset(keep, true, count);
        pct_series_step(s->trials, "looking for the orderings that it needs", 0);
        stop = pct_reduce(keep, count, first_enough, s);
        unsigned searched = s->schedules;
        s->schedules = searched > PCT_DEPTH_CONFIRM ? searched : PCT_DEPTH_CONFIRM;
        if (!stop)
            stop = confirm(s, keep);
        if (stop || !s->passed || s->trials->rate < 1)
            break;
        s->schedules = 3 * searched;
    }
    s->schedules = s->trials->repeat > PCT_DEPTH_CONFIRM ? s->trials->repeat : PCT_DEPTH_CONFIRM;
    return stop;
}

int pct_depth_measure(struct pct_depth *depth, struct pct_trials *trials, const struct pct_run_view *failing,
                      const struct pct_run_view *passing)
{
    struct pct_orders orders;
    memset(depth, 0, sizeof *depth);
    if (pct_orders_from_trace(&orders, failing, passing))
        return trials->status = PCT_EXIT_INTERNAL;
    struct search s = { .depth = depth, .trials = trials, .orders = &orders, .seed = 1, .schedules = PCT_DEPTH_SEARCH };
    s.schedules = trials->repeat > s.schedules ? trials->repeat : s.schedules;
    bool *keep = malloc(orders.count + 1);
    depth->candidates = orders.count;
    depth->left_out = orders.left_out;
    depth->needs = calloc(orders.count + 1, sizeof *depth->needs);
    int stop = keep && depth->needs ? 0 : -ENOMEM;
    if (!stop) {
        memset(keep, true, orders.count);
        pct_series_step(trials, "seeing whether the order of calls decides it", 1);
        stop = sample(&s, keep, SIZE_MAX, is_sometimes(&s) ? UINT32_MAX : 1);
    }
    depth->measured = !stop && says_enough(&s);
    depth->failed = s.failed;
    depth->of = s.failed + s.passed;
    if (depth->measured)
        stop = find_needs(&s, keep);
    if (!stop && depth->measured)
        stop = merge(&s, &orders, keep, failing->trace);
    if (!stop && depth->measured)
        stop = flip(&s, keep, depth);
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
