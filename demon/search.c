/* The search: see search.h. Each pair of points i <= j: first whether any interference at i can break what j requires,
 * which answers for all sequences; then sequences of calls, the shortest first; each candidate is tried by a real
 * schedule of two threads at once, and nothing is a finding that such a run has not shown. Then each single call that
 * others can make at a point, whatever it is to break; with depth 2 the same on the ways that the test takes behind
 * these. */
#include "search.h"
#include "attempt.h"
#include "progress.h"
#include "record.h"
#include "sequence.h"
#include "steps.h"
#include <cli/base/cli.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    MOST_SEQUENCES = 5000, /* of a pair of points */
    MOST_WAYS = 100,       /* earlier calls that are made */
    HELPER_OPERATIONS = 2  /* that the first thread makes for a helper: create, detach */
};

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

/* When the demon thread goes on. Where it does so again, the test's thread has told it so by one more operation. */
static void set_times(const struct demon_attempt *t, uint64_t operations[DEMON_TIMES])
{
    const struct demon_search *s = t->search;
    const struct demon_candidate *c = &t->candidate;
    const uint64_t helper = c->helps && !s->helps ? HELPER_OPERATIONS : 0;
    const uint64_t later = t->way->operations[c->i] + (c->helps && !t->way->helps ? HELPER_OPERATIONS : 0);
    operations[0] = c->earlier.calls ? t->way->earlier_operations + helper : later;
    operations[1] = c->earlier.calls ? later + 1 : 0;
}

/* --- A candidate, in a real run ----------------------------------------------------------------------------------- */

static void release_plan(struct pct_demon_plan *plan)
{
    munmap(plan, sizeof *plan + PCT_DEMON_POINTS * sizeof plan->point[0]);
}

/* Make the calls where they belong, or (before) all of them before the test is entered. NULL after a message; else the
 * plan, with what was recorded. */
static struct pct_demon_plan *run_calls(const struct demon_attempt *t, bool before, struct demon_result *result)
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
    demon_attempt_put(t, plan);
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
    t->search->unsure |= plan->map.unsure;
    result->helped = plan->helps > 0;
    demon_run_read_trace(trace, s->model.spec->proc[0].name, result);
    if (result->kind[0] || result->status == PCT_EXIT_TIMEOUT || demon_program_stopped())
        return plan;
    demon_show(result->output);
    demon_say("a candidate could not be tried: the run under pct ended with status %d, and left no trace",
              result->status);
    release_plan(plan);
    free(result->output);
    return NULL;
}

/* Whether the program fails the same way when others make these calls before the test is entered: then the failure is
 * of who calls the test, and checks what it has done, not of what happens between. */
static bool fails_before(const struct demon_attempt *t, const struct demon_result *failure)
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

static enum demon_verdict follow(struct demon_attempt *t, struct pct_demon_plan *plan, struct demon_result *run,
                                 const struct demon_judgement *judgement);

static enum demon_verdict try_candidate(struct demon_attempt *t)
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
        return follow(t, plan, &r, &judgement);
    s->unlike +=
        r.whole && demon_judge_take_values(&s->model, plan, &t->candidate) && judgement.grade == DEMON_GRADE_REFUTED;
    const bool allowed = demon_judge_allowed(&s->model, plan, &r);
    release_plan(plan);
    const bool outside = !judgement.deadlock && !r.inside && judgement.grade != DEMON_GRADE_REFUTED && r.failed;
    if (outside && fails_before(t, &r)) {
        /* Then nothing came of when the calls were made, unless a contract was broken, too. */
        const bool same = allowed && judgement.grade == DEMON_GRADE_OTHER_FAILURE && !judgement.clause;
        s->as_before += same;
        judgement.grade = same ? DEMON_GRADE_REFUTED : DEMON_GRADE_OTHER_FAILURE;
        judgement.reason = "the program fails so, too, when these calls come before the test is entered";
        judgement.advice =
            "what checks the test's result does not allow for these calls: if others may make them, let "
            "it accept what\nthey leave; if not, say so by a `rely`, or by a `require` of what they call";
    }
    bool kept = demon_attempt_keep(t, &judgement, &r);
    free(r.output);
    if (!kept) {
        demon_say("what was found could not be kept");
        return DEMON_WRONG;
    }
    enum demon_grade grade = s->finding[s->findings - 1].grade;
    if (grade == DEMON_GRADE_CONFIRMED) {
        demon_attempt_confirm(t, s->finding[s->findings - 1].helps > 0);
    }
    s->refuted += grade == DEMON_GRADE_REFUTED;
    s->killed += grade == DEMON_GRADE_REFUTED && r.status == PCT_EXIT_TIMEOUT && !r.failed;
    return verdicts[grade];
}

