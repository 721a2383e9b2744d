/* What is kept of a candidate: see attempt.h. */
#include "attempt.h"
#include <cli/base/cli.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void demon_attempt_put(const struct demon_attempt *t, struct pct_demon_plan *plan)
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

/* The plan without points is what the user keeps, and what is replayed. Each failure that is told has its own: that of
 * a confirmed one has the name that was asked for, others have a number behind it. NULL after a message. */
static char *keep_plan(const struct demon_attempt *t, enum demon_grade grade)
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
    demon_attempt_put(t, plan);
    munmap(plan, sizeof *plan);
    return strdup(strchr(s->keep, '/') ? name : name + 2);
}

bool demon_attempt_is_same(const struct demon_finding *a, const struct demon_finding *b)
{
    if (a->grade != b->grade)
        return false;
    if (a->grade == DEMON_GRADE_CONTRACT_ONLY)
        return a->goal == b->goal && a->broken == b->broken;
    return a->verdict && b->verdict && !strcmp(a->verdict, b->verdict);
}

bool demon_attempt_is_known(const struct demon_search *s, const struct demon_finding *f)
{
    for (const struct demon_finding *other = s->finding; other < f; other++)
        if (demon_attempt_is_same(other, f))
            return true;
    return false;
}

/* Add how the run failed, and how to see it again. A failure that no replay shows is not confirmed. False: memory is
 * short, or the plan cannot be written. */
static bool add_failure(struct demon_attempt *t, struct demon_finding *f, const struct demon_result *run)
{
    struct demon_search *s = t->search;
    f->verdict = strdup(run->text[0] ? run->text : "fails");
    if (!f->verdict)
        return false;
    if (f->grade == DEMON_GRADE_OTHER_FAILURE && demon_attempt_is_known(s, f))
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
        f->advice = NULL;
        return true;
    }
    memcpy(f->operations, run->operations, sizeof f->operations);
    f->token = strdup(run->token);
    f->replay = make_replay(s, f->plan, run->token);
    return f->token && f->replay;
}

bool demon_attempt_keep(struct demon_attempt *t, const struct demon_judgement *judgement,
                        const struct demon_result *run)
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
    f->advice = judgement->advice;
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

void demon_attempt_confirm(const struct demon_attempt *t, bool helped)
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
