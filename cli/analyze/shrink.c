/* From a failing run to the smallest schedule: see shrink.h.
 *
 * The run's trace becomes a list of all its switches; delta debugging takes away those without which it still fails
 * (they then happen, or not, in the default order of the strategy `schedule`, which has no preemption of its own) and
 * the run gets no larger; each one that is left is moved as far as it can go. */
#include "shrink.h"
#include <cli/base/list.h>
#include <cli/base/status_line.h>
#include <cli/campaign/delta_debugging.h>
#include "queries.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOVES = 64 };

/* Lists of switches that are tried one after the other. */
struct tries {
    struct pct_shrink *shrink;
    const struct pct_switches *switches;
    struct pct_reduction ahead; /* of delta debugging: what is tried next; */
    bool *keep;                 /* room for that, */
    bool failing;               /* and whether a list was found that fails, */
    size_t which;               /* of this number */
    struct pct_switch *moved;   /* of a move: the switch, */
    size_t index;               /* its number, */
    bool later;                 /* where to, */
    uint32_t from, furthest;    /* where it stood, and how far it got so far */
    uint64_t least;             /* size of the failing run of the list that was found */
    unsigned runs, failed;      /* of the list that is tried */
};

uint64_t pct_shrink_size(const struct pct_trace_header *header)
{
    return header->steps + header->switches;
}

/* It fails, and is no larger than what it would replace; where that differs from run to run, it says nothing. */
static bool is_fit(const struct tries *t, const struct pct_query_run *run)
{
    const struct pct_shrink *s = t->shrink;
    return run->fails && (!s->runs.steady || pct_shrink_size(&run->result.trace.header) <= s->most);
}

/* One more run of it: 1 or 0 if that says whether it fails, -1 if not yet. */
static int count(struct tries *t, const struct pct_query_run *run)
{
    struct pct_query_runs *runs = &t->shrink->runs;
    t->failed += is_fit(t, run);
    int verdict = pct_query_runs_verdict(runs, t->failed, ++t->runs);
    if (verdict > 0 && run->fails) {
        t->least = pct_shrink_size(&run->result.trace.header);
        runs->progress.preemptions = run->result.trace.header.preemptions;
        runs->progress.known = true;
    }
    if (verdict >= 0)
        t->runs = t->failed = 0;
    return verdict;
}

static int ask_list(const struct tries *t, struct pct_query *query, const bool *keep)
{
    const struct pct_query_runs *runs = &t->shrink->runs;
    query->what = (struct pct_try){ .strategy = "schedule",
                                    .list = pct_switches_format(t->switches, keep),
                                    .seed = runs->config.run.seed };
    query->expected = runs->repeat;
    return query->what.list ? 1 : -ENOMEM;
}

static int ask_whole(void *context, size_t number, struct pct_query *query)
{
    return number ? 0 : ask_list(context, query, NULL);
}

static int ask_part(void *context, size_t number, struct pct_query *query)
{
    struct tries *t = context;
    (void)number;
    return pct_reduction_next(&t->ahead, t->keep) ? ask_list(t, query, t->keep) : 0;
}

/* The first that fails is looked for. */
static enum pct_answer answer_part(void *context, size_t number, struct pct_query *query, struct pct_query_run *run)
{
    struct tries *t = context;
    (void)query;
    int verdict = count(t, run);
    if (verdict <= 0)
        return verdict ? PCT_ANSWER_MORE : PCT_ANSWER_NEXT;
    t->failing = true;
    t->which = number;
    t->shrink->most = t->least;
    return PCT_ANSWER_STOP;
}

/* Whether these switches fail, however large the run is: 1 or 0; negative: there is a status. must: also when the time
 * is over; otherwise they are not known to fail then. */
static int still_fails(struct pct_shrink *s, const struct pct_switches *switches, bool must)
{
    struct tries t = { .shrink = s, .switches = switches };
    struct pct_queries queries = { .ask = ask_whole, .answer = answer_part, .context = &t, .must = must };
    s->most = UINT64_MAX;
    return pct_queries_run(&s->runs, &queries) ? -1 : t.failing;
}

static int first_part(void *context, struct pct_reduction ahead, size_t *which)
{
    struct tries *t = context;
    struct pct_query_runs *runs = &t->shrink->runs;
    struct pct_queries queries = { .ask = ask_part, .answer = answer_part, .context = t };
    t->ahead = ahead;
    t->failing = false;
    runs->progress.left = pct_reduction_left(&ahead);
    if (pct_queries_run(runs, &queries))
        return -1;
    *which = t->which;
    return t->failing;
}

