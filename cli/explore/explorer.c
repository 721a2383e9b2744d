/* The runs of `pct explore`: see explorer.h. Called by the campaign (campaign.h), on the command's only thread. */
#include "explorer.h"
#include "keep.h"
#include <cli/base/status_line.h>
#include <cli/binary/locate.h>
#include <pct/operations.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Behind the search the run without a plan is made so often again: does the schedule decide all? */
enum { LOG_MAX = 1 << 20 };

/* Of runs that were made ahead: what they take. */
#define AHEAD_MAX ((size_t)256 << 20)

static struct pct_explorer *of(struct pct_campaign_observer *observer)
{
    return (struct pct_explorer *)observer;
}

/* --- Channels ----------------------------------------------------------------------------------------------------- */

static int open_channel(struct pct_explorer_channel *channel)
{
    size_t size = pct_channel_size(PCT_EXPLORER_PLAN_MAX, LOG_MAX);
    channel->file = pct_locate_scratch(channel->path, sizeof channel->path, false);
    if (channel->file < 0)
        return channel->file;
    if (ftruncate(channel->file, (off_t)size))
        return -errno;
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, channel->file, 0);
    if (at == MAP_FAILED)
        return -errno;
    channel->at = at;
    memcpy(channel->at->magic, PCT_CHANNEL_MAGIC, sizeof channel->at->magic);
    channel->at->version = PCT_CHANNEL_VERSION;
    channel->at->plan_max = PCT_EXPLORER_PLAN_MAX;
    channel->at->log_max = LOG_MAX;
    return 0;
}

static void close_channel(struct pct_explorer_channel *channel)
{
    if (channel->at)
        munmap(channel->at, pct_channel_size(PCT_EXPLORER_PLAN_MAX, LOG_MAX));
    if (channel->file >= 0) {
        close(channel->file);
        unlink(channel->path);
    }
}

static void put_plan(struct pct_channel *channel, const uint32_t *plan, uint32_t count)
{
    if (count)
        memcpy(channel->plan, plan, count * sizeof *plan);
    channel->plan_count = count;
}

uint64_t pct_explorer_plan(const uint32_t *plan, uint32_t count)
{
    return XXH3_64bits(plan, count * sizeof *plan);
}

/* --- The next run ------------------------------------------------------------------------------------------------- */

static bool settled(const struct pct_launch *launch)
{
    return launch->forks.state == PCT_FORKING_YES || launch->forks.state == PCT_FORKING_NO;
}

static struct pct_made *free_place(struct pct_explorer *e, bool *any)
{
    struct pct_made *place = NULL;
    *any = false;
    for (size_t i = 0; i < e->making_count; i++)
        if (e->making[i].used)
            *any = true;
        else if (!place)
            place = &e->making[i];
    return place;
}

/* The plan of another run that is going to be asked for. False: there is none now. */
static bool name_ahead(struct pct_explorer *e, uint32_t *walk_plan, const uint32_t **plan, uint32_t *count)
{
    if (!e->walks.asked)
        return pct_search_ahead(e->search, plan, count) && *count <= PCT_EXPLORER_PLAN_MAX;
    if (e->walks.named >= pct_walks_due(pct_search_facts(e->search)->runs, e->first))
        return false;
    *walk_plan = pct_walks_plan(++e->walks.named);
    *plan = walk_plan;
    *count = 1;
    return true;
}

/* The first run, and those behind the last one, have no plan; each is alone, as are all while it is not known how runs
 * are made best. */
static int next(struct pct_campaign_observer *observer, struct pct_campaign *c, struct pct_run_spec *spec)
{
    struct pct_explorer *e = of(observer);
    bool any, plain = e->complete || !pct_search_facts(e->search)->runs;
    struct pct_made *made = free_place(e, &any);
    const uint32_t *plan = e->plan;
    uint32_t count = e->plan_count, walk_plan;
    bool walk = e->walks.asked;
    if (!made || (any && (plain || !settled(&c->launch))))
        return PCT_RUNS_WAIT;
    if (e->probes) {
        walk_plan = pct_walks_plan(e->estimate.probes + 1);
        plan = &walk_plan;
        count = 1;
    } else if (plain) {
        count = 0;
    } else if (e->asked) {
        if (c->jobs < 2 || e->ahead_bytes > AHEAD_MAX || !name_ahead(e, &walk_plan, &plan, &count))
            return PCT_RUNS_WAIT;
    } else {
        e->asked = true;
    }
    *made = (struct pct_made){
        .used = true, .plain = plain, .walk = walk, .index = spec->index, .plan = pct_explorer_plan(plan, count)
    };
    put_plan(e->channel[spec->worker].at, plan, count);
    e->channel[spec->worker].at->output = e->keep && (e->keep->oracle.expect || e->keep->oracle.command);
    spec->channel = e->channel[spec->worker].path;
    spec->log = e->channel[spec->worker].at;
    return 0;
}

