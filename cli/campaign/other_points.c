/* Runs with other scheduling points: see other_points.h. */
#include "other_points.h"
#include "campaign.h"
#include "event_counts.h"
#include "objects.h"
#include "sampling.h"
#include <cli/binary/elf_facts.h>
#include <cli/trace/contended.h>
#include <pct/random.h>
#include <stdio.h>

/* The first of these runs may take this many seconds, and, where no number of steps ends it, this part of the time that
 * runs have: the others may take longer. If it takes more, there are no others. */
#define PATIENCE 10.0
#define PART 0.1

static bool has_begun(const struct pct_other_kind *kind, uint64_t index)
{
    return kind->on && index >= kind->from;
}

/* The kind of the run of this number; NULL: it is not one of them. */
static const struct pct_other_kind *kind_of(const struct pct_campaign *c, uint64_t index)
{
    const struct pct_other_points *o = &c->other;
    const struct pct_other_kind *kinds[] = { &o->narrow, &o->wide };
    bool narrow = has_begun(&o->narrow, index), wide = has_begun(&o->wide, index);
    if ((!narrow && !wide) || pct_sampling_measures(c, index))
        return NULL;
    for (unsigned i = 0; i < 2; i++)
        if (kinds[i]->on && index == kinds[i]->from)
            return kinds[i];
    if (pct_directed_takes(c, index))
        return NULL;
    uint64_t seed = pct_campaign_seed(c, index), in = o->memory ? PCT_OTHER_MEMORY : PCT_OTHER_CALLS;
    if (pct_random_below(seed, PCT_STREAM_POINTS, 0, in))
        return NULL;
    return kinds[wide && (!narrow || pct_random_below(seed, PCT_STREAM_POINTS, 1, 2))];
}

bool pct_other_points_has(const struct pct_campaign *c, uint64_t index)
{
    return kind_of(c, index) != NULL;
}

const struct pct_object_counts *pct_other_points_objects(const struct pct_campaign *c, uint64_t index)
{
    const struct pct_other_kind *kind = kind_of(c, index);
    return kind && index != kind->from ? kind->objects : NULL;
}

const struct pct_config *pct_other_points_config(const struct pct_campaign *c, uint64_t index)
{
    const struct pct_other_kind *kind = kind_of(c, index);
    return !kind ? &c->config : index == kind->from ? &kind->first : &kind->config;
}

void pct_other_points_free(struct pct_other_points *other)
{
    pct_objects_free(&other->narrow.objects);
    pct_objects_free(&other->wide.objects);
}

/* How many places in the code made accesses that nothing orders with another thread's. */
static size_t count_unordered(const struct pct_trace *trace)
{
    struct pct_ordered seen = { 0 };
    size_t unordered = pct_ordered_add(&seen, trace) ? 0 : seen.count - pct_ordered_skipped(&seen);
    pct_ordered_free(&seen);
    return unordered;
}

/* k, and what else is known of runs, by the first of them. */
static void learn(const struct pct_campaign *c, struct pct_other_kind *kind, const struct pct_result *result)
{
    const struct pct_param *param = &c->strategy->params[c->k];
    uint64_t k = pct_trace_points(&result->trace), least = kind->config.run.param[c->depth];
    k += k / 8; /* another schedule may be longer */
    k = k < least ? least : k;
    if (!(kind->config.given >> c->k & 1))
        kind->config.run.param[c->k] = k < param->min ? param->min : k > param->max ? param->max : k;
    pct_event_counts_counts(&kind->config, c->strategy, &result->trace);
    if (pct_objects_add(&kind->objects, &result->trace))
        pct_cli_say("out of memory: the uses of objects are not counted");
}

/* Whether pct could not order all, such as a loop that waits on memory: what is an access there is a point elsewhere.
 */
static bool is_uncontrolled(const struct pct_trace_header *header)
{
    bool any = false;
    for (unsigned i = 0; i < PCT_UNCONTROLLED_COUNT; i++)
        any = any || (header->uncontrolled[i] && !pct_name_is_blind(i));
    return any;
}

