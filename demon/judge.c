/* The grade of a candidate: see judge.h. */
#include "judge.h"
#include <cli/base/cli.h>
#include <string.h>

enum { DEMON_THREAD = 1, HELPER_THREAD = 2 };

/* Interference, or what comes behind it. */
static bool interferes(const struct pct_demon_point *point)
{
    return point->caller && point->caller < PCT_DEMON_HELPS;
}

static uint32_t recorded(const struct pct_demon_plan *plan)
{
    return plan->points < plan->room ? plan->points : plan->room;
}

/* The demon thread passed, where the plan has an object, a null pointer, or what was none where it began its calls:
 * those before have changed what leads there. */
static bool lacks_object(const struct demon_model *m, const struct pct_demon_plan *plan,
                         const struct pct_demon_point *begun, const struct pct_demon_point *point)
{
    const struct pct_demon_action *action = &plan->action[pct_demon_action_of(plan, point->caller)];
    for (uint32_t i = 0; i < action->arguments; i++)
        if (!action->argument[i].scalar &&
            (!point->arguments[i] || !demon_state_has_object(m, begun, point->arguments[i])))
            return true;
    return false;
}

/* It passed a pointer to a member of a list's element, as contracts of the function say, and it is of none. */
static bool lacks_element(const struct pct_demon_plan *plan, const struct pct_demon_point *point)
{
    for (uint32_t i = 0; i < plan->cells; i++)
        if (plan->cell[i].function == point->function && plan->cell[i].place.container[0] && !point->cells[i].address)
            return true;
    return false;
}

bool demon_judge_met_requirements(const struct demon_model *m, const struct pct_demon_plan *plan)
{
    static struct demon_state state;                         /* large */
    const struct pct_demon_point *begun[2] = { NULL, NULL }; /* of interference, and of the helper */
    struct demon_binding binding;
    for (uint32_t i = 0; i < recorded(plan); i++) {
        const struct pct_demon_point *point = &plan->point[i], **first = &begun[!interferes(point)];
        if (!point->caller)
            continue;
        const bool calls = pct_demon_action_of(plan, point->caller) >= 0;
        *first = !calls ? NULL : *first ? *first : point;
        if (!calls)
            continue;
        demon_state_read(m, point, &state);
        demon_state_bind(m, point, &binding);
        if (lacks_object(m, plan, *first, point) || lacks_element(plan, point) ||
            demon_state_broken(m, DEMON_REQUIRE, NULL, &state, &binding))
            return false;
    }
    return true;
}

/* What the test was called with: recorded where it is entered, and behind calls. */
static void bind_test(const struct demon_model *m, const struct pct_demon_plan *plan, struct demon_binding *test)
{
    uint32_t i = 0;
    while (i + 1 < recorded(plan) && plan->point[i].function)
        i++;
    *test = (struct demon_binding){ .proc = &m->spec->proc[0] };
    memcpy(test->argument, plan->point[i].arguments, sizeof test->argument);
}

/* Whether what the calls of the demon thread, or of the helper, did, from the first to behind each, is what the rely
 * and the invariant let others do. Of calls that were made at one go. */
static bool kept_rely_by(const struct demon_model *m, const struct pct_demon_plan *plan, bool helper)
{
    static struct demon_state before, after; /* large */
    struct demon_binding test;
    bool begun = false;
    bind_test(m, plan, &test);
    for (uint32_t i = 0; i < recorded(plan); i++) {
        const struct pct_demon_point *point = &plan->point[i];
        if (!point->caller || interferes(point) == helper)
            continue;
        if (!begun) {
            demon_state_read(m, point, &before);
            begun = true;
            continue;
        }
        begun = pct_demon_action_of(plan, point->caller) >= 0; /* else the next ones come later */
        demon_state_read(m, point, &after);
        if (demon_state_broken(m, DEMON_RELY, &before, &after, &test) ||
            demon_state_broken(m, DEMON_INVARIANT, NULL, &after, &test))
            return false;
    }
    return true;
}

static bool kept_rely(const struct demon_model *m, const struct pct_demon_plan *plan)
{
    return kept_rely_by(m, plan, false) && kept_rely_by(m, plan, true);
}

bool demon_judge_allowed(const struct demon_model *m, const struct pct_demon_plan *plan, const struct demon_result *r)
{
    return plan->ended && r->whole && demon_judge_met_requirements(m, plan) && kept_rely(m, plan);
}

