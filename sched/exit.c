/* The end of the process: the points before and behind the handlers of exit, one of which may be the final wait of PCT,
 * section 4.2 (common/end.h). */
#include "internal.h"

/* The thread that ends the process passes a point, below all others if `last`. */
static void pass_end(struct pct_sched *s, struct pct_thread *self, enum pct_op op, bool last)
{
    s->current = NULL;
    /* Also those that the handlers of exit have made. */
    if (s->live - 1 > s->left)
        s->left = s->live - 1;
    s->exiting = self;
    s->exit_by = pct_steps(s) + PCT_FINAL_WAIT_STEPS;
    if (last) {
        if (s->strategy->final_wait)
            s->strategy->final_wait(s->strategy_state, self->id);
        s->budget_end = pct_steps(s);
    }
    pct_sched_point(s, self, op, NULL);
    s->current = self; /* it may have passed unasked */
}

void pct_sched_exit(struct pct_sched *s, struct pct_thread *self)
{
    pass_end(s, self, PCT_OP_EXIT, s->end == PCT_END_PLAIN || s->end == PCT_END_BEFORE);
}

void pct_sched_end(struct pct_sched *s, struct pct_thread *self)
{
    pass_end(s, self, PCT_OP_EXIT_NOW, s->end == PCT_END_BEHIND);
}
