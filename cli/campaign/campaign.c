/* A campaign: see campaign.h. */
#include "campaign.h"
#include "guarantee_report.h"
#include <cli/base/status_line.h>
#include <cli/binary/elf_facts.h>
#include "engine.h"
#include "event_counts.h"
#include "kept_traces.h"
#include "objects.h"
#include "outcome.h"
#include "sampling.h"
#include <cli/process/supervise.h>
#include <cli/process/cpu_sharing.h>
#include "progress.h"
#include <pct/operations.h>
#include <string.h>

enum {
    COUNTED = 16, /* runs whose uses of objects are counted; a power of two */
    PROBE = 32    /* runs by which to tell how fast they are; a power of two */
};

/* The campaign as a source of runs. */
struct state {
    struct pct_run_source source; /* the first member */
    struct pct_campaign *c;
    struct pct_engine engine;
    uint64_t next;     /* the next run to start */
    uint64_t frontier; /* the next run to look at */
    uint64_t last;     /* none behind this one is wanted, as far as is known */
    bool stop;
    bool hold;   /* the observer wants to be alone */
    bool failed; /* the run that is looked at */
    double start;
};

/* The first run of several, when nothing is known about k: it is used to measure it. */
static bool calibrates(const struct pct_campaign *c, uint64_t index)
{
    return pct_sampling_measures(c, index) || (c->learns && !c->before.runs && index == 0 && c->runs > 1);
}

/* A run without change points needs no k. */
static uint64_t depth_of(const struct pct_campaign *c, uint64_t index)
{
    return c->depth < 0 ? 0 : calibrates(c, index) ? 1 : c->config.run.param[c->depth];
}

uint64_t pct_campaign_seed(const struct pct_campaign *c, uint64_t index)
{
    return c->config.run.seed + c->offset + index * c->stride;
}

void pct_campaign_make_spec(const struct pct_campaign *c, uint64_t index, struct pct_run_spec *spec)
{
    bool other = pct_other_points_has(c, index);
    spec->index = index;
    spec->config = other ? *pct_other_points_config(c, index) : c->config;
    spec->config.run.seed = pct_campaign_seed(c, index);
    if (c->depth >= 0 && !other)
        spec->config.run.param[c->depth] = depth_of(c, index);
    spec->config.slack = pct_config_draw_slack(&spec->config, c->strategy);
    if (!other)
        pct_sampling_configure(c, index, &spec->config);
    spec->strategy = c->strategy;
    pct_objects_settle(other ? pct_other_points_objects(c, index) : c->objects, &spec->config, &spec->strategy);
}

void pct_campaign_make_listed(const struct pct_campaign *c, struct pct_run_spec *spec,
                              const struct pct_strategy *strategy, const char *list)
{
    struct pct_config *config = &spec->config;
    uint64_t seed = config->run.seed;
    *config = c->config;
    config->run = (struct pct_run){ .seed = seed };
    config->given = 0;
    config->end = PCT_END_BEFORE;
    snprintf(config->strategy, sizeof config->strategy, "%s", strategy->name);
    spec->strategy = strategy;
    spec->list = list;
}

int pct_campaign_repeat(struct pct_campaign *c, uint64_t index, const struct pct_run_spec *spec,
                        int (*take)(struct pct_campaign *c, uint64_t index, const struct pct_result *result))
{
    static struct pct_ended_run run; /* large */
    struct pct_engine engine = { .launch = &c->launch, .quiet = !c->progress };
    int status = pct_engine_run_one(&engine, spec, &run);
    if (status)
        return status;
    status = take(c, index, &run.result);
    pct_ended_run_close(&run);
    return status;
}

/* --- What the runs so far teach ----------------------------------------------------------------------------------- */

/* PCT, section 4.2: accesses that were ordered in every run so far are skipped in the next ones. Runs that skipped
 * others were another program to the theorem, and tell nothing of k. */
static void learn_order(const struct state *s)
{
    struct pct_campaign *c = s->c;
    if (c->config.memory_points != PCT_POINTS_LEARNED || c->kept || s->next >= c->runs || !c->done)
        return;
    uint64_t digest = pct_ordered_save(&c->ordered);
    if (digest == c->config.ordered)
        return;
    c->config.ordered = digest;
    c->learned = c->before = (struct pct_learned){ 0 };
    c->guarantee = (struct pct_guarantee){ .threads = c->guarantee.threads };
}

