/* The search: see search.h. Each pair of points i <= j: first whether any interference at i can break what j requires,
 * which answers for all sequences; then sequences of calls, the shortest first; each candidate is tried by a real
 * schedule of two threads at once, and nothing is a finding that such a run has not shown. Then each single call that
 * others can make at a point, whatever it is to break; with depth 2 the same on the ways that the test takes behind
 * these. */
#include "search.h"
#include "judge.h"
#include "record.h"
#include "sequence.h"
#include <cli/base/cli.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_SEQUENCES = 5000, /* of a pair of points */
    MOST_WAYS = 100,       /* earlier calls that are made */
    HELPER_OPERATIONS = 2  /* that the first thread makes for a helper: create, detach */
};

struct attempt {
    struct demon_search *search;
    const struct demon_way *way;
    bool explores; /* the call need not break anything: where does the test go behind it? */
    struct demon_query query;
    uint64_t moved[PCT_DEMON_CELLS]; /* of the query */
    struct demon_candidate candidate;
    uint64_t asked;
    enum demon_verdict verdict;
    bool explored; /* what it has found is of the way behind it, and told */
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

void demon_search_put_calls(const struct demon_model *m, const struct demon_call *calls, int count,
                            struct pct_demon_plan *plan)
{
    for (int c = 0; c < count; c++) {
        const struct demon_call *call = &calls[c];
        const struct demon_proc *proc = &m->spec->proc[call->proc];
        struct pct_demon_action *action = &plan->action[plan->actions + plan->helps + (uint32_t)c];
        *action = (struct pct_demon_action){ .function = proc->address, .arguments = (uint32_t)proc->parameters };
        for (int i = 0; i < proc->parameters; i++)
            if (call->object[i] >= 0)
                action->argument[i].place = m->object[call->object[i]].place;
            else /* clang counts on callers to extend it */
                action->argument[i] = (struct pct_demon_argument){ .value = demon_convert(
                                                                       call->value[i], proc->parameter[i].type.size * 8,
                                                                       proc->parameter[i].type.is_signed),
                                                                   .scalar = 1 };
    }
}

/* First the interference, the earlier one before the later, then the helper's. */
static void put_all(const struct attempt *t, struct pct_demon_plan *plan)
{
    const struct demon_model *m = &t->search->model;
    const struct demon_candidate *c = &t->candidate;
    const uint32_t entry = t->way->record->point[c->i].entry;
    demon_search_put_calls(m, c->earlier.call, c->earlier.calls, plan);
    plan->actions = (uint32_t)c->earlier.calls;
    demon_search_put_calls(m, c->calls, c->count, plan);
    plan->actions += (uint32_t)c->count;
    demon_search_put_calls(m, c->help, c->helps, plan);
    plan->helps = (uint32_t)c->helps;
    plan->at = c->earlier.calls ? c->earlier.entry : entry;
    plan->again = c->earlier.calls ? entry : 0;
    plan->second = c->earlier.calls ? (uint32_t)c->count : 0;
}

/* When the demon thread goes on. Where it does so again, the test's thread has told it so by one more operation. */
static void set_times(const struct attempt *t, uint64_t operations[DEMON_TIMES])
{
    const struct demon_search *s = t->search;
    const struct demon_candidate *c = &t->candidate;
    const uint64_t helper = c->helps && !s->helps ? HELPER_OPERATIONS : 0;
    const uint64_t later = t->way->operations[c->i] + (c->helps && !t->way->helps ? HELPER_OPERATIONS : 0);
    operations[0] = c->earlier.calls ? t->way->earlier_operations + helper : later;
    operations[1] = c->earlier.calls ? later + 1 : 0;
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
    put_all(t, plan);
    munmap(plan, sizeof *plan);
    return strdup(strchr(s->keep, '/') ? name : name + 2);
}

/* Make the calls where they belong, or (before) all of them before the test is entered. NULL after a message; else the
 * plan, with what was recorded. */
static struct pct_demon_plan *run_calls(const struct attempt *t, bool before, struct demon_result *result)
{
    char path[4096], trace[4200];
    const struct demon_search *s = t->search;
    struct pct_demon_plan *plan = demon_plan_create(s->program, "try", PCT_DEMON_POINTS, path);
    uint64_t operations[DEMON_TIMES];
    set_times(t, operations);
    if (!plan || !operations[0]) {
        demon_say("the candidate could not be tried: %s", plan ? "its point is not in the trace" : path);
        return NULL;
    }
    demon_search_copy_head(plan, s->model.plan);
    put_all(t, plan);
    if (before) {
        plan->at = s->undisturbed.record->point[0].entry;
        plan->again = plan->second = 0;
        operations[0] =
            s->undisturbed.operations[0] + (t->candidate.helps && !s->helps ? (uint64_t)HELPER_OPERATIONS : 0);
        operations[1] = 0;
    }
    snprintf(trace, sizeof trace, "%s/tried", s->program->directory);
    if (!demon_run(s->program, path, operations, trace, result))
        return NULL;
    demon_state_fill_ghosts(&s->model, plan);
    result->helped = plan->helps > 0;
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
    struct pct_demon_plan *plan = run_calls(t, true, &before);
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
    memcpy(f->operations, run->operations, sizeof f->operations);
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
    f->helps = judgement->helped ? f->helps : 0;
    f->deadlock = judgement->deadlock;
    f->changes = f->deadlock ? 0 : f->changes; /* the call did not come to its end */
    if (judgement->grade <= DEMON_GRADE_CONTRACT_ONLY && !f->deadlock) {
        f->goal = judgement->proc;
        f->goal_point = judgement->point;
        f->broken = judgement->clause;
    }
    bool failed = judgement->grade == DEMON_GRADE_CONFIRMED || judgement->grade == DEMON_GRADE_OTHER_FAILURE;
    return !failed || add_failure(t, f, run);
}

static enum demon_verdict follow(struct attempt *t, struct pct_demon_plan *plan, struct demon_result *run);

static void note_confirmed(const struct attempt *t, bool helped)
{
    struct demon_search *s = t->search;
    const struct demon_candidate *c = &t->candidate;
    const struct pct_demon_plan *record = s->undisturbed.record;
    s->earlier =
        (struct demon_made){ .count = c->earlier.calls, .at = c->earlier.at, .operations = t->way->earlier_operations };
    memcpy(s->earlier.call, c->earlier.call, sizeof s->earlier.call);
    for (uint32_t i = 0; c->earlier.calls && i < record->points; i++)
        if (record->point[i].entry == c->earlier.entry && demon_way_place(s, &s->undisturbed, i) == c->earlier.at)
            s->earlier.times = record->point[i].times;
    s->later = (struct demon_made){ .count = c->count,
                                    .at = c->at,
                                    .times = t->way->record->point[c->i].times,
                                    .operations = t->way->operations[c->i] };
    memcpy(s->later.call, c->calls, sizeof s->later.call);
    s->helped_by = (struct demon_made){ .count = helped ? c->helps : 0 };
    memcpy(s->helped_by.call, c->help, sizeof s->helped_by.call);
}

static enum demon_verdict try_candidate(struct attempt *t)
{
    static const enum demon_verdict verdicts[] = { DEMON_CONFIRMED, DEMON_CONTRACT_ONLY, DEMON_OTHER_FAILURE,
                                                   DEMON_STABLE };
    struct demon_search *s = t->search;
    struct demon_result r;
    struct pct_demon_plan *plan = run_calls(t, false, &r);
    if (!plan)
        return DEMON_WRONG;
    if (t->explores && s->depth > 1 && demon_model_extend(&s->model, &plan->map)) {
        release_plan(plan);
        free(r.output);
        plan = run_calls(t, false, &r); /* now with the objects that there are behind the call alone */
        if (!plan)
            return DEMON_WRONG;
    }
    struct demon_judgement judgement = demon_judge(&s->model, plan, &r);
    if (t->explores && judgement.grade > DEMON_GRADE_CONTRACT_ONLY)
        return follow(t, plan, &r);
    s->unlike +=
        r.whole && demon_judge_take_values(&s->model, plan, &t->candidate) && judgement.grade == DEMON_GRADE_REFUTED;
    release_plan(plan);
    const bool outside = !judgement.deadlock && !r.inside && judgement.grade != DEMON_GRADE_REFUTED && r.failed;
    if (outside && fails_before(t, &r)) {
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
        note_confirmed(t, s->finding[s->findings - 1].helps > 0);
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

/* Where the test waits, undisturbed or behind these calls, a helper makes what lets it go on. */
static void find_helps(struct attempt *t)
{
    static struct demon_state behind; /* large */
    const struct demon_search *s = t->search;
    struct demon_candidate *c = &t->candidate;
    c->helps = t->way->helps;
    memcpy(c->help, t->way->help, sizeof c->help);
    if (c->helps || !demon_proc_has(c->test.proc, DEMON_WAIT))
        return;
    behind = c->state;
    for (int i = 0; i < behind.count; i++)
        behind.item[i].value = c->after[i];
    c->helps = demon_record_find_help(s, &behind, &c->test, c->help);
}

/* Try the calls that the solver has found. */
static enum demon_verdict try_calls(struct attempt *t)
{
    struct demon_search *s = t->search;
    find_helps(t);
    enum demon_verdict verdict = try_candidate(t);
    if (!t->explored) {
        const struct demon_finding *f = s->findings ? &s->finding[s->findings - 1] : NULL;
        if (verdict == DEMON_CONFIRMED || (verdict == DEMON_CONTRACT_ONLY && t->verdict == DEMON_STABLE) ||
            (verdict == DEMON_OTHER_FAILURE && !is_known(s, f)))
            demon_finding_print(s->out, f);
    }
    t->explored = false;
    t->verdict = worse(t->verdict, verdict);
    return verdict;
}

/* First with small numbers; if the program does not mind these, with large ones. */
static void ask(struct attempt *t)
{
    struct demon_search *s = t->search;
    struct demon_candidate *c = &t->candidate;
    t->asked++;
    t->query.large = false;
    for (;;) {
        s->questions++;
        enum demon_answer answer = t->explores ? demon_query_possible(&t->query, c->calls, c->count, c->after)
                                               : demon_query_calls(&t->query, c->calls, c->count, c->after);
        s->unanswered += answer == DEMON_UNKNOWN;
        if (answer != DEMON_YES)
            return;
        if (t->explores && s->ways + s->ways_failed >= MOST_WAYS) {
            s->ways_left++;
            return;
        }
        enum demon_verdict verdict = try_calls(t);
        if ((verdict != DEMON_STABLE && verdict != DEMON_CONTRACT_ONLY) || t->explores || t->query.large ||
            !demon_calls_have_numbers(&s->model, c->calls, c->count))
            return;
        t->query.large = true;
    }
}

static bool take_sequence(void *context, struct demon_call *calls, int count)
{
    struct attempt *t = context;
    if (over(t))
        return false;
    memcpy(t->candidate.calls, calls, sizeof t->candidate.calls);
    t->candidate.count = count;
    ask(t);
    return !over(t);
}

const struct demon_proc *demon_way_place(const struct demon_search *s, const struct demon_way *way, uint32_t point)
{
    return way->place[point] ? way->place[point] : &s->model.spec->proc[way->record->point[point].function];
}

/* What the test itself adds to each scalar on its way from point i to point j. False: nothing. */
static bool find_moved(struct attempt *t)
{
    static struct demon_state later; /* large */
    const struct demon_candidate *c = &t->candidate;
    bool any = false;
    demon_state_read(&t->search->model, &t->way->record->point[c->j], &later);
    for (int i = 0; i < c->state.count; i++) {
        const int at = demon_state_find(&later, c->state.item[i].address, c->state.item[i].size);
        t->moved[i] = at >= 0 ? later.item[at].value - c->state.item[i].value : 0;
        any |= t->moved[i] != 0;
    }
    return any;
}

/* Begin an attempt at this point of the way, for what point j requires. */
static void begin(struct attempt *t, struct demon_search *s, const struct demon_way *way, uint32_t i, uint32_t j)
{
    const struct pct_demon_point *points = way->record->point;
    struct demon_candidate *c = &t->candidate;
    *t = (struct attempt){ .search = s, .way = way };
    *c = (struct demon_candidate){
        .model = &s->model, .earlier = way->earlier, .i = i, .j = j, .at = demon_way_place(s, way, i)
    };
    demon_state_read(&s->model, &points[i], &c->state);
    demon_state_bind(&s->model, &points[j], &c->goal);
    demon_state_bind(&s->model, &points[0], &c->test);
    t->query = (struct demon_query){ .model = &s->model, .state = &c->state, .goal = &c->goal, .test = c->test };
    t->query.moved = find_moved(t) ? t->moved : NULL;
}

/* Whether others may call something with an object of this type. */
static bool is_acted_on(const struct demon_spec *spec, const struct demon_type *type)
{
    for (int i = 0; i < spec->procs; i++)
        for (int k = 0; spec->proc[i].acts && k < spec->proc[i].parameters; k++)
            if (spec->proc[i].parameter[k].type.object && !strcmp(spec->proc[i].parameter[k].type.name, type->name))
                return true;
    return false;
}

/* Nothing was found where point j is entered. Perhaps as the object that it is entered with is none that calls can
 * name: neither a parameter of the test nor a shared variable is it, and it is not the test's own. */
static void note_unnamed(struct demon_search *s, const struct demon_candidate *c)
{
    const struct demon_spec *spec = s->model.spec;
    for (uint32_t i = 0; i < s->model.plan->cells && c->i == c->j && !s->unnamed; i++) {
        const struct pct_demon_cell *cell = &s->model.plan->cell[i];
        const struct pct_demon_value *value = &c->state.point->cells[i];
        if (cell->place.root != PCT_DEMON_CALL_ARGUMENT || &spec->proc[cell->function] != c->goal.proc || !value->known)
            continue;
        int at = demon_state_find(&c->state, value->address, cell->size);
        if (at < 0 || c->state.item[at].own ||
            demon_state_has_object(&s->model, c->state.point, value->address - cell->offset) ||
            !is_acted_on(spec, &c->goal.proc->parameter[cell->place.number].type))
            continue;
        s->unnamed = c->goal.proc;
        s->unnamed_parameter = cell->place.number;
    }
}

static enum demon_verdict look_at_pair(struct demon_search *s, const struct demon_way *way, uint32_t i, uint32_t j)
{
    static struct attempt t; /* large */
    const struct demon_candidate *c = &t.candidate;
    begin(&t, s, way, i, j);
    s->pairs++;
    if (demon_state_broken(&s->model, DEMON_REQUIRE, NULL, &c->state, &c->goal)) {
        s->unreached++; /* the test itself makes it hold on its way to j */
        return DEMON_STABLE;
    }
    s->questions++;
    enum demon_answer unstable = demon_query_unstable(&t.query);
    t.query.by_calls = unstable == DEMON_YES; /* that is by all the rely lets others do; by these calls, too? */
    s->questions += t.query.by_calls;
    unstable = t.query.by_calls && demon_query_unstable(&t.query) == DEMON_NO ? DEMON_NO : unstable;
    if (unstable != DEMON_YES) {
        s->stable += unstable == DEMON_NO;
        s->unreached += unstable == DEMON_NOT_ASKED;
        s->unanswered += unstable == DEMON_UNKNOWN;
        return DEMON_STABLE;
    }
    demon_sequences_run(&(struct demon_sequences){
        .model = &s->model, .state = &c->state, .longest = s->longest, .take = take_sequence, .context = &t });
    if (t.verdict == DEMON_STABLE && t.asked >= MOST_SEQUENCES)
        s->cut++;
    else if (!s->out_of_time) /* else it was not looked at to the end */
        s->without += t.verdict == DEMON_STABLE;
    if (t.verdict == DEMON_STABLE)
        note_unnamed(s, c);
    return t.verdict;
}

static enum demon_verdict look_at_way(struct demon_search *s, const struct demon_way *way)
{
    enum demon_verdict verdict = DEMON_STABLE;
    for (uint32_t j = way->from; j < way->record->points; j++)
        for (uint32_t i = j + 1; i-- > way->from && !s->out_of_time;) {
            if (!demon_proc_has(demon_way_place(s, way, j), DEMON_REQUIRE))
                break;
            enum demon_verdict one = look_at_pair(s, way, i, j);
            if (one == DEMON_CONFIRMED || one == DEMON_WRONG)
                return one;
            verdict = worse(verdict, one);
        }
    return verdict;
}

/* --- Other ways --------------------------------------------------------------------------------------------------- */

/* The points of the test's thread in the run that was just made, from behind the one where others made their call; at
 * that one they could have made more. */
static struct demon_way *record_way(const struct attempt *t, const struct pct_demon_plan *plan)
{
    char trace[4200];
    const struct demon_search *s = t->search;
    const uint32_t points = plan->points < plan->room ? plan->points : plan->room;
    struct demon_way *way = calloc(1, sizeof *way);
    struct pct_demon_plan *record = calloc(1, sizeof *record + points * sizeof record->point[0]);
    bool acted = false;
    if (!way || !record) {
        free(way);
        free(record);
        return NULL;
    }
    *record = *plan;
    record->points = 0;
    for (uint32_t k = 0; k < points; k++) {
        acted |= plan->point[k].caller && plan->point[k].caller < PCT_DEMON_HELPS;
        if (plan->point[k].caller)
            continue;
        record->point[record->points++] = plan->point[k];
        way->from += !acted;
    }
    way->from++;
    way->record = record;
    way->earlier = (struct demon_earlier){ .entry = t->way->record->point[t->candidate.i].entry,
                                           .at = t->candidate.at,
                                           .calls = t->candidate.count };
    memcpy(way->earlier.call, t->candidate.calls, sizeof way->earlier.call);
    way->earlier_operations = t->way->operations[t->candidate.i];
    way->helps = t->candidate.helps;
    memcpy(way->help, t->candidate.help, sizeof way->help);
    snprintf(trace, sizeof trace, "%s/tried", s->program->directory);
    demon_operations(s->program, trace, record->point, record->points, way->operations);
    return way;
}

/* A call that has broken nothing: look at the way that the test went behind it, with depth 2. Releases both. */
static enum demon_verdict follow(struct attempt *t, struct pct_demon_plan *plan, struct demon_result *run)
{
    struct demon_search *s = t->search;
    enum demon_verdict verdict = DEMON_STABLE;
    bool allowed = !run->failed && demon_judge_allowed(&s->model, plan, run);
    struct demon_way *way = allowed && s->depth > 1 ? record_way(t, plan) : NULL;
    release_plan(plan);
    free(run->output);
    s->ways_failed += run->failed;
    t->explored = true;
    s->ways += allowed;
    if (!way)
        return DEMON_STABLE;
    verdict = look_at_way(s, way);
    free((void *)(uintptr_t)way->record);
    free(way);
    return verdict;
}

/* Each single call that others can make at a point, and that changes something: what the test makes of it on its way to
 * later points, with what numbers and objects it enters functions then, no question to the solver has. */
static enum demon_verdict look_at_other_ways(struct demon_search *s)
{
    static struct attempt t; /* large */
    enum demon_verdict verdict = DEMON_STABLE;
    for (uint32_t i = 0; i < s->record->points && !s->out_of_time; i++) {
        begin(&t, s, &s->undisturbed, i, i);
        t.explores = true;
        demon_sequences_run(&(struct demon_sequences){
            .model = &s->model, .state = &t.candidate.state, .longest = 1, .take = take_sequence, .context = &t });
        if (t.verdict == DEMON_CONFIRMED || t.verdict == DEMON_WRONG)
            return t.verdict;
        verdict = worse(verdict, t.verdict);
    }
    return verdict;
}

enum demon_verdict demon_search_run(struct demon_search *s)
{
    double from = seconds_now();
    if (s->seconds > 0)
        s->seconds += from;
    enum demon_verdict verdict = look_at_way(s, &s->undisturbed);
    if ((s->depth > 1 || s->pairs) && verdict != DEMON_CONFIRMED && verdict != DEMON_WRONG)
        verdict = worse(verdict, look_at_other_ways(s));
    s->took = seconds_now() - from;
    return verdict;
}

void demon_search_free(struct demon_search *s)
{
    for (size_t i = 0; i < s->findings; i++)
        demon_finding_free(&s->finding[i]);
    free(s->finding);
    for (size_t i = 0; i < PCT_DEMON_POINTS; i++)
        free((void *)(uintptr_t)s->undisturbed.place[i]);
}