/* --- A run that has ended ----------------------------------------------------------------------------------------- */

static struct pct_made *find_making(struct pct_explorer *e, const struct pct_process *process)
{
    for (size_t i = 0; i < e->making_count; i++)
        if (e->making[i].used && e->making[i].index == process->index)
            return &e->making[i];
    return NULL;
}

/* The next run of this worker, and one that repeats this one to see how runs are made best, writes the same log. */
static void over(struct pct_campaign_observer *observer, struct pct_campaign *c, const struct pct_process *process)
{
    (void)c;
    struct pct_explorer *e = of(observer);
    struct pct_made *made = find_making(e, process);
    struct pct_channel *channel = e->channel[process->worker].at;
    if (!made)
        return;
    made->began = channel->began;
    made->awaited = channel->awaited;
    made->run.doubts = channel->doubts;
    made->run.assumes = channel->assumes;
    uint32_t count = channel->log_count < LOG_MAX ? channel->log_count : LOG_MAX;
    made->run.log = malloc((count + 1) * sizeof *made->run.log);
    if (!made->run.log)
        return; /* classify() says so */
    made->run.log_count = count;
    memcpy(made->run.log, pct_channel_log(channel), count * sizeof *made->run.log);
}

static uint32_t flags_of(const struct pct_made *made, const struct pct_result *result)
{
    const struct pct_trace_header *header = &result->trace.header;
    /* A loop that waits has ended it: as a deadlock does. */
    bool waits = result->ending == PCT_ENDING_LIVELOCK && made->awaited;
    bool ended = header->verdict == PCT_VERDICT_EXIT || result->ending == PCT_ENDING_DEADLOCK || waits;
    /* A bound has ended it, which says nothing of the program. */
    bool cut = result->ending == PCT_ENDING_TIMEOUT || (result->ending == PCT_ENDING_LIVELOCK && !waits);
    uint32_t flags = 0;
    flags |= ended ? PCT_EXPLORED_ENDED : 0;
    flags |= cut ? PCT_EXPLORED_CUT : 0;
    flags |= waits && made->awaited == PCT_AWAITED_BLOCKED ? PCT_EXPLORED_BLOCKED : 0;
    flags |= made->began != 1 || header->images || result->children ? PCT_EXPLORED_CHILDREN : 0;
    flags |= made->walk ? PCT_EXPLORED_WALK : 0;
    flags |= header->deadlines ? PCT_EXPLORED_DEADLINES : 0;
    flags |= header->fixed_deadlines ? PCT_EXPLORED_TIMERS : 0;
    flags |= header->randoms ? PCT_EXPLORED_RANDOM : 0;
    flags |= header->passed_over ? PCT_EXPLORED_HANDLERS : 0;
    flags |= result->unseen && result->ending == PCT_ENDING_EXIT ? PCT_EXPLORED_LOST : 0;
    for (uint64_t i = 0; i < result->trace.count; i++) {
        uint32_t op = PCT_RECORD_OP(result->trace.records[i]);
        flags |= pct_operation_accesses(op) ? PCT_EXPLORED_MEMORY : 0;
    }
    return flags;
}

/* Whether what the rounds of threads that wait for ever change is their own: if not, others may wait for just that. */
static bool waits_alone(const struct pct_explored *run)
{
    struct pct_execution x;
    if (pct_explored_read(run, &x))
        return true; /* look_at() says so */
    bool alone = !(x.doubts >> PCT_DOUBT_OWN & 1);
    pct_execution_free(&x);
    return alone;
}