static int reduce(struct pct_shrink *s)
{
    bool *keep = malloc(s->minimal.count + 1), *tried = malloc(s->minimal.count + 1);
    struct tries t = { .shrink = s, .switches = &s->minimal, .keep = tried };
    int stop = keep && tried ? 0 : -ENOMEM;
    if (!stop) {
        memset(keep, true, s->minimal.count);
        pct_queries_step(&s->runs, "taking switches away", 0);
        stop = pct_delta_debug(keep, s->minimal.count, first_part, &t);
        size_t left = 0;
        for (size_t i = 0; i < s->minimal.count; i++)
            if (keep[i])
                s->minimal.item[left++] = s->minimal.item[i];
        s->minimal.count = left;
    }
    free(keep);
    free(tried);
    return stop;
}

/* Whether the switches of each thread still stand in the order of its operations. */
static bool in_order(const struct pct_switches *switches, size_t moved)
{
    const struct pct_switch *item = &switches->item[moved];
    for (size_t i = 0; i < switches->count; i++) {
        const struct pct_switch *other = &switches->item[i];
        if (i != moved && other->thread == item->thread && other->wake == item->wake &&
            (i < moved ? other->made >= item->made : other->made <= item->made))
            return false;
    }
    return true;
}

/* One operation further. The switches themselves stay where they are until the answers are there. */
static int ask_move(void *context, size_t number, struct pct_query *query)
{
    struct tries *t = context;
    uint32_t by = (uint32_t)number + 1;
    if (number == MOVES || (!t->later && by > t->from))
        return 0;
    t->moved->made = t->later ? t->from + by : t->from - by;
    int there = in_order(t->switches, t->index) ? ask_list(t, query, NULL) : 0;
    t->moved->made = t->from;
    return there;
}

/* The first that does not fail ends it. */
static enum pct_answer answer_move(void *context, size_t number, struct pct_query *query, struct pct_query_run *run)
{
    struct tries *t = context;
    uint32_t by = (uint32_t)number + 1;
    (void)query;
    int verdict = count(t, run);
    if (verdict > 0)
        t->furthest = t->later ? t->from + by : t->from - by;
    return verdict < 0 ? PCT_ANSWER_MORE : verdict ? PCT_ANSWER_NEXT : PCT_ANSWER_STOP;
}

/* How far item i can move in this direction, one operation at a time. */
static int move(struct pct_shrink *s, size_t i, bool later, uint32_t *furthest)
{
    struct pct_switch *item = &s->minimal.item[i];
    struct tries t = { .shrink = s,
                       .switches = &s->minimal,
                       .moved = item,
                       .index = i,
                       .later = later,
                       .from = item->made,
                       .furthest = item->made };
    struct pct_queries queries = { .ask = ask_move, .answer = answer_move, .context = &t };
    int stop = pct_queries_run(&s->runs, &queries);
    *furthest = t.furthest;
    return stop;
}

/* The switches as late as they can be: there the operation stands without which the failure goes away. */
static int move_all(struct pct_shrink *s)
{
    free(s->ranges);
    s->ranges = calloc(s->minimal.count + 1, sizeof *s->ranges);
    if (!s->ranges)
        return -ENOMEM;
    pct_queries_step(&s->runs, "moving switches", 0);
    for (size_t i = s->minimal.count; i-- > 0;) {
        struct pct_switch *item = &s->minimal.item[i];
        if (item->wake || item->awaits || item->back)
            continue; /* they are where they can be */
        int stop = move(s, i, false, &s->ranges[i].earliest);
        stop = stop ? stop : move(s, i, true, &s->ranges[i].latest);
        if (stop)
            return stop;
        item->made = s->ranges[i].latest;
    }
    return 0;
}

/* Reduce and move until nothing changes, and see what that has come to. */
static int make_small(struct pct_shrink *s)
{
    static struct pct_query_run run;
    struct pct_query_runs *t = &s->runs;
    size_t before;
    int stop = reduce(s);
    do {
        before = s->minimal.count;
        stop = stop ? stop : move_all(s);
        stop = stop ? stop : reduce(s);
    } while (!stop && s->minimal.count < before);
    for (unsigned i = 0; !stop && i < t->repeat; i++) {
        stop = pct_shrink_show(s, &run, NULL);
        if (stop)
            break;
        bool last = run.fails || i + 1 == t->repeat;
        s->minimal_steps = run.result.trace.header.steps;
        s->minimal_switches = run.result.trace.header.switches;
        s->minimal_preemptions = run.result.trace.header.preemptions;
        char *list = pct_switches_format(&s->minimal, NULL);
        free(s->token);
        s->token = list ? pct_long_token_of(run.result.trace.header.token, list) : NULL;
        free(list);
        pct_query_run_close(&run);
        if (last)
            break;
    }
    if (stop && !t->status) {
        pct_cli_say("out of memory");
        t->status = PCT_EXIT_INTERNAL;
    }
    return t->status;
}