/* What the first runs have shown of the objects holds from now on: a copy, since runs that are looked at now count for
 * later ones only. */
static void learn_objects(struct pct_campaign *c)
{
    if (!c->counting || c->kept)
        return;
    struct pct_object_counts *copy = pct_objects_copy(c->counting);
    if (!copy)
        return; /* those of before will do */
    pct_objects_free(&c->objects);
    c->objects = copy;
}

/* PCT, section 5.1.1: the steps of earlier runs are the estimate of k for the next ones. */
static void learn(struct pct_campaign *c, uint64_t next)
{
    struct pct_learned known = pct_learned_merge(&c->before, &c->learned);
    if (pct_sampling_switch_on(c, known.plain)) {
        c->whole = known;
        c->sample_from = next;
        c->before = c->learned = (struct pct_learned){ 0 };
        c->guarantee = (struct pct_guarantee){ 0 };
        return;
    }
    if (c->learns && !known.most && !next && c->runs == 1)
        pct_config_draw_k(&c->config, c->strategy);
    if (!c->learns || !known.most || pct_sampling_groups(c))
        return;
    const struct pct_param *param = &c->strategy->params[c->k];
    uint64_t k = pct_learned_k(&known), least = c->depth < 0 ? 1 : c->config.run.param[c->depth];
    if (k < least)
        k = least; /* fewer points than change points make no sense */
    c->config.run.param[c->k] = k < param->min ? param->min : k > param->max ? param->max : k;
}

/* --confidence: how many runs it takes by what is known now, and whether that is too much. */
static void plan(struct state *s)
{
    struct pct_campaign *c = s->c;
    if (!(c->confidence > 0) || !c->done)
        return;
    uint64_t runs = c->kept ? c->runs : pct_guarantee_report_runs(c), done = c->done - c->resumed;
    if (!(c->pace > 0) && done >= (c->limit < PROBE ? 1 : PROBE)) {
        c->pace = (double)done / (pct_cli_now() - s->start);
        if (c->budget > 0 && c->budget * c->pace < (double)c->limit)
            c->limit = (uint64_t)(c->budget * c->pace);
        c->unaffordable = runs > c->limit;
        c->price = runs;
        s->stop = c->unaffordable;
    }
    if (!c->kept)
        c->runs = runs < c->limit ? runs : c->limit;
}

/* Both are done before runs 0, 1, 2, 4, 8, ... and after the last one, when all runs before were looked at: so what a
 * run does depends on the outcomes of other runs, but not on the number of workers. So is the run awaited that measures
 * k for its sample. */
static bool is_milestone(const struct state *s)
{
    if (s->next && pct_sampling_measures(s->c, s->next - 1))
        return true;
    return !(s->next & (s->next - 1)) || s->next == s->c->runs;
}

uint32_t pct_campaign_threads(const struct pct_result *result)
{
    const struct pct_trace_header *header = &result->trace.header;
    uint32_t threads = header->threads;
    /* A run that was killed has counted nothing. */
    for (uint64_t i = 0; header->verdict == PCT_VERDICT_RUNNING && i < result->trace.count; i++)
        if (PCT_RECORD_THREAD(result->trace.records[i]) >= threads)
            threads = PCT_RECORD_THREAD(result->trace.records[i]) + 1;
    if (threads >= PCT_MAX_THREADS) /* ids were used again, those of threads that could not be made, too */
        return threads;
    return threads - (header->withdrawn < threads ? header->withdrawn : 0);
}

static void see_hardware(struct pct_campaign *c, const char *program)
{
    uint64_t found = pct_elf_reads_hardware(program);
    if (found > c->hardware)
        c->hardware = found;
}

