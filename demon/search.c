/* The search: see search.h. Each pair of points i <= j: first whether any interference at i can break what j requires,
 * which answers for all sequences; then sequences of calls, the shortest first; each candidate is tried by a real
 * schedule of two threads at once, and nothing is a finding that such a run has not shown. */
#include "search.h"
#include "judge.h"
#include <cli/base/cli.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

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

void demon_search_copy_head(struct pct_demon_plan *to, const struct pct_demon_plan *from)
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
    demon_search_copy_head(plan, s->model.plan);
    s->record = plan;
    bool fine = demon_run(s->program, path, 0, s->trace, &result) && check_record(s, &result);
    free(result.output);
    if (fine && plan->points > plan->room)
        plan->points = plan->room;
    return fine && check_contracts(s);
}

/* --- The line that replays ---------------------------------------------------------------------------------------- */

static char *make_replay(const struct demon_search *s, const char *plan, const char *token)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "%s replay --demon", s->program->pct);
    const char *const words[] = { plan, token, "--" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        fputc(' ', out);
        pct_cli_print_quoted(out, words[i]);
    }
    for (char **at = s->program->command; *at; at++) {
        fputc(' ', out);
        pct_cli_print_quoted(out, *at);
    }
    fclose(out);
    return text;
}

/* --- A candidate, in a real run ----------------------------------------------------------------------------------- */

