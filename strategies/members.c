/* The runs of members: see members.h. */
#include "members.h"

static bool same(const char *a, const char *b)
{
    for (; *a && *a == *b; a++)
        b++;
    return *a == *b;
}

static struct pct_run run_of(const struct pct_strategy *member, const struct pct_param *params,
                             const struct pct_run *run)
{
    struct pct_run result = { .seed = run->seed, .threads = run->threads };
    for (uint32_t i = 0; member->params && member->params[i].name; i++) {
        result.param[i] = member->params[i].default_value;
        for (uint32_t j = 0; params[j].name; j++)
            if (same(member->params[i].name, params[j].name))
                result.param[i] = run->param[j];
    }
    return result;
}

uint32_t pct_members_size(const struct pct_strategy *member, const struct pct_param *params, const struct pct_run *run)
{
    struct pct_run inner = run_of(member, params, run);
    return (uint32_t)sizeof(struct pct_members) + member->state_size(&inner);
}

int pct_members_start(const struct pct_strategy *member, const struct pct_param *params, void *state,
                      const struct pct_run *run, const char **why)
{
    struct pct_members *s = state;
    s->member = member;
    struct pct_run inner = run_of(member, params, run);
    return member->start(s->inner, &inner, why);
}

void pct_members_created(void *state, uint32_t thread)
{
    struct pct_members *s = state;
    if (s->member->created)
        s->member->created(s->inner, thread);
}

void pct_members_announce(void *state, uint32_t thread, const struct pct_operation *next)
{
    struct pct_members *s = state;
    if (s->member->announce)
        s->member->announce(s->inner, thread, next);
}

void pct_members_enable(void *state, uint32_t thread)
{
    struct pct_members *s = state;
    s->member->enable(s->inner, thread);
}

void pct_members_disable(void *state, uint32_t thread)
{
    struct pct_members *s = state;
    s->member->disable(s->inner, thread);
}

/* All members have these. */
void pct_members_enable_all(void *state, const uint16_t *threads, uint32_t count)
{
    struct pct_members *s = state;
    s->member->enable_all(s->inner, threads, count);
}

void pct_members_disable_all(void *state, const uint16_t *threads, uint32_t count)
{
    struct pct_members *s = state;
    s->member->disable_all(s->inner, threads, count);
}

struct pct_choice pct_members_pick(void *state, const struct pct_point *point)
{
    struct pct_members *s = state;
    return s->member->pick(s->inner, point);
}

uint32_t pct_members_choose(void *state, uint32_t waiters, uint64_t step)
{
    struct pct_members *s = state;
    return s->member->choose(s->inner, waiters, step);
}

void pct_members_spinning(void *state, uint32_t thread, uint64_t spins)
{
    struct pct_members *s = state;
    if (s->member->spinning)
        s->member->spinning(s->inner, thread, spins);
}

void pct_members_final_wait(void *state, uint32_t thread)
{
    struct pct_members *s = state;
    if (s->member->final_wait)
        s->member->final_wait(s->inner, thread);
}

void pct_members_role(void *state, uint32_t thread, uint32_t role)
{
    struct pct_members *s = state;
    if (s->member->role)
        s->member->role(s->inner, thread, role);
}
