/* Queries answered by runs: see queries.h. As a source of runs: the earliest query always gets the next free
 * worker, up to the number of runs that it will take as far as one knows; then the one behind it, which is asked for
 * now. */
#include "queries.h"
#include <cli/base/status_line.h>
#include <cli/process/hosts.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 1.0 /* seconds: signals that come within are one */

/* A query that is not answered. */
struct asked {
    struct pct_query query;
    size_t number;
    unsigned started, seen; /* runs that have begun, and that were looked at */
};

struct state {
    struct pct_run_source source; /* the first member */
    struct pct_engine engine;
    struct pct_query_runs *runs;
    const struct pct_queries *queries;
    size_t room;         /* of the array */
    struct asked *asked; /* in their order */
    size_t open, next;   /* queries that are not answered; the number of the next one */
    bool all_asked;
};

/* The number of a run: that of its query, and its own among the query's runs. */
static uint64_t number_of(size_t query, unsigned run)
{
    return (uint64_t)query << 32 | run;
}

/* The first this many queries need no answer any more. */
static void drop(struct state *s, size_t dropped)
{
    for (size_t i = 0; i < dropped; i++) {
        free(s->asked[i].query.what.list);
        free(s->asked[i].query.data);
    }
    s->open -= dropped;
    memmove(s->asked, s->asked + dropped, s->open * sizeof *s->asked);
}

/* The next run may be this query's. */
static bool wants(const struct asked *asked)
{
    return asked->started < asked->query.expected || asked->started == asked->seen;
}

static bool is_late(const struct state *s)
{
    return !s->queries->must && pct_query_runs_over(s->runs);
}

/* The query whose run is to begin, NULL if there is none. Returns 0, or runs->status. */
static int choose(struct state *s, struct asked **chosen)
{
    *chosen = NULL;
    for (size_t i = 0; i < s->open && !*chosen; i++)
        *chosen = wants(&s->asked[i]) ? &s->asked[i] : NULL;
    /* One worker has nothing to do but what must be done. */
    if (*chosen || s->all_asked || s->open == s->room || (s->runs->jobs == 1 && s->open))
        return 0;
    struct asked *asked = &s->asked[s->open];
    *asked = (struct asked){ .number = s->next };
    int there = s->queries->ask(s->queries->context, s->next, &asked->query);
    if (there <= 0) {
        free(asked->query.what.list);
        free(asked->query.data);
    }
    if (there < 0) {
        pct_status_line_clear(s->runs->progress.quiet);
        pct_cli_say("%s", strerror(-there));
        return s->runs->status = PCT_EXIT_INTERNAL;
    }
    s->all_asked = !there;
    s->next += there > 0;
    s->open += there > 0;
    *chosen = there ? asked : NULL;
    return 0;
}

static struct state *of(struct pct_run_source *source)
{
    return (struct state *)source;
}

static int next(struct pct_run_source *source, struct pct_run_spec *spec)
{
    struct state *s = of(source);
    struct asked *asked;
    if (is_late(s))
        return PCT_RUNS_ENOUGH;
    if (choose(s, &asked))
        return s->runs->status;
    if (!asked)
        return PCT_RUNS_WAIT;
    const struct pct_try *what = &asked->query.what;
    pct_query_run_spec(s->runs, what, what->seed + (asked->query.spread ? asked->started : 0), spec);
    spec->index = number_of(asked->number, asked->started++);
    return PCT_RUNS_ON;
}

static uint64_t turn(const struct pct_run_source *source)
{
    const struct state *s = (const struct state *)source;
    return s->open ? number_of(s->asked[0].number, s->asked[0].seen) : UINT64_MAX;
}

/* Look at the run whose turn it is. */
static int ended(struct pct_run_source *source, struct pct_ended_run *run)
{
    static struct pct_query_run made; /* large */
    struct state *s = of(source);
    struct pct_query_runs *runs = s->runs;
    struct asked *first = &s->asked[0];
    struct pct_failure failure;
    runs->made++;
    runs->progress.runs++;
    first->seen++;
    made = (struct pct_query_run){ .process = run->process, .result = run->result };
    made.fails = pct_failure_read(&failure, &made.result) && pct_failure_same(&failure, &runs->failure);
    enum pct_answer answer = s->queries->answer(s->queries->context, first->number, &first->query, &made);
    run->taken = made.taken;
    if (answer == PCT_ANSWER_MORE)
        return PCT_RUNS_ON;
    runs->progress.answers++;
    runs->progress.left -= runs->progress.left > 0;
    s->all_asked = s->all_asked || answer == PCT_ANSWER_STOP;
    size_t dropped = answer == PCT_ANSWER_STOP ? s->open : 1;
    pct_engine_cancel(&s->engine, number_of(first->number, 0), number_of(s->asked[dropped - 1].number, UINT32_MAX));
    drop(s, dropped);
    return PCT_RUNS_ON;
}

