/* The token of a direct plan: see direct.h. Without the steps of the waiting, the points are elsewhere, so runs say
 * where. Where a function returns there is a step only if a jump fits there, which is not so in each build; so not
 * functions, but the lines at which their code begins are what is looked at, and only those of these points. */
#include "direct.h"
#include "binary.h"
#include "steps.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct direct {
    const struct demon_search *search;
    struct demon_program program;
    char trace[4200];
};

static void watch(struct direct *d, const struct demon_proc *proc)
{
    char *names = d->program.functions;
    const char *name = proc->entry[0] ? proc->entry : proc->name;
    const size_t length = strlen(names);
    if (!proc->is_step && !demon_binary_is_listed(names, name))
        snprintf(names + length, sizeof d->program.functions - length, "%s%s", length ? "," : "", name);
}

static void release(struct pct_demon_plan *plan)
{
    munmap(plan, sizeof *plan + plan->room * sizeof plan->point[0]);
}

/* Run it with these calls. NULL: that could not be; else the plan, to be released; path: of that. */
static struct pct_demon_plan *run(struct direct *d, bool earlier, bool later, const uint64_t operations[DEMON_TIMES],
                                  char path[4096], struct demon_result *result)
{
    const struct demon_search *s = d->search;
    /* One without points is not written to, and can be replayed. */
    struct pct_demon_plan *plan = demon_plan_create(&d->program, "try", later ? 0 : PCT_DEMON_POINTS, path);
    if (!plan)
        return NULL;
    demon_search_copy_head(plan, s->model.plan);
    demon_search_put_calls(&s->model, s->earlier.call, earlier ? s->earlier.count : 0, plan);
    plan->actions = earlier ? (uint32_t)s->earlier.count : 0;
    demon_search_put_calls(&s->model, s->later.call, later ? s->later.count : 0, plan);
    plan->second = later && s->earlier.count ? (uint32_t)s->later.count : 0;
    plan->actions += later ? (uint32_t)s->later.count : 0;
    demon_search_put_calls(&s->model, s->helped_by.call, s->helped_by.count, plan);
    plan->helps = (uint32_t)s->helped_by.count;
    plan->direct = 1;
    plan->apart = s->earlier.count > 0;
    if (demon_run(&d->program, path, operations, d->trace, result))
        return plan;
    release(plan);
    return NULL;
}

/* Operations that may be points, in a trace; at this many of the first thread, or this many of these. */
struct counter {
    enum demon_points points;
    uint64_t until, wanted, at;
};

static void count_wanted(void *context, const char *line, uint64_t made)
{
    struct counter *c = context;
    c->wanted += made < c->until && demon_steps_is_wanted(c->points, line, false);
}

static void find_wanted(void *context, const char *line, uint64_t made)
{
    struct counter *c = context;
    if (!c->at && demon_steps_is_wanted(c->points, line, true) && !c->wanted--)
        c->at = made;
}

/* How many operations the first thread makes in this run before these calls are to come; 0: it does not come there. */
static uint64_t find_operations(struct direct *d, const struct pct_demon_plan *plan, const struct demon_made *made)
{
    const struct demon_search *s = d->search;
    uint64_t operations = 0;
    if (made->at->is_step) {
        struct counter c = { .points = d->program.accesses ? DEMON_POINTS_ACCESSES : DEMON_POINTS_LOCKS,
                             .until = made->operations };
        demon_run_each_operation(s->trace, count_wanted, &c);
        demon_run_each_operation(d->trace, find_wanted, &c);
        return c.at;
    }
    for (uint32_t i = 0; i < plan->points && i < plan->room; i++) {
        const struct pct_demon_point *point = &plan->point[i];
        if (!point->caller && &s->model.spec->proc[point->function] == made->at && point->times == made->times)
            demon_operations(d->trace, point, 1, &operations);
    }
    return operations;
}

/* The same from a run without the calls that come then. */
static bool look_for(struct direct *d, bool behind, const struct demon_made *made, uint64_t operations[DEMON_TIMES])
{
    char path[4096];
    struct demon_result result;
    struct pct_demon_plan *plan = run(d, behind, false, operations, path, &result);
    if (!plan)
        return false;
    free(result.output);
    operations[behind] = find_operations(d, plan, made);
    release(plan);
    return operations[behind];
}

bool demon_direct_has_accesses(const struct demon_search *s)
{
    return s->later.at->is_access || (s->earlier.count && s->earlier.at->is_access);
}

bool demon_direct_find_token(const struct demon_search *s, const struct demon_finding *f, char token[4096])
{
    static struct direct d; /* large */
    char path[4096], sources[DEMON_SOURCE_NAMES];
    struct demon_result result;
    uint64_t operations[DEMON_TIMES] = { 0 };
    const bool twice = s->earlier.count;
    d = (struct direct){ .search = s, .program = *s->program };
    d.program.accesses = demon_direct_has_accesses(s);
    /* What is written is patched, too: it is no source of the program's. */
    if (d.program.accesses && !d.program.tells && demon_binary_list_sources(d.program.path, sources))
        d.program.focus = sources;
    d.program.thread[0] = 1 + (s->helped_by.count > 0);
    d.program.thread[1] = d.program.thread[0] + 1;
    d.program.functions[0] = 0;
    snprintf(d.trace, sizeof d.trace, "%s/tried", d.program.directory);
    watch(&d, f->test);
    watch(&d, s->later.at);
    if (twice)
        watch(&d, s->earlier.at);
    struct pct_demon_plan *plan = look_for(&d, false, twice ? &s->earlier : &s->later, operations) &&
                                          (!twice || look_for(&d, true, &s->later, operations))
                                      ? run(&d, true, true, operations, path, &result)
                                      : NULL;
    bool same = plan;
    if (plan) {
        demon_run_read_trace(d.trace, f->test->name, &result);
        same = result.failed && result.token[0] &&
               (f->deadlock ? !strcmp(result.kind, "deadlock") && result.cycle : !strcmp(result.text, f->verdict));
        memcpy(token, result.token, sizeof result.token);
        free(result.output);
        release(plan);
        same = same && demon_replays(&d.program, path, token);
    }
    s->program->runs = d.program.runs;
    return same;
}
