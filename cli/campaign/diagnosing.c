/* Diagnosing a run that failed: see diagnosing.h. */
#include "diagnosing.h"
#include "between.h"
#include "busy_clock.h"
#include "delta_debugging.h"
#include "nearby.h"
#include "signature.h"
#include "trials.h"
#include <cli/base/cli.h>
#include <cli/base/list.h>
#include <cli/trace/choices.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
    FEW_PASS = 4, /* this many times as many others, where hardly one passes */
    MORE = 2,     /* and where they do not tell which of two diagnoses is better */
    LEAST = 12,   /* others for which a busy machine gets half as much time again */
    AGAIN = 4,    /* times that the failing run is made, until it is the same */
    REDUCE = 4    /* this many times as many runs, at most, to make the failing one small */
};

enum { ROUNDS = 4 }; /* how often some are tried, until one is right */

/* The runs of one step. */
struct source {
    struct pct_run_source base; /* the first member */
    struct pct_diagnosing *d;
    struct pct_config config; /* of the failing run */
    char *given;              /* its list, where that is too long for it */
    uint64_t hash, points;
    bool lenient;       /* the failing run may have taken other steps, by what pct does not order */
    uint64_t signature; /* of its failure; 0: not known */
    struct pct_nearby nearby;
    bool near;  /* there are runs near it */
    bool loose; /* the others have slack, though it has none, and none of them is near it */
    char *list; /* of the latest of those */
    const char *sites;
    uint64_t made;               /* runs so far */
    uint64_t first, next, count; /* of this step; run 0 is the failing one again, the others are others */
    struct pct_busy_clock clock; /* since all of it began: now() */
    double end, stop;            /* on that */
    /* The failing run with fewer switches, as long as it fails in the same way. */
    bool reducing, busy; /* one of these runs is under way */
    struct pct_reduction reduction;
    bool *parts;   /* those of its switches that are tried */
    uint64_t most; /* steps and switches that it may have */
    struct pct_ended_run least;
    struct pct_history least_history;
    bool has_least;
    /* Runs that try whether what a diagnosis says matters, two for each. */
    bool trying;
    struct pct_trial trial[PCT_TRIALS];
};

static double now(const struct source *s)
{
    return pct_busy_clock_now(&s->clock);
}

/* Whatever the seed decides: which accesses are points stays. */
static void keep_points(const struct pct_config *given, struct pct_config *config)
{
    if (config->sample && !config->sample_fixed) {
        config->sample_fixed = true;
        config->sample_seed = given->run.seed;
    }
}

/* Random walks pass where nearly every run with priorities fails. */
void pct_diagnosing_make_other(const struct pct_config *given, uint64_t points, uint64_t number,
                               struct pct_config *config)
{
    char error[256];
    const char *name = number % 2 ? "pct" : "random-walk";
    const struct pct_strategy *strategy = pct_cli_find_strategy(name, error, sizeof error);
    *config = *given;
    config->run = (struct pct_run){ .seed = number };
    config->given = 0;
    config->list[0] = '\0';
    config->has_hash = false;
    keep_points(given, config);
    config->end = (uint8_t)pct_end_of_run(given->end, given->run.seed);
    snprintf(config->strategy, sizeof config->strategy, "%s", name);
    int k = strategy ? pct_cli_strategy_parameter(strategy, "k") : -1;
    for (unsigned i = 0; strategy && strategy->params && i < PCT_MAX_PARAMS && strategy->params[i].name; i++)
        config->run.param[i] = strategy->params[i].default_value;
    if (k >= 0) {
        config->run.param[k] = points > 4 ? points : 4;
        config->given = UINT32_C(1) << k;
    }
}

/* A run by this list, which has been allocated, or is NULL. Returns whether there is one. */
static bool follow(struct source *s, char *list, struct pct_run_spec *spec)
{
    free(s->list);
    s->list = list;
    spec->list = list;
    spec->config = s->nearby.config;
    keep_points(&s->config, &spec->config);
    return list;
}