/* The program that the process became by exec: the guarantee is about it, too. */
static void look_at_image(struct pct_campaign *c, const struct pct_trace_header *header)
{
    if (header->images_open || !*header->image)
        c->images_open = 1;
    if (!strncmp(c->image, header->image, sizeof c->image - 1))
        return;
    snprintf(c->image, sizeof c->image, "%.255s", header->image);
    see_hardware(c, c->image);
    if (c->config.memory == PCT_PATCH_OFF && pct_elf_locks_inline(c->image) && !pct_elf_tells(c->image))
        c->locks_inline = 1;
}

/* Of a run that has the campaign's own scheduling points, whoever says what it is. */
static void count_seen(struct pct_campaign *c, const struct pct_result *result)
{
    const struct pct_trace_header *header = &result->trace.header;
    uint64_t steps = pct_trace_steps(&result->trace);
    if (steps > c->max_steps)
        c->max_steps = steps;
    if (header->images)
        look_at_image(c, header);
    if (header->suppressed > c->suppressed)
        c->suppressed = header->suppressed;
    for (unsigned i = 0; i < PCT_UNCONTROLLED_COUNT; i++)
        if (!pct_name_is_blind(i) || pct_name_is_aside(i))
            c->uncontrolled[i] += header->uncontrolled[i];
        else if (c->uncontrolled[i] < header->uncontrolled[i])
            c->uncontrolled[i] = header->uncontrolled[i]; /* the same ones in each run */
}

/* Whether any of its scheduling points is an access to memory. */
static void see_points(struct pct_campaign *c, const struct pct_trace *trace)
{
    uint64_t at = trace->count ? PCT_POINTS_AT_CALLS : PCT_POINTS_AT_UNKNOWN;
    for (uint64_t i = 0; c->points_at < PCT_POINTS_AT_MEMORY && at < PCT_POINTS_AT_MEMORY && i < trace->count; i++)
        at = pct_operation_accesses(PCT_RECORD_OP(trace->records[i])) ? PCT_POINTS_AT_MEMORY : at;
    c->points_at = at > c->points_at ? at : c->points_at;
}

/* Of one that is also drawn: what the guarantee and later runs want to know. */
static void count_own(struct pct_campaign *c, const struct pct_result *result, uint64_t index, uint32_t threads)
{
    /* Strategies may count fewer steps. */
    uint64_t points = pct_trace_points(&result->trace);
    if (c->config.memory_points == PCT_POINTS_LEARNED && pct_ordered_add(&c->ordered, &result->trace))
        pct_cli_say("out of memory: what this run has taught is not learned");
    if (pct_sampling_measures(c, index))
        c->sample_points = points;
    if (!result->unrecorded)
        pct_learned_add(&c->learned, points, threads);
    if (c->runs > 1 && !c->kept && index < COUNTED)
        pct_objects_add(&c->counting, &result->trace);
    if (index < COUNTED)
        see_points(c, &result->trace);
    uint64_t plain = c->may_sample && !c->config.sample ? pct_sampling_count(&result->trace) : 0;
    if (plain > c->learned.plain)
        c->learned.plain = plain;
    pct_guarantee_report_add(c, result, depth_of(c, index), points, threads);
}

static void count(struct pct_campaign *c, const struct pct_result *result, uint64_t index, bool failed)
{
    const struct pct_trace_header *header = &result->trace.header;
    c->done++;
    c->failures += failed;
    c->unrecorded += pct_result_lacks_space(result);
    c->lost += result->unseen && result->ending == PCT_ENDING_EXIT;
    if (failed)
        c->by_ending[result->ending]++;
    uint32_t threads = pct_campaign_threads(result);
    if (threads > c->max_threads)
        c->max_threads = threads;
    snprintf(c->last_token, sizeof c->last_token, "%s", header->token);
    if (pct_other_points_has(c, index)) {
        c->other.runs++;
        pct_guarantee_report_see_run(c, 0, threads, 0);
        return;
    }
    count_seen(c, result);
    const bool directed = pct_directed_has(c, index);
    if (!pct_systematic_has(c, index) && !pct_cycles_has(c, index) && !directed) {
        count_own(c, result, index, threads);
        return;
    }
    if (pct_systematic_has(c, index))
        pct_learned_add(&c->learned, pct_trace_points(&result->trace), threads);
    pct_guarantee_report_see(c, &result->trace, pct_trace_points(&result->trace), threads, directed);
}

