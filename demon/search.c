/* The search: see search.h. Each pair of points i <= j: first whether any interference at i can break what j requires,
 * which answers for all sequences; then sequences of calls, the shortest first; each candidate is tried by a real
 * schedule of two threads at once, and nothing is a finding that such a run has not shown. */
#include "search.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { MOST_SEQUENCES = 5000 /* of a pair of points */ };

struct attempt {
    struct demon_search *search;
    struct demon_query query;
    struct demon_candidate candidate;
    uint64_t asked;
    enum demon_verdict verdict;
};

static double seconds_now(void)
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

static bool complain(const struct demon_search *s, const struct demon_proc *of, const struct demon_clause *clause,
                     uint32_t from, uint32_t to)
{
    const struct demon_proc *proc = s->model.spec->proc;
    const struct pct_demon_point *point = s->record->point;
    char where[256];
    if (from == to)
        snprintf(where, sizeof where, "where %s is entered", proc[point[to].function].name);
    else
        snprintf(where, sizeof where, "from point %u, where %s is entered, to point %u, where %s is", from + 1,
                 proc[point[from].function].name, to + 1, proc[point[to].function].name);
    demon_say("%s:%u: `%s %s: %s` does not hold %s, without any interference", of->from, clause->line,
              demon_clause_word(clause->kind), clause->tag, clause->text, where);
    return false;
}

/* What the points require, the invariant and the guarantee must hold there undisturbed. */
static bool check_contracts(const struct demon_search *s)
{
    static struct demon_state states[2]; /* this one's, and the one before it */
    const struct demon_model *m = &s->model;
    struct demon_binding binding, test;
    for (uint32_t i = 0; i < s->record->points; i++) {
        struct demon_state *now = &states[i % 2], *before = i ? &states[(i + 1) % 2] : now;
        demon_state_read(m, &s->record->point[i], now);
        demon_state_bind(m, &s->record->point[i], &binding);
        demon_state_bind(m, &s->record->point[0], &test);
        const struct demon_clause *clause = demon_state_broken(m, DEMON_REQUIRE, NULL, now, &binding);
        if (clause)
            return complain(s, binding.proc, clause, i, i);
        clause = demon_state_broken(m, DEMON_INVARIANT, NULL, now, &test);
        if (clause)
            return complain(s, test.proc, clause, i, i);
        clause = i ? demon_state_broken(m, DEMON_GUARANTEE, before, now, &test) : NULL;
        if (clause)
            return complain(s, test.proc, clause, i - 1, i);
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

/* --- The line that replays ---------------------------------------------------------------------------------------- */

static void print_word(FILE *out, const char *word)
{
    if (*word &&
        strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:,@%") == strlen(word)) {
        fprintf(out, " %s", word);
        return;
    }
    fputs(" '", out);
    for (; *word; word++)
        fprintf(out, *word == '\'' ? "'\\''" : "%c", *word);
    fputs("'", out);
}

static char *make_replay(const struct demon_search *s, const char *token)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "%s replay --demon", s->program->pct);
    print_word(out, s->keep);
    print_word(out, token);
    fputs(" --", out);
    for (char **at = s->program->command; *at; at++)
        print_word(out, *at);
    fclose(out);
    return text;
}

/* --- A candidate, in a real run ----------------------------------------------------------------------------------- */