/* Every other run is near the failing one; the rest has nothing to do with it. */
static void make_other(struct source *s, uint64_t number, struct pct_run_spec *spec)
{
    if (s->near && !s->loose && number % 2 == 0 && follow(s, pct_nearby_get(&s->nearby, number), spec))
        return;
    pct_diagnosing_make_other(&s->config, s->points, number / (s->near ? 2 : 1), &spec->config);
    spec->config.run.seed = number;
    if (s->loose)
        spec->config.slack = PCT_SLACK_DEFAULT;
}

static void drop_least(struct source *s)
{
    if (s->has_least) {
        pct_history_close(&s->least_history);
        pct_ended_run_close(&s->least);
    }
    s->has_least = false;
}

/* Delta debugging goes on one run at a time. */
static int next_reduced(struct source *s, struct pct_run_spec *spec)
{
    bool over = now(s) > s->end || s->next == s->count;
    if (s->busy || over || !pct_reduction_next(&s->reduction, s->parts))
        return PCT_RUNS_WAIT;
    if (!follow(s, pct_switches_format(&s->nearby.switches, s->parts), spec))
        return PCT_RUNS_WAIT;
    spec->index = s->next++;
    spec->sites = s->sites;
    s->busy = true;
    return PCT_RUNS_ON;
}

static uint64_t size_of(const struct pct_ended_run *run)
{
    return run->result.trace.header.steps + run->result.trace.header.switches;
}

/* A run as the rules see it, to be closed unless this fails. */
static int open_history(struct pct_history *history, const struct pct_result *result)
{
    int failed = pct_history_open(history, &result->trace);
    if (!failed && result->children)
        pct_history_add_child(history, &result->child);
    return failed;
}

/* A run with fewer switches that fails in the same way: it is the smallest so far, unless it goes on for longer. */
static void look_at_reduced(struct source *s, struct pct_ended_run *run)
{
    if (size_of(run) > s->most)
        return;
    memcpy(s->reduction.keep, s->parts, s->reduction.count * sizeof *s->parts);
    s->reduction.smaller = true;
    s->most = size_of(run);
    drop_least(s);
    s->least = *run;
    if (open_history(&s->least_history, &s->least.result))
        return;
    run->taken = s->has_least = true;
}

static int next_trial(struct source *s, struct pct_run_spec *spec)
{
    uint64_t number = s->next - s->first;
    if (s->next == s->count || now(s) > s->end)
        return PCT_RUNS_WAIT;
    char **list = &s->trial[number / 2].list[number % 2];
    if (!follow(s, *list, spec))
        return PCT_RUNS_WAIT;
    *list = NULL;
    spec->index = s->next++;
    spec->sites = s->sites;
    return PCT_RUNS_ON;
}

static int next(struct pct_run_source *source, struct pct_run_spec *spec)
{
    struct source *s = (struct source *)source;
    if (s->reducing)
        return next_reduced(s, spec);
    if (s->trying)
        return next_trial(s, spec);
    bool over = s->next > s->first && now(s) > (s->next - s->first >= LEAST ? s->end : (s->end + s->stop) / 2);
    if (s->next == s->count || (s->next && !s->d->have) || over) {
        s->d->late = s->d->late || (s->d->have && s->next < s->count);
        return PCT_RUNS_WAIT;
    }
    spec->index = s->next++;
    spec->sites = s->sites;
    if (spec->index) {
        make_other(s, spec->index, spec);
        return PCT_RUNS_ON;
    }
    spec->config = s->config;
    spec->list = s->given;
    return PCT_RUNS_ON;
}

static int tick(struct pct_run_source *source)
{
    struct source *s = (struct source *)source;
    if (s->d->tell)
        s->d->tell(s->d->context, s->made);
    if (now(s) < s->stop)
        return PCT_RUNS_ON;
    s->d->late = true;
    return PCT_RUNS_ENOUGH;
}

