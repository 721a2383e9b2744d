/* The runs of `pct explore`: see explorer.h. Called by the campaign (campaign.h), on the command's only thread. */
#include "explorer.h"
#include <cli/campaign/signature.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Behind the search the run without a plan is made so often again: does the schedule decide all? */
enum { PLAN_MAX = 1 << 16, LOG_MAX = 1 << 20, AGAIN = 3 };

static struct pct_explorer *of(struct pct_campaign_observer *observer)
{
    return (struct pct_explorer *)observer;
}

/* --- The channel -------------------------------------------------------------------------------------------------- */

static int open_channel(struct pct_explorer *e)
{
    size_t size = pct_channel_size(PLAN_MAX, LOG_MAX);
    strcpy(e->channel_path, "/dev/shm/pct-explore-XXXXXX");
    e->channel_file = mkstemp(e->channel_path);
    if (e->channel_file < 0) {
        strcpy(e->channel_path, "/tmp/pct-explore-XXXXXX");
        e->channel_file = mkstemp(e->channel_path);
    }
    if (e->channel_file < 0 || ftruncate(e->channel_file, (off_t)size))
        return -errno;
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, e->channel_file, 0);
    if (at == MAP_FAILED)
        return -errno;
    e->channel = at;
    memcpy(e->channel->magic, PCT_CHANNEL_MAGIC, sizeof e->channel->magic);
    e->channel->version = PCT_CHANNEL_VERSION;
    e->channel->plan_max = PLAN_MAX;
    e->channel->log_max = LOG_MAX;
    return 0;
}

static void reset_channel(struct pct_explorer *e, const uint32_t *plan, uint32_t count)
{
    struct pct_channel *channel = e->channel;
    if (count)
        memcpy(channel->plan, plan, count * sizeof *plan);
    channel->plan_count = count;
    channel->log_count = channel->doubts = channel->assumes = channel->began = 0;
}

/* --- A run that has ended ----------------------------------------------------------------------------------------- */

/* A bound has ended it, which says nothing of the program. */
static bool was_cut(const struct pct_result *result)
{
    return result->ending == PCT_ENDING_TIMEOUT || result->ending == PCT_ENDING_LIVELOCK;
}

static void note(struct pct_explorer *e, const struct pct_result *result)
{
    const struct pct_trace_header *header = &result->trace.header;
    e->children |= e->channel->began != 1 || header->images || result->children;
    e->deadlines |= header->deadlines != 0;
    e->timers |= header->fixed_deadlines != 0;
    e->handlers |= header->passed_over != 0;
    e->assumes |= e->channel->assumes;
    if (e->threads < header->threads)
        e->threads = header->threads;
    for (uint64_t i = 0; i < result->trace.count && !e->memory; i++) {
        uint32_t op = PCT_RECORD_OP(result->trace.records[i]);
        e->memory = op >= PCT_OP_LOAD && op <= PCT_OP_ATOMIC_TRY;
    }
}

/* All runs begin alike, and each by its plan. */
static int next(struct pct_campaign_observer *observer, struct pct_campaign *c, struct pct_run_spec *spec)
{
    (void)c;
    spec->channel = of(observer)->channel_path;
    return 0;
}

/* Read the log before the run may be repeated, to see how runs are made best. */
static int judge(struct pct_campaign_observer *observer, struct pct_campaign *c, struct pct_process *process,
                 struct pct_result *result)
{
    (void)c;
    (void)process;
    struct pct_explorer *e = of(observer);
    const struct pct_trace *trace = &result->trace;
    bool ended = trace->header.verdict == PCT_VERDICT_EXIT || result->ending == PCT_ENDING_DEADLOCK;
    bool whole =
        result->state == PCT_TRACE_GOOD && !trace->header.first && trace->header.recorded >= trace->header.steps;
    note(e, result);
    e->read = whole && e->channel->began && e->channel->log_count &&
              !pct_execution_read(&e->execution, pct_channel_log(e->channel), e->channel->log_count, trace->records,
                                  trace->count, ended);
    if (e->read)
        e->execution.doubts |= e->channel->doubts;
    return 0;
}

