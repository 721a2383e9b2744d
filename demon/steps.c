/* Operations of the test as points: see steps.h. Which there are says the trace of the undisturbed run. For each, the
 * program runs again, up to there; the demon thread records the state, and ends the run, whose trace then says where in
 * the source the test's thread is. */
#include "steps.h"
#include "run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ROOM = 4 /* for what the demon thread records; the helper has done so before */ };

/* An operation that may become a point. */
struct step {
    uint64_t made;  /* operations before it */
    uint32_t last;  /* the index of the last point before it */
    bool is_access; /* to memory */
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* As a place that the test comes to, for reports. NULL: memory is short. */
static struct demon_proc *make_place(struct demon_search *s, const struct step *step, const struct demon_result *r)
{
    struct demon_proc **more = realloc(s->place, (s->places + 1) * sizeof *more);
    if (!more)
        return NULL;
    s->place = more;
    struct demon_proc *place = calloc(1, sizeof *place);
    if (!place)
        return NULL;
    s->place[s->places++] = place;
    place->is_step = true;
    place->is_access = step->is_access;
    place->from = s->model.spec->name;
    place->file_line = r->line;
    /* Without the number of the object, which is that of this run alone. */
    size_t length = strlen(r->next);
    while (length && strchr(" 0123456789", r->next[length - 1]))
        length--;
    snprintf(place->name, sizeof place->name, "%.*s", (int)length, r->next);
    snprintf(place->path, sizeof place->path, "%s", r->file);
    place->file = base_name(place->path);
    return place;
}

/* The state before this operation, and (result) where that is; point: to be filled in. False after a message. */
static bool look_at(struct demon_search *s, const struct step *step, struct pct_demon_point *point,
                    struct demon_result *result)
{
    char path[4096], trace[4200];
    const uint64_t operations[DEMON_TIMES] = { step->made };
    const struct demon_proc *test = &s->model.spec->proc[0];
    struct pct_demon_plan *plan = demon_plan_create(s->program, "try", PCT_DEMON_POINTS, path);
    if (!plan) {
        demon_say("%s cannot be written", path);
        return false;
    }
    demon_search_copy_head(plan, s->model.plan);
    demon_search_put_calls(&s->model, s->help, s->helps, plan);
    plan->helps = (uint32_t)s->helps;
    plan->at = s->record->point[step->last].entry;
    plan->probes = 1;
    snprintf(trace, sizeof trace, "%s/tried", s->program->directory);
    bool fine = demon_run(s->program, path, operations, trace, result);
    *point = (struct pct_demon_point){ .entry = 0 };
    if (fine) {
        demon_state_fill_ghosts(&s->model, plan);
        demon_run_read_trace(trace, test->name, result);
        for (uint32_t i = 0; i < plan->points && i < plan->room; i++)
            if (plan->point[i].caller == 1)
                *point = plan->point[i];
        point->caller = 0;
    }
    munmap(plan, sizeof *plan + PCT_DEMON_POINTS * sizeof plan->point[0]);
    free(result->output);
    return fine;
}

/* All points in their order: the record's, and of these operations those that the test comes to. */
static bool merge(struct demon_search *s, const struct step *steps, uint32_t count)
{
    const struct pct_demon_plan *old = s->record;
    struct pct_demon_plan *all = calloc(1, sizeof *all + PCT_DEMON_POINTS * sizeof all->point[0]);
    uint64_t operations[PCT_DEMON_POINTS];
    uint32_t next = 0, helped = s->helped;
    if (!all)
        return false;
    *all = *old;
    all->points = 0;
    memcpy(operations, s->undisturbed.operations, sizeof operations);
    for (uint32_t i = 0; i < old->points; i++) {
        helped = s->helps && i == s->helped ? all->points : helped;
        s->undisturbed.operations[all->points] = operations[i];
        all->point[all->points++] = old->point[i];
        for (; next < count && steps[next].last == i; next++) {
            struct demon_result r;
            struct pct_demon_point *point = &all->point[all->points];
            if (!look_at(s, &steps[next], point, &r)) {
                free(all);
                return false;
            }
            /* It has left the test, or the demon thread could not come in just there. */
            if (!point->entry || !r.in_test || !r.next[0] || r.made != steps[next].made)
                continue;
            s->undisturbed.place[all->points] = make_place(s, &steps[next], &r);
            s->undisturbed.operations[all->points++] = steps[next].made;
        }
    }
    if (s->record != s->mapped)
        free(s->record);
    s->record = all;
    s->helped = helped;
    s->undisturbed.record = all;
    return true;
}

/* Classes of objects of operations that are points. */
bool demon_steps_is_wanted(enum demon_points points, const char *line, bool direct)
{
    static const char *const classes[] = { "mutex",   "rwlock", "spinlock", "semaphore", "condition variable",
                                           "barrier", "once",   "futex",    "memory" };
    const size_t count = sizeof classes / sizeof *classes - (points < DEMON_POINTS_ACCESSES);
    char text[64];
    if (!direct && demon_run_has(line, "\"class\":\"semaphore\",\"object\":1,"))
        return false; /* ours */
    for (size_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "\"class\":\"%s\"", classes[i]);
        if (demon_run_has(line, text))
            return true;
    }
    return false;
}

struct reader {
    const struct demon_search *search;
    struct step step[PCT_DEMON_POINTS];
    uint32_t count, left; /* left: there is no room for this many */
};

static void take_step(void *context, const char *line, uint64_t made)
{
    struct reader *r = context;
    const struct demon_way *way = &r->search->undisturbed;
    uint32_t last = way->record->points;
    while (last > 0 && way->operations[last - 1] >= made)
        last--;
    if (!last || !demon_steps_is_wanted(r->search->points, line, false))
        return;
    if (r->count + way->record->points >= PCT_DEMON_POINTS)
        r->left++;
    else
        r->step[r->count++] =
            (struct step){ .made = made, .last = last - 1, .is_access = demon_run_has(line, "\"class\":\"memory\"") };
}

static void count_left_out(void *context, const char *line, uint64_t made)
{
    struct reader *r = context;
    const struct demon_way *way = &r->search->undisturbed;
    const uint32_t points = way->record->points;
    r->left += points && made > way->operations[0] && made < way->operations[points - 1] &&
               demon_steps_is_wanted(DEMON_POINTS_LOCKS, line, false);
}

uint64_t demon_steps_left_out(const struct demon_search *s)
{
    struct reader r = { .search = s };
    if (s->points == DEMON_POINTS_CALLS)
        demon_run_each_operation(s->trace, count_left_out, &r);
    return r.left;
}

bool demon_steps_add(struct demon_search *s)
{
    struct demon_way *way = &s->undisturbed;
    *way = (struct demon_way){ .record = s->record, .helps = s->helps };
    memcpy(way->help, s->help, sizeof way->help);
    demon_operations(s->trace, s->record->point, s->record->points, way->operations);
    if (s->points == DEMON_POINTS_CALLS)
        return true;
    struct reader *r = calloc(1, sizeof *r);
    if (!r)
        return false;
    r->search = s;
    demon_run_each_operation(s->trace, take_step, r);
    if (r->left)
        demon_say("only the first %u of %u operations are points", r->count, r->count + r->left);
    bool fine = merge(s, r->step, r->count);
    free(r);
    return fine;
}
