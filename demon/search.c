/* The search: see search.h. Each pair of points i <= j: first whether any interference at i can break what j requires,
 * which answers for all sequences; then sequences of calls, the shortest first; each candidate is tried by a real
 * schedule of two threads at once, and nothing is a finding that such a run has not shown. */
#include "search.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { MOST_SEQUENCES = 5000 /* of a pair of points */ };

struct attempt {
    struct demon_search *search;
    struct demon_query query;
    struct demon_state state;
    struct demon_binding goal;
    uint32_t i, j;
    struct demon_call calls[DEMON_LONGEST];
    int count;
    uint64_t asked;
    uint64_t after[PCT_DEMON_CELLS];
    enum demon_verdict verdict;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void copy_head(struct pct_demon_plan *to, const struct pct_demon_plan *from)
{
    uint32_t room = to->room;
    *to = *from;
    memcpy(to->magic, PCT_DEMON_MAGIC, sizeof to->magic);
    to->room = room;
    to->points = to->entered = to->begun = to->ended = 0;
}

/* --- The undisturbed run ------------------------------------------------------------------------------------------ */

static bool check_record(const struct demon_search *s, const struct demon_result *r)
{
    const struct pct_demon_plan *plan = s->record;
    const char *test = s->model.spec->proc[0].name;
    const char *unfit = strstr(r->output, " begins, at ");
    if (r->status) {
        fputs(r->output, stderr);
        demon_say("the test fails by itself, without any interference: mend that first");
    } else if (!plan->entered) {
        if (unfit)
            fputs(r->output, stderr);
        demon_say("%s was not entered%s", test,
                  unfit ? ", as far as pct can see" : ": the program's first thread must call it");
    } else if (plan->entered > 1) {
        demon_say("%s was entered %u times: only the first is tested", test, plan->entered);
        return true;
    } else if (plan->points > plan->room) {
        demon_say("only the first %u of %u points are looked at", plan->room, plan->points);
        return true;
    } else {
        return true;
    }
    return false;
}

/* What the points require must hold there undisturbed. */
static bool check_contracts(const struct demon_search *s)
{
    static struct demon_state state;
    struct demon_binding binding;
    for (uint32_t i = 0; i < s->record->points; i++) {
        demon_state_read(&s->model, &s->record->point[i], &state);
        demon_state_bind(&s->model, &s->record->point[i], &binding);
        const struct demon_clause *clause = demon_state_broken(&s->model, &state, &binding);
        if (clause) {
            demon_say("%s:%u: `require %s: %s` does not hold where %s is entered, without any interference",
                      s->model.spec->name, clause->line, clause->tag, clause->text, binding.proc->name);
            return false;
        }
    }
    return true;
}

bool demon_search_record(struct demon_search *s)
{
    char path[4096];
    struct demon_result result;
    struct pct_demon_plan *plan = demon_plan_create(s->program, "record", PCT_DEMON_POINTS, path);
    snprintf(s->trace, sizeof s->trace, "%s/trace", s->program->directory);
    if (!plan) {
        demon_say("%s cannot be written", path);
        return false;
    }
    copy_head(plan, s->model.plan);
    s->record = plan;
    bool fine = demon_run(s->program, path, 0, s->trace, &result) && check_record(s, &result);
    free(result.output);
    if (fine && plan->points > plan->room)
        plan->points = plan->room;
    return fine && check_contracts(s);
}

/* --- Saying what was found ---------------------------------------------------------------------------------------- */

static void print_call(const struct demon_search *s, const struct demon_call *call)
{
    const struct demon_proc *proc = &s->model.spec->proc[call->proc];
    printf("%s(", proc->name);
    for (int i = 0; i < proc->parameters; i++) {
        const struct demon_type *type = &proc->parameter[i].type;
        printf("%s", i ? ", " : "");
        if (call->object[i] >= 0)
            printf("%s%s", type->object && s->model.object[call->object[i]].type->embedded ? "&" : "",
                   s->model.object[call->object[i]].name.name);
        else if (type->pointer)
            printf("null");
        else if (type->is_signed)
            printf("%" PRId64, (int64_t)(call->value[i] << (64 - type->size * 8)) >> (64 - type->size * 8));
        else
            printf("%" PRIu64, call->value[i]);
    }
    printf(")");
}

/* The scalars that change, by the names of the objects. */
static void print_changes(const struct attempt *t)
{
    const struct demon_search *s = t->search;
    for (int i = 0; i < t->state.count; i++) {
        const struct demon_scalar *item = &t->state.item[i];
        if (item->value == t->after[i])
            continue;
        for (int k = 0; k < s->model.spec->procs; k++) {
            const struct demon_proc *proc = &s->model.spec->proc[k];
            for (int f = 0; f < proc->frames; f++) {
                const struct demon_call *call = NULL;
                for (int c = 0; c < t->count; c++)
                    call = t->calls[c].proc == k ? &t->calls[c] : call;
                const struct demon_leaf *leaf = &proc->frame[f];
                if (!call || leaf->size != item->size || leaf->whole)
                    continue;
                int object = leaf->parameter >= 0 ? call->object[leaf->parameter] : -1;
                struct demon_binding binding = { .proc = proc };
                if (object >= 0)
                    binding.argument[leaf->parameter] =
                        demon_state_object(&s->model, t->state.point, &s->model.object[object]);
                if (demon_state_address(&s->model, &t->state, &binding, leaf) != item->address)
                    continue;
                const char *member = strchr(leaf->path, '.');
                printf("      %s%s: %" PRIu64 " -> %" PRIu64 "\n",
                       object >= 0 ? s->model.object[object].name.name : leaf->path,
                       object >= 0 && member ? member : "", item->value, t->after[i]);
                k = s->model.spec->procs;
                break;
            }
        }
    }
}

static void print_interference(const struct attempt *t)
{
    const struct demon_search *s = t->search;
    const struct demon_proc *at = &s->model.spec->proc[s->record->point[t->i].function];
    const struct demon_proc *goal = t->goal.proc;
    printf("interference where %s enters %s (%s:%d): another thread calls ", s->model.spec->proc[0].name, at->name,
           at->file, at->file_line);
    for (int c = 0; c < t->count; c++) {
        printf("%s", c ? ", then " : "");
        print_call(s, &t->calls[c]);
    }
    printf("\n");
    print_changes(t);
    for (int c = 0; c < goal->clauses; c++)
        if (goal->clause[c].kind == DEMON_REQUIRE)
            printf("then `require %s: %s` of %s may not hold\n", goal->clause[c].tag, goal->clause[c].text, goal->name);
}

/* Locks that the rely names, and that the test does not hold there. */
static void print_locks(const struct attempt *t, const struct demon_expr *e)
{
    bool held = true;
    if (!e)
        return;
    if (e->op == DEMON_HOLDS && demon_state_holds(&t->search->model, &t->state, &t->query.test, &e->leaf, &held) &&
        !held)
        printf("%s is not held there\n", e->leaf.path);
    print_locks(t, e->a);
    print_locks(t, e->b);
}

static void print_word(const char *word)
{
    if (*word &&
        strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:,@%") == strlen(word)) {
        printf(" %s", word);
        return;
    }
    printf(" '");
    for (; *word; word++)
        printf(*word == '\'' ? "'\\''" : "%c", *word);
    printf("'");
}

static void print_replay(const struct demon_search *s, const char *token)
{
    printf("confirmed by a real schedule of two threads; this replays it:\n%s replay --demon", s->program->pct);
    print_word(s->keep);
    print_word(token);
    printf(" --");
    for (char **at = s->program->command; *at; at++)
        print_word(*at);
    printf("\n");
}

/* --- A candidate, in a real run ----------------------------------------------------------------------------------- */

static void put_calls(const struct attempt *t, struct pct_demon_plan *plan)
{
    const struct demon_model *m = &t->search->model;
    plan->actions = (uint32_t)t->count;
    for (int c = 0; c < t->count; c++) {
        const struct demon_proc *proc = &m->spec->proc[t->calls[c].proc];
        struct pct_demon_action *action = &plan->action[c];
        *action = (struct pct_demon_action){ .function = proc->address, .arguments = (uint32_t)proc->parameters };
        for (int i = 0; i < proc->parameters; i++)
            if (t->calls[c].object[i] >= 0)
                action->argument[i].place = m->object[t->calls[c].object[i]].place;
            else
                action->argument[i] = (struct pct_demon_argument){ .value = t->calls[c].value[i], .scalar = 1 };
    }
}

/* Whether some point of the run had a contract that did not hold. */
static bool was_broken(const struct demon_model *m, const struct pct_demon_plan *plan)
{
    static struct demon_state state;
    struct demon_binding binding;
    for (uint32_t i = 0; i < plan->points && i < plan->room; i++) {
        demon_state_read(m, &plan->point[i], &state);
        demon_state_bind(m, &plan->point[i], &binding);
        if (demon_state_broken(m, &state, &binding))
            return true;
    }
    return false;
}

/* The plan without points is what the user keeps, and what is replayed. */
static bool keep_plan(const struct attempt *t)
{
    char path[4096];
    struct demon_search *s = t->search;
    char name[4200];
    snprintf(name, sizeof name, "%s%s", strchr(s->keep, '/') ? "" : "./", s->keep);
    struct pct_demon_plan *plan = demon_plan_create(s->program, name, 0, path);
    if (!plan) {
        demon_say("%s cannot be written", path);
        return false;
    }
    copy_head(plan, s->model.plan);
    put_calls(t, plan);
    munmap(plan, sizeof *plan);
    return true;
}

static enum demon_verdict try_candidate(struct attempt *t)
{
    char path[4096];
    struct demon_search *s = t->search;
    struct demon_result r;
    enum demon_verdict verdict = DEMON_STABLE;
    struct pct_demon_plan *plan = demon_plan_create(s->program, "try", PCT_DEMON_POINTS, path);
    uint64_t operations = demon_operations(s->program, s->trace, s->record->point[t->i].entry);
    if (!plan || !operations) {
        demon_say("the candidate could not be tried: %s", plan ? "its point is not in the trace" : path);
        return DEMON_WRONG;
    }
    copy_head(plan, s->model.plan);
    put_calls(t, plan);
    if (!demon_run(s->program, path, operations, NULL, &r))
        return DEMON_WRONG;
    bool began = plan->begun;
    if (began && r.failed && r.token[0] && keep_plan(t) && demon_replays(s->program, s->keep, r.token)) {
        verdict = DEMON_CONFIRMED;
        print_interference(t);
        printf("the program: %s\n", r.verdict[0] ? r.verdict : "fails");
        for (int c = 0; c < s->model.spec->proc[0].clauses; c++)
            print_locks(t, s->model.spec->proc[0].clause[c].expr);
        print_replay(s, r.token);
    } else if (began && was_broken(&s->model, plan)) {
        verdict = DEMON_CONTRACT_ONLY;
    } else {
        s->refuted++;
    }
    free(r.output);
    munmap(plan, sizeof *plan + PCT_DEMON_POINTS * sizeof plan->point[0]);
    return verdict;
}

/* --- Sequences ---------------------------------------------------------------------------------------------------- */

static bool over(struct attempt *t)
{
    struct demon_search *s = t->search;
    if (s->seconds > 0 && now() > s->seconds)
        s->out_of_time = true;
    return s->out_of_time || t->asked >= MOST_SEQUENCES || t->verdict == DEMON_CONFIRMED || t->verdict == DEMON_WRONG;
}

static void ask(struct attempt *t)
{
    struct demon_search *s = t->search;
    t->asked++;
    s->questions++;
    enum demon_answer answer = demon_query_calls(&t->query, t->calls, t->count, t->after);
    s->unanswered += answer == DEMON_UNKNOWN;
    if (answer != DEMON_YES)
        return;
    enum demon_verdict verdict = try_candidate(t);
    if (verdict == DEMON_CONTRACT_ONLY && t->verdict == DEMON_STABLE) {
        print_interference(t);
        printf("only the contract is broken: a real run of two threads came there, and the program did not fail. Is "
               "the contract\nright, and does the test check what it asks for?\n");
    }
    if (verdict != DEMON_STABLE)
        t->verdict = verdict;
}

/* All calls at this place of the sequence, from this parameter on. */
static void choose(struct attempt *t, int place, int parameter)
{
    const struct demon_model *m = &t->search->model;
    struct demon_call *call = &t->calls[place];
    const struct demon_proc *proc = &m->spec->proc[call->proc];
    if (over(t))
        return;
    if (parameter < proc->parameters) {
        const struct demon_type *type = &proc->parameter[parameter].type;
        call->object[parameter] = -1;
        if (!type->object)
            choose(t, place, parameter + 1);
        for (int i = 0; type->object && i < m->objects; i++)
            if (!strcmp(m->object[i].type->name, type->name)) {
                call->object[parameter] = i;
                choose(t, place, parameter + 1);
            }
    } else if (place + 1 == t->count) {
        ask(t);
    } else {
        for (int k = 1; k < m->spec->procs; k++)
            if (m->spec->proc[k].acts) {
                t->calls[place + 1].proc = k;
                choose(t, place + 1, 0);
            }
    }
}

static enum demon_verdict look_at_pair(struct demon_search *s, uint32_t i, uint32_t j)
{
    static struct attempt t; /* large */
    t = (struct attempt){ .search = s, .i = i, .j = j };
    const struct pct_demon_point *points = s->record->point;
    demon_state_read(&s->model, &points[i], &t.state);
    demon_state_bind(&s->model, &points[j], &t.goal);
    t.query = (struct demon_query){ .model = &s->model, .state = &t.state, .goal = &t.goal };
    demon_state_bind(&s->model, &points[0], &t.query.test);
    if (demon_state_broken(&s->model, &t.state, &t.goal))
        return DEMON_STABLE; /* the test itself makes it hold on its way to j */
    s->pairs++;
    s->questions++;
    enum demon_answer unstable = demon_query_unstable(&t.query);
    if (unstable != DEMON_YES) {
        s->stable += unstable == DEMON_NO;
        s->unreached += unstable == DEMON_NOT_ASKED;
        s->unanswered += unstable == DEMON_UNKNOWN;
        return DEMON_STABLE;
    }
    for (t.count = 1; t.count <= s->longest && !over(&t); t.count++)
        for (int k = 1; k < s->model.spec->procs; k++)
            if (s->model.spec->proc[k].acts) {
                t.calls[0].proc = k;
                choose(&t, 0, 0);
            }
    if (t.verdict == DEMON_STABLE && t.asked >= MOST_SEQUENCES)
        s->cut++;
    else
        s->without += t.verdict == DEMON_STABLE;
    return t.verdict;
}

static bool requires_something(const struct demon_proc *proc)
{
    for (int i = 0; i < proc->clauses; i++)
        if (proc->clause[i].kind == DEMON_REQUIRE)
            return true;
    return false;
}

enum demon_verdict demon_search_run(struct demon_search *s)
{
    enum demon_verdict verdict = DEMON_STABLE;
    if (s->seconds > 0)
        s->seconds += now();
    for (uint32_t j = 0; j < s->record->points; j++)
        for (uint32_t i = j + 1; i-- > 0 && !s->out_of_time;) {
            if (!requires_something(&s->model.spec->proc[s->record->point[j].function]))
                break;
            enum demon_verdict one = look_at_pair(s, i, j);
            if (one == DEMON_CONFIRMED || one == DEMON_WRONG)
                return one;
            if (one == DEMON_CONTRACT_ONLY)
                verdict = one;
        }
    return verdict;
}