/* A run without a plan: are they all alike? What is used may stand at other addresses, where they were started in
 * different ways. */
static void compare_plain(struct pct_explorer *e)
{
    struct pct_execution *x = &e->execution;
    if (!e->plain.count) {
        e->plain = *x;
        *x = (struct pct_execution){ 0 };
        return;
    }
    e->differs |= e->plain.count != x->count;
    for (uint32_t i = 0; i < x->count && !e->differs; i++)
        e->differs = e->plain.event[i].thread != x->event[i].thread || e->plain.event[i].op != x->event[i].op ||
                     e->plain.event[i].touches != x->event[i].touches;
    pct_execution_free(x);
}

static bool settled(const struct pct_launch *launch)
{
    return launch->forks.state == PCT_FORKING_YES || launch->forks.state == PCT_FORKING_NO;
}

static struct pct_finding *find(struct pct_explorer *e, uint64_t hash)
{
    for (size_t i = 0; i < e->findings; i++)
        if (e->finding[i].hash == hash)
            return &e->finding[i];
    struct pct_finding *more = realloc(e->finding, (e->findings + 1) * sizeof *more);
    if (!more)
        return NULL;
    e->finding = more;
    more[e->findings] = (struct pct_finding){ .hash = hash };
    return &more[e->findings++];
}

/* A class fails; or a run that is like one that was made before (known), which failed alike. */
static int take_failure(struct pct_explorer *e, const struct pct_process *process, const struct pct_result *result,
                        bool known, bool *hold)
{
    struct pct_signature signature;
    int failed = pct_signature_make(&signature, process, result);
    struct pct_finding *finding = failed ? NULL : find(e, signature.hash);
    if (!finding)
        return pct_cli_no_memory("");
    if (!finding->title[0]) {
        snprintf(finding->title, sizeof finding->title, "%s", signature.title);
        finding->run = pct_search_facts(e->search)->runs;
        finding->tuple = pct_search_facts(e->search)->tuple;
        *hold = pct_explorer_token(&result->trace, finding->token, sizeof finding->token);
    }
    finding->count += !known;
    e->failing += !known;
    pct_signature_free(&signature);
    return 0;
}

static void stop(struct pct_campaign *c, const struct pct_process *process)
{
    c->runs = process->index + 1;
}

/* What the next run is to do; or there is none. */
static void go_on(struct pct_explorer *e, struct pct_campaign *c, const struct pct_process *process)
{
    const uint32_t *plan;
    uint32_t count;
    const struct pct_search_facts *facts = pct_search_facts(e->search);
    if (!pct_search_next(e->search, &plan, &count)) {
        e->complete = !facts->unrepeatable;
        reset_channel(e, NULL, 0);
        if (!e->complete || e->findings)
            stop(c, process);
        return;
    }
    e->used_up = count >= PLAN_MAX || (e->limit && facts->runs >= e->limit) ||
                 (e->budget > 0 && pct_cli_now() - e->began >= e->budget);
    if (e->used_up)
        stop(c, process);
    else
        reset_channel(e, plan, count);
}

static int looked(struct pct_campaign_observer *observer, struct pct_campaign *c, struct pct_process *process,
                  const struct pct_result *result, bool failed, bool *hold)
{
    struct pct_explorer *e = of(observer);
    if (!e->read) {
        e->unreadable = true;
        stop(c, process);
        return 0;
    }
    if ((!settled(&c->launch) && !failed) || e->complete) {
        compare_plain(e);
        e->differs |= failed;
        reset_channel(e, NULL, 0);
        if (e->complete && ++e->again == AGAIN)
            stop(c, process);
        return 0;
    }
    uint64_t vain = pct_search_facts(e->search)->vain;
    if (pct_search_take(e->search, &e->execution, NULL))
        return pct_cli_no_memory("");
    bool known = pct_search_facts(e->search)->vain > vain;
    int status = 0;
    if (was_cut(result))
        e->cut++;
    else if (failed)
        status = take_failure(e, process, result, known, hold);
    else
        e->passed += !known;
    if (e->first && e->findings)
        stop(c, process);
    else
        go_on(e, c, process);
    return status;
}