/* The races that were kept are forgotten. */
static void close_races(struct pct_campaign *c)
{
    if (!c->raced && !c->possibly_raced)
        return;
    pct_result_close(&c->race_result);
    pct_process_close(&c->race);
    c->raced = c->possibly_raced = 0;
}

/* Of a run that did not fail: count its races. Whether it is kept, as the one to tell of. */
static bool keep_races(struct pct_campaign *c, const struct pct_process *process, const struct pct_result *result)
{
    const struct pct_trace *trace = pct_result_raced(result);
    const uint64_t raced = c->raced, possibly = c->possibly_raced;
    if (!trace)
        return false;
    const struct pct_trace_header *header = &trace->header;
    if (raced || (possibly && !header->races)) {
        *(header->races ? &c->raced : &c->possibly_raced) += 1;
        return false;
    }
    close_races(c);
    c->raced = header->races != 0;
    c->possibly_raced = possibly + !header->races;
    c->race = *process;
    c->race_result = *result;
    return true;
}

/* --- The source of runs ------------------------------------------------------------------------------------------- */

static struct state *of(struct pct_run_source *source)
{
    return (struct state *)source;
}

/* What is due when all runs so far were looked at. Returns 0 or an exit status. */
static int prepare_next(struct state *s)
{
    struct pct_campaign *c = s->c;
    if (s->hold && c->observer) {
        s->hold = false;
        int failed = c->observer->idle(c->observer, c);
        if (failed)
            return failed;
    }
    if (is_milestone(s)) {
        learn_order(s);
        if (s->next <= COUNTED)
            learn_objects(c);
        learn(c, s->next);
        plan(s);
    }
    int failed = s->stop ? 0 : pct_exploring_decide(c, s->next);
    s->stop = s->stop || pct_exploring_is_over(c);
    if (!failed && !s->stop)
        failed = pct_other_points_decide(c, s->next);
    if (!failed && !s->stop)
        failed = pct_cycles_decide(c, s->next);
    return failed || s->stop ? failed : pct_systematic_decide(c, s->next);
}

static int next(struct pct_run_source *source, struct pct_run_spec *spec)
{
    struct state *s = of(source);
    struct pct_campaign *c = s->c;
    bool alone = s->next == s->frontier;
    int status = alone ? prepare_next(s) : PCT_RUNS_ON;
    if (status)
        return status;
    if (s->stop || s->hold || s->next >= c->runs || s->next > s->last ||
        (!alone && (is_milestone(s) || pct_supervised_is_alone(s->next))))
        return PCT_RUNS_WAIT;
    pct_campaign_make_spec(c, s->next, spec);
    pct_cycles_next(c, s->next, spec);
    status = pct_systematic_next(c, s->next, spec);
    if (!status)
        status = pct_directed_next(c, s->next, spec);
    if (status)
        return status;
    status = c->observer && c->observer->next ? c->observer->next(c->observer, c, spec) : PCT_RUNS_ON;
    if (status)
        return status;
    pct_supervised_reach(++s->next);
    return PCT_RUNS_ON;
}

static void over(struct pct_run_source *source, const struct pct_process *process)
{
    struct pct_campaign *c = of(source)->c;
    c->observer->over(c->observer, c, process);
}

/* Whether it is a failure for a reason that only the observer knows: asked once. */
static int judge(struct pct_campaign *c, struct pct_ended_run *run)
{
    if (run->judged || !c->observer || !c->observer->classify)
        return 0;
    run->judged = true;
    return c->observer->classify(c->observer, c, &run->process, &run->result);
}

/* A failure behind a run that is not decided yet is said, and counts later. Of those behind it, none is wanted if the
 * first one is all that is. */
static int early(struct pct_run_source *source, struct pct_ended_run *run)
{
    struct state *s = of(source);
    struct pct_campaign *c = s->c;
    if (pct_result_lacks_space(&run->result) || pct_result_is_internal(&run->result))
        return PCT_RUNS_ON;
    int status = judge(c, run);
    if (status > 0 || !pct_result_fails(&run->result, c->ok))
        return status > 0 ? status : PCT_RUNS_ON;
    run->told = true;
    c->ahead++;
    if (!c->keep_going && run->process.index < s->last)
        s->last = run->process.index;
    if (c->observer && c->observer->early)
        return c->observer->early(c->observer, c, &run->process, &run->result);
    if (c->tells && !c->observer) /* no token replays what pct explore is about to look at */
        pct_progress_say_early(c, &run->process, &run->result);
    return PCT_RUNS_ON;
}