bool pct_diagnosing_passes(const struct pct_diagnosing *d, const struct pct_result *result)
{
    static const bool zero[256] = { true };
    return !pct_result_fails(result, d->ok ? d->ok : zero);
}

/* The failing run again: kept, if it is the same. When its child processes end is not controlled: where one of them
 * fails, it may be a run in which a parent heard of that at another moment. So a server may hear of its client. */
static int look_at_failing(struct source *s, struct pct_ended_run *run)
{
    struct pct_diagnosing *d = s->d;
    const struct pct_trace_header *header = &run->result.trace.header;
    bool unordered = run->result.children || header->uncontrolled[PCT_UNCONTROLLED_OUTSIDE];
    bool other = header->hash != s->hash && !(s->lenient && unordered);
    if (pct_diagnosing_passes(d, &run->result) || other)
        return PCT_RUNS_ON;
    s->hash = header->hash;
    if (d->have) {
        pct_history_close(&d->history);
        pct_ended_run_close(&d->run);
        d->have = false;
    }
    s->signature = pct_signature_of(&run->process, &run->result);
    d->run = *run;
    const int failed = open_history(&d->history, &d->run.result);
    d->too_long = failed == -E2BIG;
    if (failed)
        return PCT_RUNS_ON;
    run->taken = d->have = true;
    s->points = pct_trace_points(&d->run.result.trace);
    return PCT_RUNS_ON;
}

/* Random numbers come from the seed: whether runs that have the failing one's, but another order, all fail alike. */
static void count_drawn(struct source *s, const struct pct_ended_run *run, bool alike)
{
    struct pct_evidence *e = &s->d->evidence;
    if (s->d->have && s->d->run.result.trace.header.randoms && run->result.trace.header.seed == s->config.run.seed) {
        e->drawn++;
        e->drawn_fail += alike;
    }
}

/* Whether it differs from a run that fails by its order alone: a number that the program chose may be to blame. */
static bool chose_alike(const struct source *s, const struct pct_ended_run *run)
{
    const struct pct_trace *trace = &run->result.trace, *failing = &s->d->run.result.trace;
    return !s->d->have || !pct_choices_made(failing) || pct_choices_include(trace, failing) ||
           (s->has_least && pct_choices_include(trace, &s->least.result.trace));
}

static int ended(struct pct_run_source *source, struct pct_ended_run *run)
{
    struct source *s = (struct source *)source;
    struct pct_history history;
    s->made++;
    if (!run->process.index)
        return look_at_failing(s, run);
    /* Who does not want to wait does not want it looked at, either. */
    if (pct_signals_pending())
        return PCT_RUNS_ON;
    s->busy = false;
    s->d->evidence.made += !s->reducing && !s->trying;
    /* A run that fails otherwise says nothing about this failure. */
    bool fails = !pct_diagnosing_passes(s->d, &run->result);
    bool alike = fails && s->signature && pct_signature_of(&run->process, &run->result) == s->signature;
    count_drawn(s, run, alike);
    if (fails && !alike)
        return PCT_RUNS_ON;
    bool other = !fails && !chose_alike(s, run);
    s->d->evidence.otherwise += other;
    if (other)
        return PCT_RUNS_ON;
    if (s->trying) {
        uint64_t number = run->process.index - s->first;
        s->trial[number / 2].ended[number % 2] = true;
        s->trial[number / 2].fails[number % 2] = fails;
        if (fails || number % 2 || open_history(&history, &run->result))
            return PCT_RUNS_ON;
        pct_trials_see(s->d, s->trial, (s->count - s->first) / 2, number / 2, &history);
        pct_history_close(&history);
        return PCT_RUNS_ON;
    }
    if (!open_history(&history, &run->result)) {
        pct_evidence_add(&s->d->evidence, &history, fails);
        pct_history_close(&history);
    }
    if (fails && s->reducing)
        look_at_reduced(s, run);
    return PCT_RUNS_ON;
}

