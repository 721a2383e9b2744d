/* A campaign: see campaign.h. */
#include "campaign.h"
#include "guarantee_report.h"
#include <cli/binary/elf_facts.h>
#include <cli/process/core_dumps.h>
#include "event_counts.h"
#include "objects.h"
#include "outcome.h"
#include "sampling.h"
#include <cli/process/supervise.h>
#include <cli/process/cpu_sharing.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    JOBS_MAX = 256,
    PLACES = 2 /* runs of a worker that have begun: one may wait for the other */,
    COUNTED = 16, /* runs whose uses of objects are counted; a power of two */
    PROBE = 32    /* runs by which to tell how fast they are; a power of two */
};

/* A run that has ended and waits for its turn to be looked at. */
struct ended {
    bool valid;
    struct pct_process process;
};

struct state {
    struct pct_campaign *c;
    struct pct_process workers[PLACES * JOBS_MAX]; /* worker w has places w, w + jobs, ... */
    struct ended *ended;                           /* by index modulo window */
    uint64_t window;
    uint64_t next;     /* the next run to start */
    uint64_t frontier; /* the next run to look at */
    uint64_t running;
    bool stop;
    bool hold; /* the observer wants to be alone */
    int cpus[JOBS_MAX];
    int cpu_count;
    double start;
};

static void find_cpus(struct state *s)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set))
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE && s->cpu_count < JOBS_MAX; cpu++)
        if (CPU_ISSET(cpu, &set))
            s->cpus[s->cpu_count++] = cpu;
}

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

static void make_token(const struct state *s, uint64_t index, char *token)
{
    struct pct_config config = s->c->config;
    config.has_hash = false;
    config.run.seed = pct_campaign_seed(s->c, index);
    if (s->c->depth >= 0)
        config.run.param[s->c->depth] = depth_of(s->c, index);
    config.slack = pct_config_draw_slack(&config, s->c->strategy);
    pct_sampling_configure(s->c, index, &config);
    const struct pct_strategy *strategy = s->c->strategy;
    pct_objects_settle(s->c->objects, &config, &strategy);
    pct_config_format_token(token, PCT_TOKEN_MAX, &config, strategy);
}

/* --- What the runs so far teach
 * --------------------------------------------------------------------------------------- */

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
    c->guarantee = (struct pct_guarantee){ 0 };
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

static int start_next(struct state *s)
{
    unsigned slot = 0, number;
    while (s->workers[slot].running)
        slot++;
    struct pct_process *worker = &s->workers[slot];
    number = slot % s->c->jobs;
    worker->index = s->next;
    worker->worker = number;
    char token[PCT_TOKEN_MAX];
    make_token(s, s->next, token);
    pct_supervised_reach(s->next + 1);
    int cpu = s->c->jobs > 1 && s->cpu_count ? s->cpus[number % (unsigned)s->cpu_count] : -1;
    int failed =
        pct_process_start(worker, &s->c->launch, token, cpu, s->c->observer || (s->c->runs > 1 && !s->c->pass_output));
    if (failed)
        return failed;
    s->next++;
    s->running++;
    return 0;
}

static bool may_start(const struct state *s)
{
    const struct pct_campaign *c = s->c;
    uint64_t places = c->jobs > 1 && pct_forking_queues(&c->launch) ? PLACES * c->jobs : c->jobs;
    if (s->stop || s->hold || s->next >= c->runs || s->running >= places || s->next - s->frontier >= s->window)
        return false;
    return s->next == s->frontier || !(is_milestone(s) || pct_supervised_is_alone(s->next));
}

static int start_all(struct state *s)
{
    int failed = 0;
    while (!failed && may_start(s))
        failed = start_next(s);
    return failed;
}

static void clear_progress(const struct state *s)
{
    if (s->c->progress)
        fputs("\r\033[K", stderr);
}

