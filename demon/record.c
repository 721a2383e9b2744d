/* The undisturbed run, and what lets the test go on where it waits for others: see record.h. */
#include "record.h"
#include "judge.h"
#include "sequence.h"
#include "steps.h"
#include <cli/base/cli.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_SEQUENCES = 1000 };

struct help {
    struct demon_query query;
    struct demon_call call[DEMON_LONGEST];
    int count; /* 0: nothing is found */
    unsigned asked;
    struct demon_search *search; /* where they are to be tried; NULL: they are not */
    struct demon_result *result;
};

/* Why the undisturbed test did not end well, in one line; what pct itself has said, if that could not make the run. */
static void say_why(struct demon_search *s, struct demon_result *r)
{
    const struct demon_proc *test = &s->model.spec->proc[0];
    bool waits = demon_proc_has(test, DEMON_WAIT);
    if (r->status == PCT_EXIT_DEADLOCK && !waits) {
        demon_say("%s waits for others: say what for by `wait TAG: CONDITION` of the test, and which calls of others "
                  "make it hold by their `ensure`",
                  test->name);
        return;
    }
    if (r->status == PCT_EXIT_DEADLOCK) {
        demon_say("%s waits for others, and no sequence of at most %d calls was found that makes what it waits for "
                  "hold and lets it go on",
                  test->name, s->longest);
        return;
    }
    demon_run_read_trace(s->trace, test->name, r);
    if (r->failed) {
        demon_say("the test fails by itself, without any interference: mend that first (%s)", r->text);
    } else if (r->status == PCT_EXIT_TIMEOUT) {
        demon_say("the test does not end within %g s, without any interference: mend that first, or give it more time "
                  "by --timeout",
                  s->program->timeout);
    } else if (r->status == PCT_EXIT_LIVELOCK) {
        demon_say("the test does not end, without any interference: mend that first (%s)", r->text);
    } else {
        demon_show(r->output);
        demon_say("the program could not be run under pct, so nothing was asked");
    }
}

static void note_threads(const struct demon_search *s)
{
    struct demon_result r = { .helped = s->helps > 0 };
    demon_run_read_trace(s->trace, s->model.spec->proc[0].name, &r);
    if (r.threads > 2 + (s->helps > 0))
        demon_say("the test has threads of its own, which run where its first thread waits or ends: what they do is "
                  "not looked at; one without threads says more");
}

/* From there on the output is that line alone. */
static const char *last_refusal(char *output)
{
    static const char start[] = "pct: --functions: ";
    char *last = output;
    for (char *at = output; (at = strstr(at, start)); at++)
        last = at;
    last[strcspn(last, "\n")] = 0;
    return last;
}

static bool check_record(struct demon_search *s, struct demon_result *r)
{
    const struct pct_demon_plan *plan = s->record;
    const char *test = s->model.spec->proc[0].name;
    bool refused = !plan->entered && strstr(r->output, "pct: --functions: ") && /* and it is said why */
                   !strstr(r->output, " was not controlled: ");
    if (refused) {
        demon_show(last_refusal(r->output));
    } else if (r->status) {
        say_why(s, r);
    } else if (!plan->entered) {
        demon_say("%s was not entered: the program's first thread must call it", test);
    } else {
        return true;
    }
    return false;
}

static void say_left_out(const struct demon_search *s)
{
    const struct pct_demon_plan *plan = s->record;
    if (plan->entered > 1)
        demon_say("%s was entered %u times: only the first is tested", s->model.spec->proc[0].name, plan->entered);
    else if (plan->points > plan->room)
        demon_say("only the first %u of %u points are looked at", plan->room, plan->points);
}

static bool complain(const struct demon_search *s, const struct demon_proc *of, const struct demon_clause *clause,
                     uint32_t from, uint32_t to)
{
    const struct demon_proc *proc = s->model.spec->proc;
    const struct pct_demon_point *point = s->record->point;
    char where[256];
    const struct demon_proc *first = &proc[point[from].function], *second = &proc[point[to].function];
    if (from == to)
        snprintf(where, sizeof where, "where it %s %s", demon_proc_verb(second), second->name);
    else
        snprintf(where, sizeof where, "from point %u, where it %s %s, to point %u, where it %s %s", from + 1,
                 demon_proc_verb(first), first->name, to + 1, demon_proc_verb(second), second->name);
    demon_say("%s:%u: `%s %s: %s` does not hold %s, without any interference", of->from, clause->line,
              demon_clause_word(of, clause->kind), clause->tag, clause->text, where);
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
        /* Where it waited, others came in between. */
        clause = i && i != s->helped ? demon_state_broken(m, DEMON_GUARANTEE, before, now, &test) : NULL;
        if (clause)
            return complain(s, test.proc, clause, i - 1, i);
    }
    return true;
}