int pct_diagnosing_make_runs(struct pct_diagnosing *d, struct pct_run_source *source)
{
    struct rlimit old;
    bool limited = !getrlimit(RLIMIT_CORE, &old) && old.rlim_cur;
    limited = limited && !setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, old.rlim_max });
    struct pct_engine engine = { .launch = d->launch,
                                 .jobs = d->jobs ? d->jobs : 1,
                                 .width = 1,
                                 .exec = limited || d->launch->replay || d->launch->restore.wanted,
                                 .quiet = d->quiet };
    int failed = pct_engine_run(&engine, source);
    if (limited)
        setrlimit(RLIMIT_CORE, &old);
    d->interrupted = (unsigned)engine.signal;
    return failed;
}

/* The runs of these numbers. */
static int run_step(struct source *s, const char *sites, uint64_t first, uint64_t count)
{
    struct pct_launch *launch = s->d->launch;
    const char *replay = launch->replay;
    if (!first)
        launch->replay = s->d->replay;
    s->base = (struct pct_run_source){ .next = next, .ended = ended, .tick = tick };
    s->sites = sites;
    s->first = s->next = first;
    s->count = first + count;
    int failed = pct_diagnosing_make_runs(s->d, &s->base);
    launch->replay = replay;
    return failed;
}

/* Make the failing run small; others near to it are then near to the smallest one. */
static int reduce(struct source *s)
{
    struct pct_diagnosing *d = s->d;
    size_t count = s->nearby.switches.count;
    bool *keep = calloc(count, sizeof *keep);
    s->parts = calloc(count, sizeof *s->parts);
    int failed = 0;
    if (keep && s->parts && s->signature) {
        memset(keep, true, count * sizeof *keep);
        s->reduction = (struct pct_reduction){ .keep = keep, .count = count };
        s->most = size_of(&d->run);
        s->reducing = true;
        failed = run_step(s, "on", 1, REDUCE * (uint64_t)d->others);
        s->reducing = false;
    }
    free(keep);
    free(s->parts);
    if (!s->has_least)
        return failed;
    pct_nearby_close(&s->nearby);
    s->near = pct_nearby_open(&s->nearby, &s->config, &s->least.result.trace);
    return failed;
}

static void find(const struct source *s)
{
    struct pct_diagnosing *d = s->d;
    pct_diagnoses_free(&d->diagnoses);
    if (s->has_least && !d->interrupted)
        pct_evidence_least(&d->evidence, &s->least_history);
    pct_diagnoses_find(&d->diagnoses, &d->history, &d->evidence);
    pct_evidence_weigh(&d->evidence, &d->diagnoses);
    d->known = d->diagnoses.count;
}

/* Whether two diagnoses are nearly as good as each other, and runs decide which one is better. */
static bool is_close(const struct pct_diagnosing *d)
{
    const struct pct_diagnosis *item = d->diagnoses.item;
    return d->diagnoses.count > 1 && !pct_rule_decides(item[0].rule) &&
           item[1].score > PCT_DIAGNOSIS_CLOSE * item[0].score;
}

/* The same diagnosis in the smallest run that fails. NULL: it is not there. */
static const struct pct_diagnosis *in_least(const struct pct_diagnoses *least, const struct pct_diagnosis *d)
{
    const struct pct_diagnosis *found = NULL;
    for (size_t i = 0; i < least->count; i++) {
        if (least->item[i].key == d->key)
            return &least->item[i];
        if (least->item[i].place_key == d->place_key)
            found = &least->item[i];
    }
    return found;
}

static void free_lists(struct pct_trial *trial)
{
    free(trial->list[0]);
    free(trial->list[1]);
}

/* The runs that try the best diagnoses from *next on. Returns for how many there are some. */
static size_t prepare_trials(struct source *s, const struct pct_diagnoses *least, size_t *next)
{
    struct pct_diagnosing *d = s->d;
    size_t count = 0;
    for (; *next < d->diagnoses.count && count < PCT_TRIALS; ++*next) {
        const struct pct_diagnosis *item = &d->diagnoses.item[*next], *same = in_least(least, item);
        const struct pct_history *history = same ? &s->least_history : &d->history;
        struct pct_trial *trial = &s->trial[count];
        *trial = (struct pct_trial){ .item = *next };
        for (unsigned behind = 0; behind < 2 && pct_between_is_said(item); behind++)
            trial->list[behind] = pct_between_get(history, same ? same : item, behind);
        if (trial->list[0] && trial->list[1])
            count++;
        else
            free_lists(trial);
    }
    return count;
}

