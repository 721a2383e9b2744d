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

/* The first of these runs may take this many seconds, and this part of the time that runs have: the others may take
 * longer. If it takes more, there are no others. */
#define PATIENCE 10.0
#define PART 0.1

bool pct_other_points_has(const struct pct_campaign *c, uint64_t index)
{
    const struct pct_other_points *o = &c->other;
    if (!o->on || index < o->from || pct_sampling_measures(c, index))
        return false;
    uint64_t seed = pct_campaign_seed(c, index), in = o->memory ? PCT_OTHER_MEMORY : PCT_OTHER_CALLS;
    return index == o->from || !pct_random_below(seed, PCT_STREAM_POINTS, 0, in);
}

const struct pct_object_counts *pct_other_points_objects(const struct pct_campaign *c, uint64_t index)
{
    return index == c->other.from ? NULL : c->other.objects;
}

const struct pct_config *pct_other_points_config(const struct pct_campaign *c, uint64_t index)
{
    return index == c->other.from ? &c->other.first : &c->other.config;
}

void pct_other_points_free(struct pct_other_points *other)
{
    pct_objects_free(&other->objects);
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
static void learn(struct pct_campaign *c, const struct pct_result *result)
{
    struct pct_other_points *o = &c->other;
    const struct pct_param *param = &c->strategy->params[c->k];
    uint64_t k = pct_trace_points(&result->trace), least = o->config.run.param[c->depth];
    k += k / 8; /* another schedule may be longer */
    k = k < least ? least : k;
    if (!(o->config.given >> c->k & 1))
        o->config.run.param[c->k] = k < param->min ? param->min : k > param->max ? param->max : k;
    pct_event_counts_counts(&o->config, c->strategy, &result->trace);
    if (pct_objects_add(&o->objects, &result->trace))
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

static void say_why(size_t unordered, size_t contended)
{
    char why[160] = "a run with more points failed";
    if (unordered)
        snprintf(why, sizeof why, "%zu place%s in the code access%s memory that calls do not order", unordered,
                 unordered == 1 ? "" : "s", unordered == 1 ? "es" : "");
    else if (contended)
        snprintf(why, sizeof why, "threads meet on %zu atomic variable%s", contended, contended == 1 ? "" : "s");
    pct_cli_say("%s: from now on, one run in %d has scheduling points at memory accesses, too (--memory=globals: all "
                "have; --memory=off: none)",
                why, PCT_OTHER_MEMORY);
}

/* What the first of them shows: whether there shall be others. */
static void look_at_first(struct pct_campaign *c, const struct pct_result *result)
{
    struct pct_other_points *o = &c->other;
    size_t unordered = o->memory ? count_unordered(&result->trace) : 0;
    size_t contended = o->memory && !unordered ? pct_contended_atomics(&result->trace) : 0;
    bool whole = !result->unrecorded && result->ending != PCT_ENDING_TIMEOUT && !pct_sampling_count(&result->trace);
    o->on = whole && (o->memory ? unordered || contended || pct_result_fails(result, c->ok)
                                : !is_uncontrolled(&result->trace.header));
    if (!o->on)
        return;
    learn(c, result);
    if (o->memory && !o->quiet)
        say_why(unordered, contended);
}

/* The first of them, before it is the campaign's: there it is done again, so that what it finds is a failure like
 * others. */
static int probe(struct pct_campaign *c)
{
    static struct pct_ended_run run; /* large */
    struct pct_other_points *o = &c->other;
    struct pct_engine engine = { .launch = &c->launch, .exec = true, .quiet = !c->progress };
    struct pct_run_spec spec = { .index = o->from };
    double timeout = c->launch.timeout;
    o->on = true;
    pct_campaign_make_spec(c, o->from, &spec);
    o->on = false;
    c->launch.timeout = timeout > 0 && PART * timeout < PATIENCE ? PART * timeout : PATIENCE;
    int status = pct_engine_run_one(&engine, &spec, &run);
    c->launch.timeout = timeout;
    if (status)
        return status;
    look_at_first(c, &run.result);
    pct_ended_run_close(&run);
    return 0;
}

/* Whether there may be such runs, and of which kind. */
static bool choose(struct pct_campaign *c)
{
    struct pct_other_points *o = &c->other;
    bool tells = pct_elf_tells(c->launch.program);
    o->memory = !tells;
    o->from = tells ? PCT_OTHER_CALLS_FROM : PCT_OTHER_MEMORY_FROM;
    return o->may && c->may_patch && c->k >= 0 && c->depth >= 0 && c->config.memory < PCT_PATCH_GLOBALS;
}

int pct_other_points_decide(struct pct_campaign *c, uint64_t next)
{
    struct pct_other_points *o = &c->other;
    if (o->decided || next < PCT_OTHER_CALLS_FROM || next >= c->runs)
        return 0;
    if (!o->chosen)
        o->decided = !choose(c);
    o->chosen = true;
    if (o->decided || next < o->from)
        return 0;
    o->decided = true;
    o->config = c->config;
    o->config.sample = 0;
    o->config.memory = o->memory ? PCT_PATCH_GLOBALS : PCT_PATCH_OFF;
    o->config.memory_points = o->memory ? PCT_POINTS_SHARED : PCT_POINTS_OFF;
    o->first = o->config;
    o->first.run.param[c->depth] = 1;
    if (o->memory)
        o->first.memory_points = PCT_POINTS_LEARNED;
    pct_config_settle(&o->first);
    return pct_config_fits(&o->first, c->strategy) ? probe(c) : 0;
}