/* The time may be over; otherwise say how far it all is. */
static int tick(struct pct_run_source *source)
{
    struct state *s = of(source);
    pct_query_runs_draw_progress(s->runs);
    return is_late(s) ? PCT_RUNS_ENOUGH : PCT_RUNS_ON;
}

/* Returns runs->status. */
static int run(struct state *s)
{
    struct pct_query_runs *runs = s->runs;
    s->engine = (struct pct_engine){ .launch = &runs->launch,
                                     .jobs = runs->jobs,
                                     .width = runs->width,
                                     .room = (unsigned)s->room,
                                     .quiet = runs->progress.quiet };
    s->source = (struct pct_run_source){ .next = next, .ended = ended, .tick = tick, .turn = turn };
    runs->status = pct_engine_run(&s->engine, &s->source);
    if (runs->launch.restore.broken)
        runs->status = pct_hosts_begin_anew(&runs->launch);
    runs->vain += s->engine.dropped;
    runs->late = runs->late || s->engine.late;
    if (!runs->status && s->engine.late && s->queries->must && (s->open || !s->all_asked)) {
        pct_status_line_clear(runs->progress.quiet);
        pct_cli_say("out of time (--seconds=%.0f, and %d to end): a run that the analysis depends on has not ended",
                    runs->seconds, PCT_QUERY_RUNS_GRACE);
        runs->status = PCT_EXIT_DIVERGENCE;
    }
    if (!s->engine.signal)
        return runs->status;
    pct_status_line_clear(runs->progress.quiet);
    /* The first one ends the search, and what was found is shown; a second one ends that, too, unless it is the first
     * again: timeout(1) sends it to us and then to our group. Before the first run is over there is nothing to show. */
    double now = pct_cli_now();
    bool second = runs->interrupted && now > runs->interrupted_at + AT_ONCE;
    bool again = second || !runs->made || (s->queries->must && !s->queries->shows);
    if (!runs->interrupted)
        runs->interrupted_at = now;
    runs->interrupted = s->engine.signal;
    runs->late = true;
    runs->status = again ? 128 + s->engine.signal : 0;
    if (again)
        pct_cli_say("interrupted after %llu run%s", (unsigned long long)runs->made, runs->made == 1 ? "" : "s");
    return runs->status;
}

int pct_queries_run(struct pct_query_runs *runs, const struct pct_queries *queries)
{
    if (runs->status)
        return runs->status;
    /* One worker never has more than its run; several go on while the one that is waited for takes long. */
    size_t room = runs->jobs > 1 ? 2 * (size_t)runs->jobs : 1;
    struct state s = { .runs = runs, .queries = queries, .room = room, .asked = calloc(room, sizeof *s.asked) };
    if (!s.asked)
        return runs->status = pct_cli_no_memory("");
    run(&s);
    drop(&s, s.open);
    free(s.asked);
    return runs->status;
}

/* --- One run ------------------------------------------------------------------------------------------------------ */

struct one {
    struct pct_try what;
    struct pct_query_run *run;
    bool answered;
};

static int ask_one(void *context, size_t number, struct pct_query *query)
{
    const struct one *one = context;
    query->what = one->what;
    query->what.list = !number && one->what.list ? strdup(one->what.list) : NULL;
    query->expected = 1;
    return number ? 0 : one->what.list && !query->what.list ? -ENOMEM : 1;
}

static enum pct_answer answer_one(void *context, size_t number, struct pct_query *query, struct pct_query_run *run)
{
    struct one *one = context;
    (void)number;
    (void)query;
    *one->run = *run;
    one->answered = run->taken = true;
    return PCT_ANSWER_STOP;
}

static int run_one(struct pct_query_runs *runs, struct one one)
{
    struct pct_queries queries = { .ask = ask_one, .answer = answer_one, .context = &one, .must = true, .shows = true };
    const struct pct_query_progress before = runs->progress;
    int failed = pct_queries_run(runs, &queries);
    while (!failed && !one.answered) /* the first signal has ended this run */
        failed = pct_queries_run(runs, &queries);
    runs->progress.left = before.left; /* it is none of the step's queries */
    runs->progress.answers = before.answers;
    return failed;
}

int pct_query_run_make(struct pct_query_runs *runs, struct pct_query_run *run, const char *strategy, const char *list,
                       uint64_t seed, const char *sites)
{
    return run_one(
        runs,
        (struct one){ .what = { .strategy = strategy, .list = (char *)(uintptr_t)list, .seed = seed, .sites = sites },
                      .run = run });
}

int pct_query_run_again(struct pct_query_runs *runs, struct pct_query_run *run)
{
    return run_one(runs, (struct one){ .run = run });
}

void pct_queries_step(struct pct_query_runs *runs, const char *what, uint64_t queries)
{
    struct pct_query_progress *p = &runs->progress;
    p->what = what;
    p->begun = pct_cli_now();
    p->runs = p->answers = 0;
    p->left = queries;
}