static void put_calls(const struct attempt *t, struct pct_demon_plan *plan)
{
    const struct demon_model *m = &t->search->model;
    plan->actions = (uint32_t)t->candidate.count;
    for (int c = 0; c < t->candidate.count; c++) {
        const struct demon_call *call = &t->candidate.calls[c];
        const struct demon_proc *proc = &m->spec->proc[call->proc];
        struct pct_demon_action *action = &plan->action[c];
        *action = (struct pct_demon_action){ .function = proc->address, .arguments = (uint32_t)proc->parameters };
        for (int i = 0; i < proc->parameters; i++)
            if (call->object[i] >= 0)
                action->argument[i].place = m->object[call->object[i]].place;
            else
                action->argument[i] = (struct pct_demon_argument){ .value = call->value[i], .scalar = 1 };
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
        if (demon_state_broken(m, DEMON_REQUIRE, NULL, &state, &binding))
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

/* Keep what came of the candidate; run: of a confirmed one, else NULL. */
static bool keep_finding(struct attempt *t, enum demon_grade grade, const struct demon_result *run)
{
    struct demon_search *s = t->search;
    struct demon_finding *more = realloc(s->finding, (s->findings + 1) * sizeof *more);
    if (!more)
        return false;
    s->finding = more;
    struct demon_finding *f = &s->finding[s->findings++];
    bool fine = demon_finding_describe(f, grade, &t->candidate);
    if (run) {
        f->verdict = strdup(run->verdict[0] ? run->verdict : "fails");
        f->token = strdup(run->token);
        f->replay = make_replay(s, run->token);
        fine = fine && f->verdict && f->token && f->replay;
    }
    return fine;
}

/* The grade of a run, by what it showed. */
static enum demon_grade judge(const struct attempt *t, const struct pct_demon_plan *plan, const struct demon_result *r)
{
    struct demon_search *s = t->search;
    if (plan->begun && r->failed && r->token[0] && keep_plan(t) && demon_replays(s->program, s->keep, r->token))
        return DEMON_GRADE_CONFIRMED;
    return plan->begun && was_broken(&s->model, plan) ? DEMON_GRADE_CONTRACT_ONLY : DEMON_GRADE_REFUTED;
}

static enum demon_verdict try_candidate(struct attempt *t)
{
    static const enum demon_verdict verdicts[] = { DEMON_CONFIRMED, DEMON_CONTRACT_ONLY, DEMON_STABLE };
    char path[4096];
    struct demon_search *s = t->search;
    struct demon_result r;
    struct pct_demon_plan *plan = demon_plan_create(s->program, "try", PCT_DEMON_POINTS, path);
    uint64_t operations = demon_operations(s->program, s->trace, s->record->point[t->candidate.i].entry);
    if (!plan || !operations) {
        demon_say("the candidate could not be tried: %s", plan ? "its point is not in the trace" : path);
        return DEMON_WRONG;
    }
    copy_head(plan, s->model.plan);
    put_calls(t, plan);
    if (!demon_run(s->program, path, operations, NULL, &r))
        return DEMON_WRONG;
    enum demon_grade grade = judge(t, plan, &r);
    bool kept = keep_finding(t, grade, grade == DEMON_GRADE_CONFIRMED ? &r : NULL);
    s->refuted += grade == DEMON_GRADE_REFUTED;
    free(r.output);
    munmap(plan, sizeof *plan + PCT_DEMON_POINTS * sizeof plan->point[0]);
    if (!kept) {
        demon_say("out of memory");
        return DEMON_WRONG;
    }
    return verdicts[grade];
}

/* --- Sequences ---------------------------------------------------------------------------------------------------- */

static bool over(struct attempt *t)
{
    struct demon_search *s = t->search;
    if (s->seconds > 0 && seconds_now() > s->seconds)
        s->out_of_time = true;
    return s->out_of_time || t->asked >= MOST_SEQUENCES || t->verdict == DEMON_CONFIRMED || t->verdict == DEMON_WRONG;
}

static void ask(struct attempt *t)
{
    struct demon_search *s = t->search;
    struct demon_candidate *c = &t->candidate;
    t->asked++;
    s->questions++;
    enum demon_answer answer = demon_query_calls(&t->query, c->calls, c->count, c->after);
    s->unanswered += answer == DEMON_UNKNOWN;
    if (answer != DEMON_YES)
        return;
    enum demon_verdict verdict = try_candidate(t);
    if (verdict == DEMON_CONFIRMED || (verdict == DEMON_CONTRACT_ONLY && t->verdict == DEMON_STABLE))
        demon_finding_print(s->out, &s->finding[s->findings - 1]);
    if (verdict != DEMON_STABLE)
        t->verdict = verdict;
}

/* All calls at this place of the sequence, from this parameter on. */
static void choose(struct attempt *t, int place, int parameter)
{
    const struct demon_model *m = &t->search->model;
    struct demon_call *call = &t->candidate.calls[place];
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
    } else if (place + 1 == t->candidate.count) {
        ask(t);
    } else {
        for (int k = 1; k < m->spec->procs; k++)
            if (m->spec->proc[k].acts) {
                t->candidate.calls[place + 1].proc = k;
                choose(t, place + 1, 0);
            }
    }
}

static enum demon_verdict look_at_pair(struct demon_search *s, uint32_t i, uint32_t j)
{
    static struct attempt t; /* large */
    const struct pct_demon_point *points = s->record->point;
    struct demon_candidate *c = &t.candidate;
    t = (struct attempt){ .search = s };
    *c = (struct demon_candidate){ .model = &s->model, .i = i, .j = j, .at = (int)points[i].function };
    demon_state_read(&s->model, &points[i], &c->state);
    demon_state_bind(&s->model, &points[j], &c->goal);
    demon_state_bind(&s->model, &points[0], &c->test);
    t.query = (struct demon_query){ .model = &s->model, .state = &c->state, .goal = &c->goal, .test = c->test };
    if (demon_state_broken(&s->model, DEMON_REQUIRE, NULL, &c->state, &c->goal))
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
    for (c->count = 1; c->count <= s->longest && !over(&t); c->count++)
        for (int k = 1; k < s->model.spec->procs; k++)
            if (s->model.spec->proc[k].acts) {
                c->calls[0].proc = k;
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

static enum demon_verdict look_at_all(struct demon_search *s)
{
    enum demon_verdict verdict = DEMON_STABLE;
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

enum demon_verdict demon_search_run(struct demon_search *s)
{
    double from = seconds_now();
    if (s->seconds > 0)
        s->seconds += from;
    enum demon_verdict verdict = look_at_all(s);
    s->took = seconds_now() - from;
    return verdict;
}

void demon_search_free(struct demon_search *s)
{
    for (size_t i = 0; i < s->findings; i++)
        demon_finding_free(&s->finding[i]);
    free(s->finding);
}