/* An assertion at a line that the test does not come to says nothing. */
static void look_for_lines(const struct demon_search *s)
{
    for (int i = 1; i < s->model.spec->procs; i++) {
        const struct demon_proc *proc = &s->model.spec->proc[i];
        uint32_t point = 0;
        while (point < s->record->points && s->record->point[point].function != (uint32_t)i)
            point++;
        if (proc->is_line && point == s->record->points)
            demon_say("%s:%u: `assert %s` is not looked at: %s does not come to %s", proc->from, proc->line,
                      proc->clause[0].tag, s->model.spec->proc[0].name, proc->name);
    }
}

/* --- Where it waits ----------------------------------------------------------------------------------------------- */

void demon_record_release(struct demon_search *s)
{
    if (s->record != s->mapped)
        free(s->record);
    if (s->mapped)
        munmap(s->mapped, sizeof *s->mapped + PCT_DEMON_POINTS * sizeof s->mapped->point[0]);
    s->record = s->mapped = NULL;
}

/* Record the run, with a helper that makes these calls. */
static bool run_once(struct demon_search *s, const struct demon_call *calls, int count, struct demon_result *result)
{
    char path[4096];
    demon_record_release(s);
    s->record = s->mapped = demon_plan_create(s->program, "record", PCT_DEMON_POINTS, path);
    if (!s->record) {
        demon_say("%s cannot be written", path);
        return false;
    }
    demon_search_copy_head(s->record, s->model.plan);
    demon_search_put_calls(&s->model, calls, count, s->record);
    s->record->helps = (uint32_t)count;
    bool made = demon_run(s->program, path, (uint64_t[DEMON_TIMES]){ 0 }, s->trace, result);
    demon_state_fill_ghosts(&s->model, s->record);
    return made;
}

/* Once more where it has found objects that calls can name. */
static bool run(struct demon_search *s, const struct demon_call *calls, int count, struct demon_result *result)
{
    while (run_once(s, calls, count, result)) {
        if (!demon_model_extend(&s->model, &s->record->map))
            return true;
        free(result->output);
    }
    return false;
}

static bool take_help(void *context, struct demon_call *calls, int count)
{
    struct help *h = context;
    bool more = ++h->asked < MOST_SEQUENCES;
    if (demon_query_helps(&h->query, calls, count) != DEMON_YES)
        return more;
    if (h->search) {
        free(h->result->output);
        *h->result = (struct demon_result){ .status = 0 };
        if (!run(h->search, calls, count, h->result))
            return false;
        if (h->result->status || !demon_judge_met_requirements(&h->search->model, h->search->record))
            return more;
    }
    memcpy(h->call, calls, sizeof h->call);
    h->count = count;
    return false;
}

static void find(struct help *h, const struct demon_model *model, int longest)
{
    demon_sequences_run(&(struct demon_sequences){
        .model = model, .state = h->query.state, .longest = longest, .take = take_help, .context = h });
}

int demon_record_find_help(const struct demon_search *s, const struct demon_state *state,
                           const struct demon_binding *test, struct demon_call calls[DEMON_LONGEST])
{
    struct help h = { .query = { .model = &s->model, .state = state, .test = *test } };
    find(&h, &s->model, s->longest);
    memcpy(calls, h.call, sizeof h.call);
    return h.count;
}

/* By calls that fit the state at the last point before it waits. */
static void go_on(struct demon_search *s, struct demon_result *result)
{
    static struct pct_demon_point last; /* large, as the state */
    static struct demon_state state;
    struct demon_binding test;
    uint32_t points = s->record->points < s->record->room ? s->record->points : s->record->room;
    if (!points)
        return;
    last = s->record->point[points - 1];
    demon_state_bind(&s->model, &s->record->point[0], &test);
    demon_state_read(&s->model, &last, &state);
    struct help h = { .query = { .model = &s->model, .state = &state, .test = test }, .search = s, .result = result };
    find(&h, &s->model, s->longest);
    memcpy(s->help, h.call, sizeof s->help);
    s->helps = h.count;
    if (!h.count)
        result->status = PCT_EXIT_DEADLOCK; /* whatever the last try came to */
}

/* Leave the test's points; what the helper did shows in them. */
static void drop_helps(struct demon_search *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->record->points; i++) {
        if (s->record->point[i].caller && !s->helped)
            s->helped = kept;
        if (!s->record->point[i].caller)
            s->record->point[kept++] = s->record->point[i];
    }
    s->record->points = kept;
}

bool demon_search_record(struct demon_search *s)
{
    struct demon_result result;
    snprintf(s->trace, sizeof s->trace, "%s/trace", s->program->directory);
    if (!run(s, NULL, 0, &result))
        return false;
    if (result.status == PCT_EXIT_DEADLOCK && s->record->entered && demon_proc_has(&s->model.spec->proc[0], DEMON_WAIT))
        go_on(s, &result);
    bool fine = check_record(s, &result);
    free(result.output);
    if (fine && !s->again)
        say_left_out(s);
    if (fine && s->record->points > s->record->room)
        s->record->points = s->record->room;
    if (!fine)
        return false;
    s->helped = 0;
    drop_helps(s);
    if (!s->again) {
        note_threads(s);
        look_for_lines(s);
    }
    return check_contracts(s) && demon_steps_add(s);
}