static int classify(struct pct_campaign_observer *observer, struct pct_campaign *c, struct pct_process *process,
                    struct pct_result *result)
{
    struct pct_explorer *e = of(observer);
    struct pct_made *made = find_making(e, process);
    const struct pct_trace *trace = &result->trace;
    const struct pct_trace_header *header = &trace->header;
    int status = pct_explorer_keep_classify(e->keep, c, process, result);
    if (!made || status)
        return status;
    struct pct_explored *run = &made->run;
    run->flags = flags_of(made, result);
    run->flags |= header->left && (e->keep->oracle.expect || e->keep->oracle.command) ? PCT_EXPLORED_LEFT : 0;
    run->threads = header->threads;
    run->records = malloc((trace->count + 1) * sizeof *run->records);
    if (!run->records || !run->log)
        return pct_cli_no_memory("");
    if (trace->count)
        memcpy(run->records, trace->records, trace->count * sizeof *run->records);
    run->record_count = (uint32_t)trace->count;
    if (run->flags & PCT_EXPLORED_ENDED && made->awaited == PCT_AWAITED_FOR_EVER && !waits_alone(run))
        run->flags |= PCT_EXPLORED_BLOCKED;
    made->whole = result->state == PCT_TRACE_GOOD && !header->first && header->recorded >= header->steps &&
                  trace->count < UINT32_MAX && made->began && run->log_count;
    made->row = (struct pct_store_run){ .code = result->code,
                                        .steps = pct_trace_steps(trace),
                                        .points = pct_trace_points(trace),
                                        .spins = header->spins,
                                        .switches = header->switches,
                                        .preemptions = header->preemptions,
                                        .threads = pct_campaign_threads(result),
                                        .complete = trace->complete,
                                        .hash = header->hash };
    memcpy(made->uncontrolled, header->uncontrolled, sizeof made->uncontrolled);
    /* Whether it could be forked would take as long to see. */
    return result->ending == PCT_ENDING_TIMEOUT && !settled(&c->launch) ? PCT_RUNS_ENOUGH : 0;
}

/* A run without a plan: are they all alike? What is used may stand at other addresses, where they were started in
 * different ways. */
static void compare_plain(struct pct_explorer *e, const struct pct_made *made)
{
    struct pct_execution x;
    if (pct_explored_read(&made->run, &x)) {
        e->unreadable = true;
        return;
    }
    if (!e->plain.count) {
        e->plain = x;
        return;
    }
    e->differs |= e->plain.count != x.count;
    for (uint32_t i = 0; i < x.count && !e->differs; i++)
        e->differs = e->plain.event[i].thread != x.event[i].thread || e->plain.event[i].op != x.event[i].op ||
                     e->plain.event[i].touches != x.event[i].touches;
    pct_execution_free(&x);
}

/* Nobody has asked for it yet. */
static int put_ahead(struct pct_explorer *e, struct pct_made *made)
{
    struct pct_made *more = realloc(e->ahead, (e->aheads + 1) * sizeof *more);
    if (!more)
        return pct_cli_no_memory("");
    e->ahead = more;
    e->ahead_bytes +=
        sizeof *made + made->run.log_count * sizeof *made->run.log + made->run.record_count * sizeof *made->run.records;
    more[e->aheads++] = *made;
    made->run = (struct pct_explored){ 0 };
    return 0;
}

static int look_at(struct pct_explorer *e, struct pct_campaign *c, struct pct_made *made, bool failed)
{
    bool begun = pct_search_facts(e->search)->runs;
    if (!made->whole) {
        e->unreadable = true;
        return PCT_RUNS_ENOUGH;
    }
    if (e->probes)
        return pct_explorer_probe(e, made);
    if (made->plain) {
        /* Those before the first that is taken have passed: they were made to see how runs are made best. */
        e->differs |= begun ? failed != e->first_failed : failed && e->plain.count;
        compare_plain(e, made);
        if (e->complete)
            return ++e->again == PCT_EXPLORER_AGAIN ? PCT_RUNS_ENOUGH : 0;
        if (!settled(&c->launch) && !failed)
            return 0;
    }
    if (begun && made->plan != e->wanted)
        return put_ahead(e, made);
    int status = begun ? 0 : pct_explorer_keep_resume(e->keep, e, c, made);
    if (!status && (begun || !e->resumed)) /* that of the file is the first one */
        status = pct_explorer_take(e, c, made);
    return status ? status : pct_explorer_go_on(e, c);
}

static int looked(struct pct_campaign_observer *observer, struct pct_campaign *c, struct pct_process *process,
                  const struct pct_result *result, bool failed, bool *hold)
{
    struct pct_explorer *e = of(observer);
    struct pct_made *made = find_making(e, process);
    struct pct_signature signature;
    if (!made)
        return 0;
    failed = failed && !(made->run.flags & PCT_EXPLORED_BLOCKED);
    if (failed && pct_signature_make(&signature, process, result))
        return pct_cli_no_memory("");
    made->process = process;
    made->result = result;
    made->signature = failed ? &signature : NULL;
    made->run.flags |= failed ? PCT_EXPLORED_FAILED : 0;
    made->run.failure = failed ? signature.hash : 0;
    int status = look_at(e, c, made, failed);
    *hold |= e->fresh;
    if (failed)
        pct_signature_free(&signature);
    made->used = false;
    pct_explored_free(&made->run);
    return status;
}