void demon_search_put_calls(const struct demon_model *m, const struct demon_call *calls, int count,
                            struct pct_demon_plan *plan)
{
    plan->actions = (uint32_t)count;
    for (int c = 0; c < count; c++) {
        const struct demon_call *call = &calls[c];
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

/* The plan without points is what the user keeps, and what is replayed. Each failure that is told has its own: that of
 * a confirmed one has the name that was asked for, others have a number behind it. NULL after a message. */
static char *keep_plan(const struct attempt *t, enum demon_grade grade)
{
    char path[4096], name[4300];
    struct demon_search *s = t->search;
    snprintf(name, sizeof name, "%s%s", strchr(s->keep, '/') ? "" : "./", s->keep);
    if (grade != DEMON_GRADE_CONFIRMED)
        snprintf(name + strlen(name), sizeof name - strlen(name), ".%u", ++s->others);
    struct pct_demon_plan *plan = demon_plan_create(s->program, name, 0, path);
    if (!plan) {
        demon_say("%s cannot be written", path);
        return NULL;
    }
    demon_search_copy_head(plan, s->model.plan);
    demon_search_put_calls(&s->model, t->candidate.calls, t->candidate.count, plan);
    munmap(plan, sizeof *plan);
    return strdup(strchr(s->keep, '/') ? name : name + 2);
}

/* Make the calls where the test's thread enters a function for the n-th time. NULL after a message; else the plan, with
 * what was recorded. */
static struct pct_demon_plan *run_calls(const struct attempt *t, uint32_t n, struct demon_result *result)
{
    char path[4096], trace[4200];
    const struct demon_search *s = t->search;
    struct pct_demon_plan *plan = demon_plan_create(s->program, "try", PCT_DEMON_POINTS, path);
    uint64_t operations = demon_operations(s->program, s->trace, n);
    if (!plan || !operations) {
        demon_say("the candidate could not be tried: %s", plan ? "its point is not in the trace" : path);
        return NULL;
    }
    demon_search_copy_head(plan, s->model.plan);
    demon_search_put_calls(&s->model, t->candidate.calls, t->candidate.count, plan);
    snprintf(trace, sizeof trace, "%s/tried", s->program->directory);
    if (!demon_run(s->program, path, operations, trace, result))
        return NULL;
    demon_run_read_trace(s->program, trace, s->model.spec->proc[0].name, result);
    return plan;
}

static void release_plan(struct pct_demon_plan *plan)
{
    munmap(plan, sizeof *plan + PCT_DEMON_POINTS * sizeof plan->point[0]);
}

/* Whether the program fails the same way when others make these calls before the test is entered: then the failure is
 * of who calls the test, and checks what it has done, not of what happens between. */
static bool fails_before(const struct attempt *t, const struct demon_result *failure)
{
    struct demon_result before;
    const struct demon_search *s = t->search;
    struct pct_demon_plan *plan = run_calls(t, s->record->point[0].entry, &before);
    if (!plan)
        return false;
    bool same = before.failed && !strcmp(before.text, failure->text) && demon_judge_allowed(&s->model, plan, &before);
    release_plan(plan);
    free(before.output);
    return same;
}

/* Whether a failure that has been told already was this one. */
static bool is_known(const struct demon_search *s, const struct demon_finding *f)
{
    for (size_t i = 0; i < s->findings; i++)
        if (&s->finding[i] != f && s->finding[i].grade == f->grade && s->finding[i].verdict &&
            !strcmp(s->finding[i].verdict, f->verdict))
            return true;
    return false;
}

/* Add how the run failed, and how to see it again. A failure that no replay shows is not confirmed. False: memory is
 * short, or the plan cannot be written. */
static bool add_failure(struct attempt *t, struct demon_finding *f, const struct demon_result *run)
{
    struct demon_search *s = t->search;
    f->verdict = strdup(run->text[0] ? run->text : "fails");
    if (!f->verdict)
        return false;
    if (f->grade == DEMON_GRADE_OTHER_FAILURE && is_known(s, f))
        return true;
    f->plan = keep_plan(t, f->grade);
    if (!f->plan)
        return false;
    if (!run->token[0] || !demon_replays(s->program, f->plan, run->token)) {
        unlink(f->plan);
        free(f->plan);
        f->plan = NULL;
        f->grade = DEMON_GRADE_OTHER_FAILURE;
        f->reason = "a replay did not fail the same way";
        return true;
    }
    f->token = strdup(run->token);
    f->replay = make_replay(s, f->plan, run->token);
    return f->token && f->replay;
}

/* Keep what came of the candidate. */
static bool keep_finding(struct attempt *t, const struct demon_judgement *judgement, const struct demon_result *run)
{
    struct demon_search *s = t->search;
    struct demon_finding *more = realloc(s->finding, (s->findings + 1) * sizeof *more);
    if (!more)
        return false;
    s->finding = more;
    struct demon_finding *f = &s->finding[s->findings++];
    if (!demon_finding_describe(f, judgement->grade, &t->candidate))
        return false;
    f->reason = judgement->reason;
    if (judgement->grade <= DEMON_GRADE_CONTRACT_ONLY) {
        f->goal = judgement->proc;
        f->goal_point = judgement->point;
        f->broken = judgement->clause;
    }
    bool failed = judgement->grade == DEMON_GRADE_CONFIRMED || judgement->grade == DEMON_GRADE_OTHER_FAILURE;
    return !failed || add_failure(t, f, run);
}

static enum demon_verdict try_candidate(struct attempt *t)
{
    static const enum demon_verdict verdicts[] = { DEMON_CONFIRMED, DEMON_CONTRACT_ONLY, DEMON_OTHER_FAILURE,
                                                   DEMON_STABLE };
    struct demon_search *s = t->search;
    struct demon_result r;
    struct pct_demon_plan *plan = run_calls(t, s->record->point[t->candidate.i].entry, &r);
    if (!plan)
        return DEMON_WRONG;
    struct demon_judgement judgement = demon_judge(&s->model, plan, &r);
    release_plan(plan);
    if (judgement.grade == DEMON_GRADE_CONFIRMED && !r.inside && fails_before(t, &r)) {
        judgement.grade = DEMON_GRADE_OTHER_FAILURE;
        judgement.reason = "the program fails so, too, when these calls come before the test is entered";
    }
    bool kept = keep_finding(t, &judgement, &r);
    free(r.output);
    if (!kept) {
        demon_say("what was found could not be kept");
        return DEMON_WRONG;
    }
    enum demon_grade grade = s->finding[s->findings - 1].grade;
    if (grade == DEMON_GRADE_CONFIRMED) {
        memcpy(s->call, t->candidate.calls, sizeof s->call);
        s->calls = t->candidate.count;
        s->times = s->record->point[t->candidate.i].times;
    }
    s->refuted += grade == DEMON_GRADE_REFUTED;
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

/* What counts for more. */
static enum demon_verdict worse(enum demon_verdict a, enum demon_verdict b)
{
    static const int ranks[] = { [DEMON_STABLE] = 0,
                                 [DEMON_CONTRACT_ONLY] = 1,
                                 [DEMON_OTHER_FAILURE] = 2,
                                 [DEMON_CONFIRMED] = 3,
                                 [DEMON_WRONG] = 4 };
    return ranks[a] < ranks[b] ? b : a;
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
    const struct demon_finding *f = s->findings ? &s->finding[s->findings - 1] : NULL;
    if (verdict == DEMON_CONFIRMED || (verdict == DEMON_CONTRACT_ONLY && t->verdict == DEMON_STABLE) ||
        (verdict == DEMON_OTHER_FAILURE && !is_known(s, f)))
        demon_finding_print(s->out, f);
    t->verdict = worse(t->verdict, verdict);
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
    s->pairs++;
    if (demon_state_broken(&s->model, DEMON_REQUIRE, NULL, &c->state, &c->goal)) {
        s->unreached++; /* the test itself makes it hold on its way to j */
        return DEMON_STABLE;
    }
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
            verdict = worse(verdict, one);
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