/* --- Replays of what was found ------------------------------------------------------------------------------------ */

static int replay(struct pct_campaign *c, struct pct_finding *finding)
{
    static struct pct_ended_run run; /* large */
    struct pct_engine engine = { .launch = &c->launch, .quiet = true };
    struct pct_run_spec spec = { .index = UINT64_MAX };
    struct pct_signature signature;
    char error[256];
    if (pct_run_spec_parse(&spec, finding->token, error, sizeof error))
        return pct_cli_usage("%s", error);
    int status = pct_engine_run_one(&engine, &spec, &run);
    if (status)
        return status;
    if (!pct_signature_make(&signature, &run.process, &run.result)) {
        finding->replayed = signature.hash == finding->hash;
        if (finding->replayed)
            snprintf(finding->token, sizeof finding->token, "%s", run.result.trace.header.token);
        pct_signature_free(&signature);
    }
    pct_ended_run_close(&run);
    return 0;
}

/* Nothing runs: replay the new findings once. */
static int idle(struct pct_campaign_observer *observer, struct pct_campaign *c)
{
    struct pct_explorer *e = of(observer);
    for (size_t i = 0; i < e->findings; i++) {
        struct pct_finding *finding = &e->finding[i];
        if (finding->count > 1 || finding->replayed || !finding->token[0])
            continue;
        int status = replay(c, finding);
        if (status)
            return status;
        if (!finding->replayed)
            finding->token[0] = 0;
    }
    return 0;
}

static int tick(struct pct_campaign_observer *observer, struct pct_campaign *c)
{
    (void)c;
    struct pct_explorer *e = of(observer);
    if (!e->progress)
        return 0;
    const struct pct_search_facts *facts = pct_search_facts(e->search);
    double seconds = pct_cli_now() - e->began;
    fprintf(stderr, "\rpct: %llu classes, %llu open, %.0f runs/s, %zu found\033[K", (unsigned long long)facts->classes,
            (unsigned long long)facts->open, seconds > 0 ? (double)facts->runs / seconds : 0, e->findings);
    fflush(stderr);
    return 0;
}

int pct_explorer_open(struct pct_explorer *e, struct pct_campaign *c)
{
    e->observer =
        (struct pct_campaign_observer){ .next = next, .judge = judge, .looked = looked, .idle = idle, .tick = tick };
    e->search = pct_search_new(e->bound, e->order);
    if (!e->search)
        return pct_cli_no_memory("");
    int failed = open_channel(e);
    if (failed) {
        pct_cli_say("cannot make a file for the plan and the log of the runs: %s", strerror(-failed));
        return PCT_EXIT_INTERNAL;
    }
    c->observer = &e->observer;
    c->launch.explored = true;
    c->runs = UINT64_MAX / 2;
    c->jobs = 1;
    c->stride = 0; /* the seed of all runs is the same: it is what the program draws its own random numbers from */
    c->keep_going = true;
    return 0;
}

int pct_explorer_run(struct pct_explorer *e, struct pct_campaign *c)
{
    e->began = pct_cli_now();
    reset_channel(e, NULL, 0);
    int status = pct_campaign_run(c);
    e->seconds = pct_cli_now() - e->began;
    if (e->progress)
        fputs("\r\033[K", stderr);
    return status;
}

void pct_explorer_close(struct pct_explorer *e)
{
    if (e->channel)
        munmap(e->channel, pct_channel_size(PLAN_MAX, LOG_MAX));
    if (e->channel_file >= 0) {
        close(e->channel_file);
        unlink(e->channel_path);
    }
    pct_search_free(e->search);
    pct_execution_free(&e->plain);
    free(e->finding);
}