/* Whether threads call anything but what begins and ends them. */
static bool has_calls(const struct pct_trace *trace)
{
    for (uint64_t i = 0; i < trace->count; i++)
        switch (PCT_RECORD_OP(trace->records[i])) {
        case PCT_OP_THREAD_START:
        case PCT_OP_THREAD_FINISH:
        case PCT_OP_THREAD_CREATE:
        case PCT_OP_THREAD_JOIN:
        case PCT_OP_THREAD_TRYJOIN:
        case PCT_OP_THREAD_DETACH:
        case PCT_OP_THREAD_EXIT:
        case PCT_OP_EXIT:
            break;
        default:
            return true;
        }
    return false;
}

/* That pct itself has failed, perhaps for want of memory, is no failure of the program's: more points and the detector
 * take more than the campaign's own runs, and nobody has asked for them. */
static bool is_whole(const struct pct_result *result)
{
    return !result->unrecorded && result->ending != PCT_ENDING_TIMEOUT && result->ending != PCT_ENDING_INTERNAL &&
           !pct_sampling_count(&result->trace);
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* A whole run of a kind has ended. Whether it has shown more than runs of the other kind. */
static bool look_at(const struct pct_campaign *c, struct pct_other_kind *kind, const struct pct_result *result,
                    const struct pct_other_shown *other)
{
    struct pct_other_shown *shown = &kind->shown;
    size_t unordered = c->other.memory ? count_unordered(&result->trace) : 0;
    size_t contended = c->other.memory && !unordered ? pct_contended_atomics(&result->trace) : 0;
    shown->fails = shown->fails || pct_result_fails(result, c->ok);
    shown->unordered = most(shown->unordered, unordered);
    shown->contended = most(shown->contended, contended);
    shown->steps = most(shown->steps, pct_trace_steps(&result->trace));
    return unordered > other->unordered || contended > other->contended;
}

static void say_why(const struct pct_other_points *o)
{
    const struct pct_other_shown *shown = o->wide.on ? &o->wide.shown : &o->narrow.shown;
    const char *which = !o->wide.on ? "globals" : o->narrow.on ? "globals or all" : "all";
    char why[160] = "a run with more points failed";
    if (shown->unordered)
        snprintf(why, sizeof why, "%zu place%s in the code access%s memory that calls do not order", shown->unordered,
                 shown->unordered == 1 ? "" : "s", shown->unordered == 1 ? "es" : "");
    else if (shown->contended)
        snprintf(why, sizeof why, "threads meet on %zu atomic variable%s", shown->contended,
                 shown->contended == 1 ? "" : "s");
    pct_cli_say("%s: from now on, one run in %d has scheduling points at memory accesses, too (--memory=%s: all "
                "have; --memory=off: none)",
                why, PCT_OTHER_MEMORY, which);
}

/* The first run of a kind, before it is the campaign's: there it is done again, so that what it finds is a failure like
 * others. most: it ends as a livelock after this many steps; 0: as the campaign's do. accesses: without the detector,
 * every access is a step. Returns 0, and *run is to be closed before the next; or an exit status. */
static int probe(struct pct_campaign *c, struct pct_other_kind *kind, uint64_t most, bool accesses,
                 struct pct_ended_run **run)
{
    static struct pct_ended_run ended; /* large */
    struct pct_engine engine = { .launch = &c->launch, .exec = true, .quiet = !c->progress };
    struct pct_run_spec spec = { .index = kind->from };
    double timeout = c->launch.timeout, patience = most ? timeout : PART * timeout;
    *run = &ended;
    kind->on = true;
    pct_campaign_make_spec(c, kind->from, &spec);
    kind->on = false;
    if (most)
        spec.config.max_steps = most;
    if (accesses) {
        spec.config.memory_points = PCT_POINTS_ALL;
        spec.config.races = PCT_RACES_OFF;
    }
    c->launch.timeout = patience > 0 && patience < PATIENCE ? patience : PATIENCE;
    int status = pct_engine_run_one(&engine, &spec, &ended);
    c->launch.timeout = timeout;
    return status;
}

/* The configuration of runs of a kind, and of the first of them. There can be none if its token would be too long. */
static void configure(const struct pct_campaign *c, struct pct_other_kind *kind, uint8_t memory)
{
    kind->config = c->config;
    kind->config.sample = 0;
    kind->config.memory = memory;
    kind->config.strings = memory >= PCT_PATCH_GLOBALS;
    kind->config.memory_points = memory ? PCT_POINTS_SHARED : PCT_POINTS_OFF;
    kind->first = kind->config;
    kind->first.run.param[c->depth] = 1;
    if (memory)
        kind->first.memory_points = PCT_POINTS_LEARNED;
    pct_config_settle(&kind->first);
    kind->may = pct_config_fits(&kind->first, c->strategy);
}

/* Whether this run is to be the first of those with points at calls only, or at accesses to globals. */
static int try_narrow(struct pct_campaign *c)
{
    struct pct_ended_run *run;
    struct pct_other_kind *kind = &c->other.narrow;
    int status = probe(c, kind, 0, false, &run);
    if (status)
        return status;
    kind->may = is_whole(&run->result);
    if (kind->may) {
        bool more = look_at(c, kind, &run->result, &(struct pct_other_shown){ 0 });
        if (!c->other.memory)
            more = has_calls(&run->result.trace) && !is_uncontrolled(&run->result.trace.header);
        kind->on = more || kind->shown.fails;
    }
    if (kind->on)
        learn(c, kind, &run->result);
    pct_ended_run_close(run);
    return 0;
}

/* Whether a run with points at every access, and no detector, ends before there are too many of them. */
static int count_accesses(struct pct_campaign *c)
{
    struct pct_ended_run *run;
    int status = probe(c, &c->other.wide, PCT_OTHER_WIDE_ACCESSES, true, &run);
    if (status)
        return status;
    c->other.wide.may = is_whole(&run->result) && run->result.ending != PCT_ENDING_LIVELOCK;
    pct_ended_run_close(run);
    return 0;
}

/* Whether this run is to be the first of those with points at all accesses. */
static int try_wide(struct pct_campaign *c)
{
    struct pct_ended_run *run;
    struct pct_other_kind *kind = &c->other.wide;
    int status = probe(c, kind, PCT_OTHER_WIDE_POINTS, false, &run);
    if (status)
        return status;
    kind->may = is_whole(&run->result) && run->result.ending != PCT_ENDING_LIVELOCK;
    kind->on = kind->may && look_at(c, kind, &run->result, &c->other.narrow.shown);
    if (kind->on)
        learn(c, kind, &run->result);
    pct_ended_run_close(run);
    return 0;
}

/* Which kinds of such runs there can be. */
static void choose(struct pct_campaign *c)
{
    struct pct_other_points *o = &c->other;
    bool tells = pct_elf_tells(c->launch.program);
    o->chosen = true;
    o->memory = !tells;
    o->due = tells ? PCT_OTHER_CALLS_FROM : PCT_OTHER_MEMORY_FROM;
    if (!o->may || !c->may_patch || c->k < 0 || c->depth < 0 || c->config.memory >= PCT_PATCH_GLOBALS)
        return;
    configure(c, &o->narrow, o->memory ? PCT_PATCH_GLOBALS : PCT_PATCH_OFF);
    if (o->narrow.may && o->memory && !c->config.max_steps)
        configure(c, &o->wide, PCT_PATCH_ALL);
}

/* Whether there can be runs of a kind, and none has been found to be the first. */
static bool is_open(const struct pct_other_kind *kind)
{
    return kind->may && !kind->on;
}

/* Try runs with the seeds from this number on. */
static int ask(struct pct_campaign *c, uint64_t from)
{
    struct pct_other_points *o = &c->other;
    int status = 0, tries = from == PCT_OTHER_MEMORY_FROM ? PCT_OTHER_TRIES : 1;
    for (int i = 0; i < tries && is_open(&o->narrow) && !status; i++) {
        o->narrow.from = from++;
        status = try_narrow(c);
    }
    o->wide.may = o->wide.may && o->narrow.may && o->narrow.shown.steps < PCT_OTHER_WIDE_POINTS;
    o->wide.from = from;
    if (is_open(&o->wide) && !status && !o->wide.shown.steps)
        status = count_accesses(c);
    for (int i = 0; i < tries && is_open(&o->wide) && !status; i++) {
        o->wide.from = from++;
        status = try_wide(c);
    }
    return status;
}

int pct_other_points_decide(struct pct_campaign *c, uint64_t next)
{
    struct pct_other_points *o = &c->other;
    int status = 0;
    if (next >= PCT_OTHER_CALLS_FROM && next < c->runs && !o->chosen)
        choose(c);
    for (; o->chosen && o->due <= next && next < c->runs && !o->narrow.on && !o->wide.on && !status; o->due *= 2) {
        status = ask(c, o->due);
        if (!status && o->memory && (o->narrow.on || o->wide.on) && !o->quiet)
            say_why(o);
    }
    return status;
}