static int classify(struct pct_run_source *source, struct pct_ended_run *run)
{
    struct state *s = of(source);
    struct pct_campaign *c = s->c;
    if (pct_result_is_internal(&run->result)) {
        pct_status_line_clear(!c->progress);
        return pct_outcome_explain(&c->launch, &run->process, &run->result);
    }
    int status = judge(c, run);
    if (status > 0)
        return status;
    s->failed = pct_result_fails(&run->result, c->ok);
    return s->failed && !c->keep_going ? PCT_RUNS_ENOUGH : status;
}

/* The first run of all. */
static void note_origin(struct pct_campaign *c, const struct pct_process *process, const struct pct_result *result)
{
    if (c->runs > 1 && !c->observer && !strchr(c->config.strategy, '/'))
        pct_event_counts_counts(&c->config, c->strategy, &result->trace);
    if (c->observer)
        return; /* the calibration has made it */
    snprintf(c->origin.token, sizeof c->origin.token, "%s", process->token);
    c->origin.hash = result->trace.header.hash;
}

static int ended(struct pct_run_source *source, struct pct_ended_run *run)
{
    struct state *s = of(source);
    struct pct_campaign *c = s->c;
    struct pct_process *process = &run->process;
    struct pct_result *result = &run->result;
    int status = 0;
    count(c, result, process->index, s->failed);
    c->cut += process->timed_out && process->cut;
    c->again += process->again;
    c->ahead -= run->told;
    pct_kept_traces_keep(c, process, result, s->failed);
    if (process->index == 0)
        note_origin(c, process, result);
    if (pct_systematic_has(c, process->index))
        status = pct_systematic_take(c, process->index, result);
    if (!status)
        status = pct_cycles_take(c, process->index, result);
    if (!status)
        status = pct_directed_take(c, result);
    if (c->observer && c->observer->looked && !status)
        status = c->observer->looked(c->observer, c, process, result, s->failed, &s->hold);
    if (s->failed && !c->failed) {
        run->taken = c->failed = true;
        c->first = *process;
        c->first_result = *result;
    } else if (!s->failed && !pct_other_points_has(c, process->index)) {
        run->taken = keep_races(c, process, result);
    }
    s->frontier++;
    char reason[256];
    if ((s->failed && !c->keep_going) ||
        (c->confidence > 0 && !c->kept && pct_guarantee_report_doubt(c, reason, sizeof reason)))
        s->stop = true;
    return status ? status : s->stop ? PCT_RUNS_ENOUGH : PCT_RUNS_ON;
}

static int tick(struct pct_run_source *source)
{
    struct pct_campaign *c = of(source)->c;
    int failed = c->observer && c->observer->tick ? c->observer->tick(c->observer, c) : 0;
    if (!failed)
        pct_progress_draw_runs(c, of(source)->start);
    return failed;
}

int pct_campaign_try(struct pct_campaign *c, const char *token, uint64_t index, uint64_t *hash)
{
    static struct pct_ended_run run; /* large */
    struct pct_engine engine = { .launch = &c->launch, .quiet = !c->progress };
    struct pct_run_spec spec = { .index = index };
    char error[256];
    if (pct_run_spec_parse(&spec, token, error, sizeof error))
        return pct_cli_usage("%s", error);
    int failed = pct_engine_run_one(&engine, &spec, &run);
    if (failed)
        return failed;
    const struct pct_result *result = &run.result;
    if (pct_result_is_internal(result)) {
        failed = pct_outcome_explain(&c->launch, &run.process, result);
        pct_ended_run_close(&run);
        return failed;
    }
    *hash = result->trace.header.hash;
    if (c->failed || !pct_result_fails(result, c->ok)) {
        pct_ended_run_close(&run);
        return 0;
    }
    c->failed = true;
    c->failures++;
    c->by_ending[result->ending]++;
    c->first = run.process;
    c->first_result = run.result;
    return 0;
}