static int idle(struct pct_campaign_observer *observer, struct pct_campaign *c)
{
    return pct_explorer_replay(of(observer), c);
}

static int tick(struct pct_campaign_observer *observer, struct pct_campaign *c)
{
    struct pct_explorer *e = of(observer);
    const struct pct_search_facts *facts = pct_search_facts(e->search);
    double seconds = pct_cli_now() - e->began;
    (void)c;
    if (e->progress) {
        char line[256];
        snprintf(line, sizeof line, "%llu classes, %llu open, %.0f runs/s, %zu found",
                 (unsigned long long)facts->classes, (unsigned long long)facts->open,
                 seconds > 0 ? (double)(pct_explorer_runs(e) - e->resumed) / seconds : 0, e->findings);
        pct_status_line_put(true, line);
    }
    if (pct_explorer_is_late(e) && !e->complete) {
        e->used_up = true;
        return PCT_RUNS_ENOUGH;
    }
    return pct_explorer_keep_commit(e->keep, false);
}

/* --- All of it ---------------------------------------------------------------------------------------------------- */

static int open_channels(struct pct_explorer *e, unsigned jobs)
{
    int failed = 0;
    e->channel = calloc(jobs, sizeof *e->channel);
    /* Each worker makes one, and others wait for their turn. */
    e->making_count = 8 * (size_t)jobs + 8;
    e->making = calloc(e->making_count, sizeof *e->making);
    if (!e->channel || !e->making)
        return pct_cli_no_memory("");
    for (unsigned i = 0; i < jobs && !failed; i++) {
        e->channel[e->channels++].file = -1;
        failed = open_channel(&e->channel[i]);
    }
    if (failed)
        pct_cli_say("cannot make a file for the plan and the log of the runs: %s", strerror(-failed));
    return failed ? PCT_EXIT_INTERNAL : 0;
}

/* Each run takes about as much memory as the one before: what is given back stays, and is not cleared again. */
static void keep_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

int pct_explorer_open(struct pct_explorer *e, struct pct_campaign *c)
{
    keep_memory();
    e->observer = (struct pct_campaign_observer){
        .next = next, .over = over, .classify = classify, .looked = looked, .idle = idle, .tick = tick
    };
    e->search =
        e->of > 1 ? pct_search_new_shard(e->shard, e->of, PCT_SHARD_PARTS * e->of) : pct_search_new(e->bound, e->order);
    if (!e->search || !pct_search_next(e->search, &e->plan, &e->plan_count))
        return pct_cli_no_memory("");
    e->wanted = pct_explorer_plan(NULL, 0);
    e->walks.on = e->bound < 0 && e->of < 2 && !e->probes;
    if (e->walks.on)
        e->classes = pct_separation_new();
    int status = open_channels(e, c->jobs);
    if (status)
        return status;
    c->observer = &e->observer;
    c->launch.explored = true;
    c->runs = UINT64_MAX / 2;
    c->stride = 0; /* the seed of all runs is the same: it is what the program draws its own random numbers from */
    c->keep_going = true;
    return 0;
}

int pct_explorer_run(struct pct_explorer *e, struct pct_campaign *c)
{
    e->began = pct_cli_now();
    int status = pct_campaign_run(c);
    if (!status)
        status = pct_explorer_replay(e, c);
    e->seconds = pct_cli_now() - e->began;
    for (size_t i = 0; !status && e->complete && e->classes && i < e->findings; i++)
        if (e->finding[i].replayed)
            e->finding[i].cause = pct_explorer_cause(e, c, &e->finding[i]);
    pct_status_line_clear(!e->progress);
    return status;
}

void pct_explorer_close(struct pct_explorer *e)
{
    for (unsigned i = 0; i < e->channels; i++)
        close_channel(&e->channel[i]);
    for (size_t i = 0; i < e->making_count; i++)
        pct_explored_free(&e->making[i].run);
    for (size_t i = 0; i < e->aheads; i++)
        pct_explored_free(&e->ahead[i].run);
    free(e->channel);
    free(e->making);
    free(e->ahead);
    pct_search_free(e->search);
    pct_separation_free(e->classes);
    pct_walks_free(&e->walks);
    pct_estimate_free(&e->estimate);
    pct_execution_free(&e->plain);
    for (size_t i = 0; i < e->findings; i++)
        free(e->finding[i].cause);
    free(e->finding);
}
