/* Which waiter a signal wakes: the strategy's choice. Called with the baton. */
#include "internal.h"
#include "log.h"

static uint32_t choose_among(struct pct_sched *s, uint32_t waiters)
{
    if (waiters < 2 || !s->strategy->choose)
        return 0;
    s->choices++;
    uint32_t chosen = s->strategy->choose(s->strategy_state, waiters, pct_steps(s));
    chosen = chosen < waiters ? chosen : 0;
    pct_log(s, PCT_LOG_CHOICE, 0, waiters << 16 | chosen);
    return chosen;
}

uint32_t pct_sched_choose(struct pct_sched *s, const struct pct_object *queue, uint32_t waiters)
{
    if (waiters < 2 || !s->strategy->may_wake)
        return choose_among(s, waiters);
    uint64_t step = pct_steps(s);
    uint32_t allowed = 0, index = 0;
    for (const struct pct_thread *t = queue->first; t; t = t->next)
        allowed += s->strategy->may_wake(s->strategy_state, t->id, step);
    if (!allowed || allowed == queue->waiters)
        return choose_among(s, waiters);
    uint32_t skip = choose_among(s, allowed);
    for (const struct pct_thread *t = queue->first; t; t = t->next, index++)
        if (s->strategy->may_wake(s->strategy_state, t->id, step) && !skip--)
            break;
    return index;
}