/* Run the first run again: if the schedule decides all, it does the same. */
static int repeat_first(struct pct_campaign *c)
{
    uint64_t hash = 0;
    int failed = pct_campaign_try(c, c->origin.token, 0, &hash);
    if (failed)
        return failed;
    c->differs = hash != c->origin.hash;
    c->unrepeated = false;
    return 0;
}

/* The last restored run again, by fork: what a host does not undo may have added up. */
static int look_at_last(struct pct_campaign *c)
{
    static struct pct_ended_run run; /* large */
    struct pct_engine engine = { .launch = &c->launch, .quiet = !c->progress };
    struct pct_run_spec spec = { 0 };
    char error[256];
    const char *last = pct_hosts_last(&c->launch);
    if (!last || c->launch.restore.broken)
        return 0;
    if (pct_run_spec_parse(&spec, last, error, sizeof error))
        return pct_cli_usage("%s", error);
    int failed = pct_engine_run_one(&engine, &spec, &run);
    if (failed)
        return failed;
    pct_hosts_compare_last(&c->launch, &run.process);
    pct_ended_run_close(&run);
    return 0;
}

int pct_campaign_run(struct pct_campaign *campaign)
{
    const struct pct_campaign_observer *observer = campaign->observer;
    struct state s = { .source = { .next = next,
                                   .classify = classify,
                                   .ended = ended,
                                   .early = early,
                                   .over = observer && observer->over ? over : NULL,
                                   .tick = campaign->progress || observer ? tick : NULL },
                       .c = campaign,
                       .engine = { .launch = &campaign->launch,
                                   .jobs = campaign->jobs,
                                   .sure = true,
                                   .ahead = campaign->directed && pct_directed_may(campaign),
                                   .pass = !observer && (campaign->runs == 1 || campaign->pass_output),
                                   .single = campaign->runs == 1,
                                   .quiet = !campaign->progress,
                                   .defers = campaign->runs > 1 && !(observer && (observer->next || observer->over)),
                                   .tells = campaign->tells && campaign->runs > 1 },
                       .start = pct_cli_now(),
                       .next = campaign->resumed,
                       .last = UINT64_MAX,
                       .frontier = campaign->resumed };
    pct_hosts_let(&campaign->launch, true);
    int status = pct_engine_run(&s.engine, &s.source);
    pct_hosts_let(&campaign->launch, false);
    if (!status)
        status = look_at_last(campaign);
    campaign->seconds = pct_cli_now() - s.start;
    campaign->undecided = s.engine.undecided;
    campaign->open = campaign->undecided || campaign->ahead;
    char reason[256];
    if (!campaign->failures)
        see_hardware(campaign, campaign->launch.program);
    bool repeats = campaign->repeat && (campaign->done > 1 || campaign->confidence > 0) && !campaign->failures;
    campaign->unrepeated = repeats;
    if (!status && !s.stop && repeats && !pct_guarantee_report_doubt(campaign, reason, sizeof reason))
        status = repeat_first(campaign);
    pct_status_line_clear(!campaign->progress);
    pct_cpu_sharing_part();
    return status;
}

int pct_campaign_prepare(struct pct_campaign *campaign)
{
    int status = pct_directed_begin(campaign);
    if (!status)
        status = pct_launch_prepare(&campaign->launch);
    if (!status)
        pct_directed_settle(campaign);
    return status;
}

void pct_campaign_close(struct pct_campaign *campaign)
{
    pct_ordered_free(&campaign->ordered);
    pct_objects_free(&campaign->objects);
    pct_objects_free(&campaign->counting);
    pct_other_points_free(&campaign->other);
    pct_systematic_free(&campaign->systematic);
    pct_cycles_free(&campaign->cycles);
    pct_exploring_free(&campaign->exploring);
    pct_directed_free(campaign);
    close_races(campaign);
    if (!campaign->failed)
        return;
    pct_result_close(&campaign->first_result);
    pct_process_close(&campaign->first);
    campaign->failed = false;
}