/* --- Sequences ---------------------------------------------------------------------------------------------------- */

/* Whether no more may be looked at. */
static bool stops(struct demon_search *s)
{
    demon_progress_draw(s);
    s->out_of_time |= (s->until > 0 && pct_cli_now() > s->until) || demon_program_stopped();
    return s->out_of_time;
}

static bool over(struct demon_attempt *t)
{
    return stops(t->search) || t->asked >= MOST_SEQUENCES || t->verdict == DEMON_CONFIRMED || t->verdict == DEMON_WRONG;
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
static void find_helps(struct demon_attempt *t)
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
static enum demon_verdict try_calls(struct demon_attempt *t)
{
    struct demon_search *s = t->search;
    find_helps(t);
    enum demon_verdict verdict = try_candidate(t);
    if (!t->explored) {
        const struct demon_finding *f = s->findings ? &s->finding[s->findings - 1] : NULL;
        if (verdict == DEMON_CONFIRMED ||
            ((verdict == DEMON_CONTRACT_ONLY || verdict == DEMON_OTHER_FAILURE) && !demon_attempt_is_known(s, f))) {
            demon_progress_clear();
            demon_finding_print(s->out, f);
        }
    }
    t->explored = false;
    t->verdict = worse(t->verdict, verdict);
    return verdict;
}

/* First with small numbers; if the program does not mind these, with large ones. */
static void ask(struct demon_attempt *t)
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
        s->unasked += answer == DEMON_NOT_ASKED;
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
    struct demon_attempt *t = context;
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
static bool find_moved(struct demon_attempt *t)
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
static void begin(struct demon_attempt *t, struct demon_search *s, const struct demon_way *way, uint32_t i, uint32_t j)
{
    const struct pct_demon_point *points = way->record->point;
    struct demon_candidate *c = &t->candidate;
    *t = (struct demon_attempt){ .search = s, .way = way };
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

/* Whether others make hold there what comes behind, since the test waits for them: they may go on then. */
static bool waits_at(const struct demon_search *s, const struct demon_way *way, uint32_t i)
{
    return way == &s->undisturbed && s->helps && way->place[i] && i + 1 == s->helped;
}

static enum demon_verdict look_at_pair(struct demon_search *s, const struct demon_way *way, uint32_t i, uint32_t j)
{
    static struct demon_attempt t; /* large */
    const struct demon_candidate *c = &t.candidate;
    begin(&t, s, way, i, j);
    s->pairs++;
    if (!waits_at(s, way, i) && demon_state_broken(&s->model, DEMON_REQUIRE, NULL, &c->state, &c->goal)) {
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

/* Whether others were let in there already, when there were fewer points. */
static bool was_looked_at(const struct demon_search *s, const struct demon_way *way, uint32_t point)
{
    const struct demon_proc *place = way->place[point];
    const enum demon_points of = !place             ? DEMON_POINTS_CALLS
                                 : place->is_access ? DEMON_POINTS_ACCESSES
                                                    : DEMON_POINTS_LOCKS;
    return s->again && way == &s->undisturbed && of <= s->looked_at;
}

/* Whether point j requires something, and what others do at point i may break it. */
static bool is_to_be_asked(const struct demon_search *s, const struct demon_way *way, uint32_t i, uint32_t j)
{
    return demon_proc_has(demon_way_place(s, way, j), DEMON_REQUIRE) && !was_looked_at(s, way, i);
}

static enum demon_verdict look_at_way(struct demon_search *s, const struct demon_way *way)
{
    enum demon_verdict verdict = DEMON_STABLE;
    for (uint32_t j = way->from; j < way->record->points; j++)
        for (uint32_t i = j + 1; i-- > way->from && !stops(s);) {
            if (!is_to_be_asked(s, way, i, j))
                continue;
            enum demon_verdict one = look_at_pair(s, way, i, j);
            s->done += way == &s->undisturbed;
            if (one == DEMON_CONFIRMED || one == DEMON_WRONG)
                return one;
            verdict = worse(verdict, one);
        }
    return verdict;
}

/* --- Other ways --------------------------------------------------------------------------------------------------- */

/* The points of the test's thread in the run that was just made, from behind the one where others made their call; at
 * that one they could have made more. */
static struct demon_way *record_way(const struct demon_attempt *t, const struct pct_demon_plan *plan)
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
    demon_operations(trace, record->point, record->points, way->operations);
    return way;
}

/* A call that has broken nothing: look at the way that the test went behind it, with depth 2. Releases both. */
static enum demon_verdict follow(struct demon_attempt *t, struct pct_demon_plan *plan, struct demon_result *run,
                                 const struct demon_judgement *judgement)
{
    struct demon_search *s = t->search;
    enum demon_verdict verdict = DEMON_STABLE;
    bool allowed = !run->failed && demon_judge_allowed(&s->model, plan, run);
    struct demon_way *way = allowed && s->depth > 1 ? record_way(t, plan) : NULL;
    const bool failed = run->failed && demon_judge_met_requirements(&s->model, plan); /* else it was none of others */
    const bool wrong = failed && judgement->clause;
    /* To wait behind the calls is no failure to the judge, and has no reason. */
    const char *why = judgement->reason;
    why = why ? why : "threads wait for each other, of which no contract speaks";
    s->ways_failed += failed;
    s->why_wrong = wrong && !s->ways_wrong ? why : s->why_wrong;
    s->ways_wrong += wrong;
    release_plan(plan);
    free(run->output);
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
    static struct demon_attempt t; /* large */
    enum demon_verdict verdict = DEMON_STABLE;
    for (uint32_t i = 0; i < s->record->points && !stops(s); i++) {
        if (was_looked_at(s, &s->undisturbed, i))
            continue;
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

static bool is_decided(enum demon_verdict verdict)
{
    return verdict == DEMON_CONFIRMED || verdict == DEMON_WRONG;
}

static uint64_t count_pairs(const struct demon_search *s, const struct demon_way *way)
{
    uint64_t count = 0;
    for (uint32_t j = way->from; j < way->record->points; j++)
        for (uint32_t i = way->from; i <= j; i++)
            count += is_to_be_asked(s, way, i, j);
    return count;
}

/* Look where others come in at the points that were added. */
static enum demon_verdict look(struct demon_search *s)
{
    s->all += count_pairs(s, &s->undisturbed);
    enum demon_verdict verdict = look_at_way(s, &s->undisturbed);
    if ((s->depth > 1 || s->pairs) && !is_decided(verdict))
        verdict = worse(verdict, look_at_other_ways(s));
    return verdict;
}

/* The same with more points. */
static enum demon_verdict look_further(struct demon_search *s, enum demon_points points)
{
    s->again = true;
    s->looked_at = s->points;
    s->points = points;
    s->program->accesses = points == DEMON_POINTS_ACCESSES;
    const bool added = s->program->accesses ? demon_search_record(s) : demon_steps_add(s);
    return added ? look(s) : DEMON_WRONG;
}

enum demon_verdict demon_search_run(struct demon_search *s)
{
    demon_program_stop_gently();
    s->begun = pct_cli_now();
    s->until = s->seconds > 0 ? s->seconds + s->begun : 0;
    enum demon_verdict verdict = look(s);
    const bool more = !s->fixed && (s->pairs || s->ways);
    if (more && !is_decided(verdict) && !s->out_of_time && demon_steps_left_out(s))
        verdict = worse(verdict, look_further(s, DEMON_POINTS_LOCKS));
    if (more && !is_decided(verdict) && !s->out_of_time && s->program->tells)
        verdict = worse(verdict, look_further(s, DEMON_POINTS_ACCESSES));
    s->took = pct_cli_now() - s->begun;
    demon_progress_clear();
    return verdict;
}

void demon_search_free(struct demon_search *s)
{
    for (size_t i = 0; i < s->findings; i++)
        demon_finding_free(&s->finding[i]);
    free(s->finding);
    for (size_t i = 0; i < s->places; i++)
        free(s->place[i]);
    free(s->place);
    demon_record_release(s);
}