static void draw_progress(const struct state *s)
{
    const struct pct_campaign *c = s->c;
    /* With --confidence, how many runs it will be is known after the first. */
    if (!c->progress || (c->confidence > 0 && !c->done))
        return;
    double seconds = pct_cli_now() - s->start, rate = seconds > 0 ? (double)c->done / seconds : 0;
    char left[64];
    fprintf(stderr, "\rpct: %llu of %llu runs, %.*f/s, %llu failed", (unsigned long long)c->done,
            (unsigned long long)c->runs, rate < 10, rate, (unsigned long long)c->failures);
    if (rate > 0 && c->done < c->runs)
        fprintf(stderr, ", %s left", pct_cli_format_duration(left, sizeof left, (double)(c->runs - c->done) / rate));
    fputs("\033[K", stderr);
    fflush(stderr);
}

static void keep_core(const struct pct_campaign *c, const struct pct_process *process, const struct pct_result *result)
{
    char directory[PATH_MAX], path[PATH_MAX], why[2 * PATH_MAX];
    if (!WIFSIGNALED(process->status) || !WCOREDUMP(process->status))
        return;
    pct_setup_teardown_directory(&c->launch, process->worker, directory, sizeof directory);
    snprintf(path, sizeof path, "%s/seed-%llu.core", c->save, (unsigned long long)pct_campaign_seed(c, process->index));
    if (!pct_core_dumps_keep(result->trace.header.pid, directory, path, why, sizeof why))
        pct_cli_say("the core was not kept: %s", why);
}

static void keep_trace(const struct pct_campaign *c, const struct pct_process *process, const struct pct_result *result,
                       bool failed)
{
    char error[256];
    if (failed && c->save)
        keep_core(c, process, result);
    if (result->unrecorded)
        return;
    bool wanted = c->keep && (failed ? c->failures == 1 : c->runs == 1);
    if (wanted && pct_trace_save(&result->trace, c->keep, error, sizeof error))
        pct_cli_say("the trace was not saved: %s: %s", c->keep, error);
    if (!failed || !c->save)
        return;
    char path[4096];
    snprintf(path, sizeof path, "%s/seed-%llu.trace", c->save,
             (unsigned long long)pct_campaign_seed(c, process->index));
    if (!pct_trace_may_replace(path, error, sizeof error) || pct_trace_save(&result->trace, path, error, sizeof error))
        pct_cli_say("the trace was not saved: %s: %s", path, error);
}