int pct_shrink_run(struct pct_shrink *s)
{
    int fails = still_fails(s, &s->minimal, true);
    if (!fails) { /* what came from outside may have to be awaited */
        pct_switches_free(&s->minimal);
        s->minimal = s->awaited;
        s->awaited = (struct pct_switches){ 0 };
        fails = still_fails(s, &s->minimal, true);
    }
    if (fails < 0)
        return s->runs.status ? s->runs.status : PCT_EXIT_INTERNAL;
    if (!fails) {
        pct_status_line_clear(s->runs.progress.quiet);
        pct_cli_say("the failing run cannot be repeated as a list of switches: something besides the schedule decides");
        return s->runs.status = PCT_EXIT_DIVERGENCE;
    }
    return make_small(s);
}

static bool is_smaller(const struct pct_shrink *s, const struct pct_shrink *old)
{
    uint64_t is = s->minimal_steps + s->minimal_switches, was = old->minimal_steps + old->minimal_switches;
    if (s->runs.steady && is != was)
        return is < was;
    if (s->minimal_preemptions != old->minimal_preemptions)
        return s->minimal_preemptions < old->minimal_preemptions;
    return s->minimal.count < old->minimal.count;
}

bool pct_shrink_save(const struct pct_shrink *s, struct pct_shrunk *saved)
{
    size_t count = s->minimal.count;
    *saved = (struct pct_shrunk){ .minimal = { .item = calloc(count + 1, sizeof *s->minimal.item), .count = count },
                                  .ranges = s->ranges ? calloc(count + 1, sizeof *s->ranges) : NULL,
                                  .steps = s->minimal_steps,
                                  .switches = s->minimal_switches,
                                  .preemptions = s->minimal_preemptions };
    if (!saved->minimal.item || (s->ranges && !saved->ranges)) {
        pct_shrunk_drop(saved);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        saved->minimal.item[i] = s->minimal.item[i];
        if (saved->ranges)
            saved->ranges[i] = s->ranges[i];
    }
    saved->token = s->token ? strdup(s->token) : NULL;
    return true;
}

void pct_shrink_take_back(struct pct_shrink *s, struct pct_shrunk *saved)
{
    pct_switches_free(&s->minimal);
    free(s->ranges);
    s->minimal = saved->minimal;
    s->ranges = saved->ranges;
    s->minimal_steps = saved->steps;
    s->minimal_switches = saved->switches;
    s->minimal_preemptions = saved->preemptions;
    free(s->token);
    s->token = saved->token;
    *saved = (struct pct_shrunk){ 0 };
}

void pct_shrunk_drop(struct pct_shrunk *saved)
{
    pct_switches_free(&saved->minimal);
    free(saved->ranges);
    free(saved->token);
    *saved = (struct pct_shrunk){ 0 };
}

int pct_shrink_consider(struct pct_shrink *s, const struct pct_switches *other, bool *better)
{
    struct pct_shrink old = *s;
    *better = false;
    s->ranges = NULL;
    s->token = NULL;
    s->minimal = (struct pct_switches){ .item = calloc(other->count + 1, sizeof *other->item), .count = other->count };
    int stop = s->minimal.item ? 0 : PCT_EXIT_INTERNAL;
    if (!stop) {
        memcpy(s->minimal.item, other->item, other->count * sizeof *other->item);
        /* It was made with another seed, which the target may have drawn from. A signal leaves the smallest one as it
         * was. */
        stop = still_fails(s, &s->minimal, false);
        stop = stop < 0 ? PCT_EXIT_INTERNAL : stop ? make_small(s) : 0;
        *better = !stop && s->token && is_smaller(s, &old);
    }
    struct pct_shrink *worse = *better ? &old : s;
    pct_switches_free(&worse->minimal);
    free(worse->ranges);
    free(worse->token);
    if (!*better) {
        old.runs = s->runs; /* what the runs have cost */
        *s = old;
    }
    return s->runs.status ? s->runs.status : stop;
}

int pct_shrink_show(struct pct_shrink *s, struct pct_query_run *run, const char *sites)
{
    char *list = pct_switches_format(&s->minimal, NULL);
    if (!list)
        return s->runs.status = PCT_EXIT_INTERNAL;
    int failed = pct_query_run_make(&s->runs, run, "schedule", list, s->runs.config.run.seed, sites);
    free(list);
    return failed;
}

void pct_shrink_close(struct pct_shrink *s)
{
    pct_switches_free(&s->minimal);
    pct_switches_free(&s->awaited);
    free(s->token);
    s->token = NULL;
    free(s->ranges);
    s->ranges = NULL;
    pct_launch_finish(&s->runs.launch);
}
