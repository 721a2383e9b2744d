/* Accesses that the scheduler hears of only when they are made: a processor's watchpoint stops the thread behind the
 * access. So the step is recorded first, and the scheduling point comes behind it, in the same place of the code.
 *
 * Between that point and the thread's next one there is no step. A replay could not tell at which of the two the baton
 * went on; so the record says whether the strategy was asked behind it. */
#include "internal.h"
#include "memory.h"

/* Whether a switch is due once this step is made. */
static bool is_due(const struct pct_sched *s, const struct pct_thread *self, enum pct_op op, bool may_switch)
{
    uint64_t step = pct_steps(s) + 1;
    if (pct_is_replay(s))
        return pct_replay_expects(s, self, op) && pct_replay_arg(s, 0) == PCT_ARG_ASKED;
    return may_switch && s->pinned != self &&
           (pct_is_due(s, PCT_DUE_ENABLED) || step >= s->budget_end || (s->exiting && step >= s->exit_by));
}

void pct_sched_behind(struct pct_sched *s, struct pct_thread *self, enum pct_op op, struct pct_object *object,
                      bool may_switch)
{
    pct_sched_arrive(s, self, op, object);
    if (s->stacks_count)
        pct_sites_stack(s, self);
    bool due = is_due(s, self, op, may_switch);
    pct_record(s, self, op, due ? PCT_ARG_ASKED : 0, object->number);
    s->passed_over += may_switch && s->pinned == self && pct_readiness_now(s) > 1;
    if (s->step_ns)
        s->base -= s->still ? 0 : s->step_ns - PCT_MEMORY_NS;
    pct_sched_process_due(s);
    self->wait.op = PCT_OP_NONE; /* what comes next, nobody knows */
    self->wait.object = NULL;
    if (due)
        pct_sched_pass(s, self, pct_sched_next(s, self));
    else
        pct_sched_set_stop(s);
    pct_sched_go_on(s, self);
}