/* What the test's thread broke behind the first of the calls. */
static void find_broken(const struct demon_model *m, const struct pct_demon_plan *plan, struct demon_judgement *to)
{
    static struct demon_state state; /* large */
    struct demon_binding binding;
    bool begun = false;
    for (uint32_t i = 0; i < recorded(plan) && !to->clause; i++) {
        const struct pct_demon_point *point = &plan->point[i];
        begun |= interferes(point);
        to->point += !point->caller;
        if (point->caller || !begun)
            continue;
        demon_state_read(m, point, &state);
        demon_state_bind(m, point, &binding);
        to->clause = demon_state_broken(m, DEMON_REQUIRE, NULL, &state, &binding);
        to->proc = binding.proc;
    }
}

/* NULL: the failure is the contract's, as far as one run can tell. */
static const char *doubt(const struct demon_model *m, const struct pct_demon_plan *plan, const struct demon_result *r,
                         const struct demon_judgement *j)
{
    if (!strcmp(r->kind, "deadlock"))
        return "threads wait for each other, of which no contract speaks";
    if (r->culprit == DEMON_THREAD || (plan->helps && r->culprit == HELPER_THREAD))
        return "it is the other thread that failed, in its call";
    if (!plan->ended || !r->whole)
        return "the calls were not made in one go: the test went on between them";
    if (!kept_rely(m, plan))
        return "what the calls really did is not what the rely and the invariant let others do";
    return j->clause ? NULL : "what is required held in that run";
}

/* How a run that has not failed has not come to its end, either. NULL: it has. */
static const char *find_no_end(const struct demon_result *r)
{
    switch (r->status) {
    case PCT_EXIT_DEADLOCK:
        return "the program then waited for ever, as a test without other threads may";
    case PCT_EXIT_LIVELOCK:
        return "the program did not end: its threads made no progress";
    case PCT_EXIT_TIMEOUT:
        return "the program did not end in the time that --timeout gives a run";
    default:
        return NULL;
    }
}

struct demon_judgement demon_judge(const struct demon_model *m, const struct pct_demon_plan *plan,
                                   const struct demon_result *r)
{
    struct demon_judgement j = { .grade = DEMON_GRADE_REFUTED };
    if (!plan->begun || !demon_judge_met_requirements(m, plan))
        return j;
    find_broken(m, plan, &j);
    for (uint32_t i = 0; i < recorded(plan); i++)
        j.helped |= plan->point[i].caller > PCT_DEMON_HELPS;
    /* A test that waits for ever, since the calls have been made and nobody else is there, waits for what a whole
     * program would do: no finding. */
    bool failed = r->failed && !(plan->ended && !strcmp(r->kind, "deadlock"));
    /* Whatever was to be broken: each of the two is in the other's way for ever. */
    j.deadlock = failed && !plan->helps && r->locked && kept_rely(m, plan);
    if (j.deadlock) {
        j.grade = DEMON_GRADE_CONFIRMED;
    } else if (failed) {
        j.reason = doubt(m, plan, r, &j);
        j.grade = j.reason ? DEMON_GRADE_OTHER_FAILURE : DEMON_GRADE_CONFIRMED;
    } else if (j.clause && demon_judge_allowed(m, plan, r)) {
        j.grade = DEMON_GRADE_CONTRACT_ONLY;
        j.reason = find_no_end(r);
    }
    return j;
}

/* Whether a `modifies` of one of the calls names it: then it may be anything. */
static bool is_modified(const struct demon_model *m, const struct demon_candidate *c, const struct demon_scalar *item)
{
    for (int k = 0; k < c->count; k++) {
        const struct demon_proc *proc = &m->spec->proc[c->calls[k].proc];
        struct demon_binding binding = { .proc = proc };
        for (int i = 0; i < proc->parameters; i++)
            if (c->calls[k].object[i] >= 0)
                binding.argument[i] = demon_state_object(m, c->state.point, &m->object[c->calls[k].object[i]]);
        for (int i = 0; i < proc->modifies; i++)
            if (demon_state_address(m, &c->state, &binding, &proc->frame[i]) == item->address)
                return true;
    }
    return false;
}

bool demon_judge_take_values(const struct demon_model *m, const struct pct_demon_plan *plan, struct demon_candidate *c)
{
    static struct demon_state state; /* large */
    uint32_t behind = 0;
    bool unlike = false;
    while (behind < recorded(plan) && plan->point[behind].caller != (uint32_t)c->count + 1)
        behind++;
    if (c->earlier.calls || behind == recorded(plan))
        return false;
    demon_state_read(m, &plan->point[behind], &state);
    for (int i = 0; i < c->state.count; i++) {
        const struct demon_scalar *item = &c->state.item[i];
        const int at = item->shared ? demon_state_find(&state, item->address, item->size) : -1;
        if (item->shared && at < 0)
            c->after[i] = item->value; /* nothing leads there any more: what it is was not seen */
        if (at < 0 || state.item[at].value == c->after[i])
            continue;
        c->after[i] = state.item[at].value;
        unlike |= !is_modified(m, c, item);
    }
    return unlike;
}