/* Try the best diagnoses: what is said to come between has to make the run fail, and to be missed where it does not. */
static int try_best(struct source *s)
{
    struct pct_diagnosing *d = s->d;
    struct pct_diagnoses least = { 0 };
    size_t next = 0;
    int failed = 0;
    if (s->has_least)
        pct_diagnoses_find(&least, &s->least_history, &d->evidence);
    s->trying = true;
    for (unsigned round = 0; s->near && !failed && round < ROUNDS; round++) {
        size_t count = prepare_trials(s, &least, &next);
        if (!count)
            break;
        failed = run_step(s, "on", s->next, 2 * count);
        for (size_t i = 0; i < count; i++)
            free_lists(&s->trial[i]);
        if (pct_trials_weigh(d, s->trial, count))
            break;
    }
    s->trying = false;
    pct_diagnoses_free(&least);
    pct_diagnoses_rank(&d->diagnoses);
    pct_trials_drop_effects(d);
    return failed;
}

/* Whether its sleeps and time-outs came in the order of their deadlines, as they do in all runs without slack: where
 * that is to blame, none of those passes. */
static bool is_in_order_of_time(const struct source *s)
{
    const struct pct_diagnosing *d = s->d;
    return !d->evidence.passing && !s->config.slack && !s->config.real_time && d->run.result.trace.header.deadlines;
}

/* The others, behind the failing one: more of them where those do not tell. */
static int run_others(struct source *s)
{
    struct pct_diagnosing *d = s->d;
    uint64_t others = d->others, first = s->next > 1 ? s->next : 1;
    int failed = run_step(s, "on", first, others);
    /* Of a program that nearly always fails, some runs that pass are worth some more that do not. */
    s->loose = is_in_order_of_time(s);
    if (!failed && others && !d->interrupted && !d->late && d->evidence.passing < PCT_EVIDENCE_ENOUGH)
        failed = run_step(s, "on", first + others, FEW_PASS * others);
    find(s);
    bool open = d->known ? is_close(d) : !pct_evidence_all_fail(&d->evidence);
    if (!failed && others && !d->interrupted && !d->late && open) {
        failed = run_step(s, "on", s->next, MORE * others);
        find(s);
    }
    return failed;
}

/* Whether the failing run alone decides the best diagnosis, so well that whatever others show scores less. Semaphores
 * are locks or not by what other runs do with them. */
static bool is_final(const struct pct_diagnosing *d)
{
    const struct pct_diagnosis *best = d->diagnoses.item;
    bool final = d->known && pct_rule_decides(best->rule) && best->score > PCT_DIAGNOSIS_FINAL;
    for (unsigned i = 0; final && i < best->count; i++)
        final = d->history.steps[best->step[i]].class_ != PCT_CLASS_SEM;
    return final;
}

/* Whether no other schedule is another run: it has one thread, and nothing that comes when the scheduler, or somebody
 * outside, would have it come. */
static bool has_one_schedule(const struct source *s)
{
    const struct pct_result *result = &s->d->run.result;
    const struct pct_trace_header *header = &result->trace.header;
    bool alone = header->threads == 1 && !result->children && !s->config.spurious && !header->deadlines &&
                 !header->fixed_deadlines && !pct_choices_made(&result->trace);
    for (unsigned i = 0; alone && i < PCT_UNCONTROLLED_COUNT; i++)
        alone = !header->uncontrolled[i];
    return alone;
}

