/* Which waiter a signal wakes, and other choices of the strategy's. Called with the baton. */
#include "internal.h"
#include "log.h"

uint32_t pct_sched_choose_number(struct pct_sched *s, uint32_t ways)
{
    if (ways < 2 || !s->strategy->choose)
        return 0;
    s->choices++;
    uint32_t chosen = s->strategy->choose(s->strategy_state, ways, pct_steps(s));
    chosen = chosen < ways ? chosen : 0;
    pct_log(s, PCT_LOG_CHOICE, 0, ways << 16 | chosen);
    return chosen;
}

uint32_t pct_sched_choose(struct pct_sched *s, const struct pct_object *queue, uint32_t waiters)
{
    if (waiters < 2 || !s->strategy->may_wake)
        return pct_sched_choose_number(s, waiters);
    uint64_t step = pct_steps(s);
    uint32_t allowed = 0, index = 0;
    for (const struct pct_thread *t = queue->first; t; t = t->next)
        allowed += s->strategy->may_wake(s->strategy_state, t->id, step);
    if (!allowed || allowed == queue->waiters)
        return pct_sched_choose_number(s, waiters);
    uint32_t skip = pct_sched_choose_number(s, allowed);
    for (const struct pct_thread *t = queue->first; t; t = t->next, index++)
        if (s->strategy->may_wake(s->strategy_state, t->id, step) && !skip--)
            break;
    return index;
}