uint32_t pct_campaign_threads(const struct pct_result *result)
{
    const struct pct_trace_header *header = &result->trace.header;
    uint32_t threads = header->threads;
    /* A run that was killed has counted nothing. */
    for (uint64_t i = 0; header->verdict == PCT_VERDICT_RUNNING && i < result->trace.count; i++)
        if (PCT_RECORD_THREAD(result->trace.records[i]) >= threads)
            threads = PCT_RECORD_THREAD(result->trace.records[i]) + 1;
    return threads;
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
    uint64_t steps = header->verdict == PCT_VERDICT_RUNNING ? result->trace.count : header->steps;
    if (steps > c->max_steps)
        c->max_steps = steps;
    if (header->suppressed > c->suppressed)
        c->suppressed = header->suppressed;
    /* Strategies may count fewer steps. */
    uint64_t points = header->points ? header->points : steps;
    if (c->config.memory_points == PCT_POINTS_LEARNED && pct_ordered_add(&c->ordered, &result->trace))
        pct_cli_say("out of memory: what this run has taught is not learned");
    if (pct_sampling_measures(c, index))
        c->sample_points = points;
    if (!result->unrecorded)
        pct_learned_add(&c->learned, points, threads);
    if (c->runs > 1 && !c->kept && index < COUNTED)
        pct_objects_add(&c->counting, &result->trace);
    uint64_t plain = c->may_sample && !c->config.sample ? pct_sampling_count(&result->trace) : 0;
    if (plain > c->learned.plain)
        c->learned.plain = plain;
    for (unsigned i = 0; i < PCT_UNCONTROLLED_COUNT; i++)
        if (!pct_name_is_blind(i) || i == PCT_UNCONTROLLED_UNSEEN)
            c->uncontrolled[i] += header->uncontrolled[i];
        else if (c->uncontrolled[i] < header->uncontrolled[i])
            c->uncontrolled[i] = header->uncontrolled[i]; /* the same ones in each run */
    snprintf(c->last_token, sizeof c->last_token, "%s", header->token);
    pct_guarantee_report_add(c, result, depth_of(c, index), points, threads);
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
    const struct pct_trace_header *header = &result->trace.header;
    const uint64_t raced = c->raced, possibly = c->possibly_raced;
    if (!header->races && !header->possible_races)
        return false;
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

/* Look at the run whose turn it is. Returns 0 or an exit status that ends the campaign. */
static int look_at(struct state *s, struct pct_process *process)
{
    struct pct_campaign *c = s->c;
    struct pct_result result;
    pct_process_result(process, &result);
    /* Ctrl-C on the terminal that we lent to the target. */
    bool interrupted = c->launch.terminal && WIFSIGNALED(process->status) && WTERMSIG(process->status) == SIGINT;
    if (interrupted) {
        pct_result_close(&result);
        pct_process_close(process);
        return 128 + SIGINT;
    }
    if (pct_outcome_is_void(&result)) {
        clear_progress(s);
        int code = pct_outcome_explain(&c->launch, process, &result);
        pct_result_close(&result);
        pct_process_close(process);
        return code;
    }
    int status = c->observer ? c->observer->judge(c->observer, c, process, &result) : 0;
    if (status) {
        pct_result_close(&result);
        pct_process_close(process);
        return status;
    }
    bool failed = result.ending != PCT_ENDING_EXIT || !c->ok[result.code & 0xff];
    count(c, &result, process->index, failed);
    keep_trace(c, process, &result, failed);
    if (process->index == 0) {
        if (c->runs > 1 && !c->observer && !strchr(c->config.strategy, '/'))
            pct_event_counts_counts(&c->config, c->strategy, &result.trace);
        snprintf(c->origin.token, sizeof c->origin.token, "%s", process->token);
        c->origin.hash = result.trace.header.hash;
    }
    if (!failed || c->keep_going)
        pct_forking_try(&c->launch, process, &result);
    if (c->observer)
        status = c->observer->looked(c->observer, c, process, &result, failed, &s->hold);
    if (failed && !c->failed) {
        c->failed = true;
        c->first = *process;
        c->first_result = result;
    } else if (failed || !keep_races(c, process, &result)) {
        pct_result_close(&result);
        pct_process_close(process);
    }
    char reason[256];
    if ((failed && !c->keep_going) ||
        (c->confidence > 0 && !c->kept && pct_guarantee_report_doubt(c, reason, sizeof reason)))
        s->stop = true;
    return status;
}

/* Look at all runs whose turn has come. */
static int advance(struct state *s)
{
    int failed = 0;
    while (!failed && !s->stop) {
        struct ended *ended = &s->ended[s->frontier % s->window];
        if (!ended->valid || ended->process.index != s->frontier)
            return 0;
        ended->valid = false;
        failed = look_at(s, &ended->process);
        s->frontier++;
    }
    return failed;
}

static int loop(struct state *s)
{
    double drawn = 0;
    bool ticks = s->c->progress || s->c->observer;
    for (;;) {
        if (s->hold && s->c->observer && !s->running) {
            s->hold = false;
            int failed = s->c->observer->idle(s->c->observer, s->c);
            if (failed)
                return failed;
        }
        if (is_milestone(s) && s->next == s->frontier) {
            learn_order(s);
            if (s->next <= COUNTED)
                learn_objects(s->c);
            learn(s->c, s->next);
            plan(s);
        }
        int failed = start_all(s);
        if (failed)
            return failed;
        if (!s->running)
            return 0;
        int slot;
        int signal =
            pct_launch_wait(&s->c->launch, s->workers, (int)(PLACES * s->c->jobs), ticks ? drawn + 0.2 : 0, &slot);
        if (signal)
            return 128 + signal;
        if (slot >= 0) {
            struct pct_process *worker = &s->workers[slot];
            s->ended[worker->index % s->window] = (struct ended){ .valid = true, .process = *worker };
            memset(worker, 0, sizeof *worker);
            s->running--;
            /* One of several workers goes on before its last run is looked at: otherwise its CPU would wait for that.
             */
            failed = s->c->jobs > 1 ? start_all(s) : 0;
            if (!failed)
                failed = advance(s);
            if (failed || s->stop)
                return failed;
        }
        if (ticks && pct_cli_now() >= drawn + 0.2) {
            drawn = pct_cli_now();
            failed = s->c->observer ? s->c->observer->tick(s->c->observer, s->c) : 0;
            if (failed)
                return failed;
            draw_progress(s);
        }
    }
}

/* Run the first run again: if the schedule decides all, it does the same. A failure now is a failure like any other. */
static int repeat_first(struct state *s)
{
    struct pct_campaign *c = s->c;
    struct pct_process *worker = &s->workers[0];
    struct pct_result result;
    int slot, failed = pct_process_start(worker, &c->launch, c->origin.token, -1, true);
    if (failed)
        return failed;
    int signal = pct_launch_wait(&c->launch, s->workers, 1, 0, &slot);
    if (signal)
        return 128 + signal;
    pct_process_result(worker, &result);
    c->differs = result.state != PCT_TRACE_GOOD || result.trace.header.hash != c->origin.hash;
    c->failed = result.state == PCT_TRACE_GOOD && (result.ending != PCT_ENDING_EXIT || !c->ok[result.code & 0xff]);
    if (c->failed) {
        c->failures++;
        c->by_ending[result.ending]++;
        c->first = *worker;
        c->first_result = result;
        memset(worker, 0, sizeof *worker);
    } else {
        pct_trace_close(&result.trace);
        pct_process_close(worker);
    }
    return 0;
}

/* A run that goes on and waits for no other, NULL: there is none. Of those that are still to be forked it is the
 * earliest. */
static struct pct_process *find_first(struct state *s)
{
    struct pct_process *first = NULL;
    for (unsigned i = 0; i < PLACES * s->c->jobs; i++) {
        struct pct_process *one = &s->workers[i];
        if (one->running &&
            (!first || one->asked < first->asked || (one->asked == first->asked && one->index < first->index)))
            first = one;
    }
    return first;
}

/* End what still runs, and forget what nobody looked at. */
static void sweep(struct state *s, int status)
{
    /* One run alone may have things to clean up; of many, none is worth waiting for. */
    int signal = s->c->runs == 1 && status > 128 ? status - 128 : SIGKILL;
    for (struct pct_process *worker; (worker = find_first(s));) {
        pct_process_kill(worker, signal);
        pct_process_close(worker);
    }
    for (uint64_t i = 0; i < s->window; i++)
        if (s->ended[i].valid)
            pct_process_close(&s->ended[i].process);
}

int pct_campaign_run(struct pct_campaign *campaign)
{
    if (campaign->jobs > JOBS_MAX)
        campaign->jobs = JOBS_MAX;
    struct state *s = calloc(1, sizeof *s);
    if (s) {
        s->window = 2 * PLACES * campaign->jobs + 2;
        s->ended = calloc(s->window, sizeof *s->ended);
    }
    if (!s || !s->ended) {
        free(s);
        return pct_cli_no_memory("");
    }
    s->c = campaign;
    s->start = pct_cli_now();
    s->next = s->frontier = campaign->resumed;
    find_cpus(s);
    int status = loop(s);
    campaign->seconds = pct_cli_now() - s->start;
    char reason[256];
    if (!campaign->failures)
        campaign->hardware = pct_elf_reads_hardware(campaign->launch.program);
    if (!status && !s->stop && campaign->repeat && campaign->done > 1 && !campaign->failures &&
        !pct_guarantee_report_doubt(campaign, reason, sizeof reason))
        status = repeat_first(s);
    clear_progress(s);
    sweep(s, status);
    pct_cpu_sharing_part();
    free(s->ended);
    free(s);
    return status;
}

void pct_campaign_close(struct pct_campaign *campaign)
{
    pct_ordered_free(&campaign->ordered);
    pct_objects_free(&campaign->objects);
    pct_objects_free(&campaign->counting);
    close_races(campaign);
    if (!campaign->failed)
        return;
    pct_result_close(&campaign->first_result);
    pct_process_close(&campaign->first);
    campaign->failed = false;
}