/* The run once more, for the stacks of the steps that are to be told. failed: what has been until now. */
static int name(struct source *s, int failed)
{
    struct pct_diagnosing *d = s->d;
    char *stacks = failed || !d->known ? NULL : pct_diagnoses_stacks(&d->diagnoses, PCT_DIAGNOSING_STACKS);
    /* Names are worth as much time again: a cause without them says little. */
    double names = now(s) + d->seconds;
    s->stop = s->stop > names ? s->stop : names;
    if (stacks)
        failed = run_step(s, stacks, 0, 1);
    free(stacks);
    d->known = d->known && d->have;
    if (d->known)
        pct_diagnosing_put_foreign_last(d);
    return failed;
}

static int diagnose(struct source *s)
{
    struct pct_diagnosing *d = s->d;
    /* A run that was killed has none, nor has it places that could be compared with those of others. */
    bool killed = !s->config.has_hash;
    s->hash = killed ? 0 : s->config.hash;
    s->config.has_hash = false;
    pct_busy_clock_start(&s->clock, d->patience, d->jobs);
    s->end = d->seconds / 2;
    s->stop = 2 * d->seconds;
    int failed = 0;
    for (unsigned i = 0; i < AGAIN && !failed && !d->have && !d->too_long && !d->interrupted && now(s) < s->end; i++) {
        s->lenient = i + 1 == AGAIN;
        failed = run_step(s, "on", 0, 1);
    }
    s->lenient = false;
    /* A failing run that does not come again is not worth the others, nor is one that is too long to be looked at. */
    if (!d->have)
        return failed;
    pct_evidence_add(&d->evidence, &d->history, true);
    if (killed || failed) {
        find(s);
        return failed;
    }
    d->evidence.one_schedule = has_one_schedule(s);
    if (d->first || d->evidence.one_schedule)
        find(s);
    if (d->evidence.one_schedule || (d->first && is_final(d)))
        return name(s, failed);
    /* Half of them are near the failing one. */
    d->evidence.enough = 2 * d->others;
    s->near = pct_nearby_open(&s->nearby, &s->config, &d->run.result.trace);
    failed = s->near ? reduce(s) : 0;
    s->end = d->seconds;
    if (!failed)
        failed = run_others(s);
    else
        find(s);
    s->end = 1.5 * d->seconds;
    if (!failed && !d->interrupted)
        failed = try_best(s);
    if (pct_evidence_by_numbers(&d->evidence) || pct_evidence_by_choices(&d->evidence)) {
        pct_evidence_drop(&d->diagnoses);
        d->known = d->diagnoses.count;
    }
    pct_nearby_close(&s->nearby);
    free(s->list);
    drop_least(s);
    /* What is known so far is worth saying to who does not want to wait any longer, too. */
    if (failed && !d->interrupted) {
        d->known = false;
        return failed;
    }
    return name(s, failed);
}

int pct_diagnosing_run(struct pct_diagnosing *d)
{
    struct source s = { .d = d };
    char error[512];
    int failed = 0;
    if (!pct_long_token_parse(&s.config, d->token, &s.given, error, sizeof error) &&
        strcmp(s.config.strategy, "none") != 0)
        failed = diagnose(&s);
    free(s.given);
    return failed;
}

void pct_diagnosing_of_trace(struct pct_diagnosing *d, const struct pct_trace *trace)
{
    *d = (struct pct_diagnosing){ 0 };
    const int failed = pct_history_open(&d->history, trace);
    d->too_long = failed == -E2BIG;
    if (failed)
        return;
    pct_evidence_add(&d->evidence, &d->history, true);
    pct_diagnoses_find(&d->diagnoses, &d->history, &d->evidence);
    pct_evidence_weigh(&d->evidence, &d->diagnoses);
    d->known = d->diagnoses.count;
}

void pct_diagnosing_close(struct pct_diagnosing *d)
{
    pct_diagnoses_free(&d->diagnoses);
    pct_evidence_free(&d->evidence);
    pct_history_close(&d->history);
    if (d->have)
        pct_ended_run_close(&d->run);
    d->have = d->known = false;
}
