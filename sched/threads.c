/* The threads of a schedule: made, started, finished. With the baton; see sched.h. */
#include "internal.h"
#include "log.h"
#include <stddef.h>

static void time_out(struct pct_sched *s, struct pct_timer *timer)
{
    struct pct_thread *thread = (struct pct_thread *)((char *)timer - offsetof(struct pct_thread, timer));
    if (thread->recallable)
        pct_outside_recall(s, thread);
    else
        pct_sched_end_wait(s, thread, PCT_TIMEOUT);
}

void pct_sched_reserve(struct pct_sched *s, struct pct_thread *thread)
{
    if (!thread->id || thread->id >= s->threads)
        thread->id = s->threads++;
    thread->stamp = PCT_RECORD(thread->id, 0, 0, 0);
    thread->state = PCT_STATE_BLOCKED;
    thread->wait.op = PCT_OP_THREAD_START;
    thread->self.class_ = PCT_CLASS_THREAD;
    thread->self.number = thread->id;
    thread->self.holder = thread->id;
    thread->timer.order = thread->nearing.order = thread->id;
    thread->timer.fire = time_out;
    s->live++;
    if (s->strategy->created)
        s->strategy->created(s->strategy_state, thread->id);
}

void pct_sched_begins_with(struct pct_sched *s, const struct pct_thread *thread, const void *function)
{
    if (s->strategy->abi < 9 || !s->strategy->role)
        return;
    uint32_t i = 0;
    while (i < PCT_MOST_ROLES - 1 && s->begun_with[i] && s->begun_with[i] != function)
        i++;
    if (i < PCT_MOST_ROLES - 1)
        s->begun_with[i] = function;
    s->strategy->role(s->strategy_state, thread->id, i + 1);
}

void pct_sched_withdraw(struct pct_sched *s, struct pct_thread *thread)
{
    thread->state = PCT_STATE_FINISHED;
    s->live--;
    s->withdrawn++;
}

void pct_sched_start_thread(struct pct_sched *s, struct pct_thread *thread)
{
    pct_log(s, PCT_LOG_CAUSED, thread->id, 0);
    pct_sched_announce(s, thread);
    pct_sched_set_enabled(s, thread, true);
}

void pct_sched_create(struct pct_sched *s, struct pct_thread *thread)
{
    pct_sched_reserve(s, thread);
    pct_sched_start_thread(s, thread);
}

void pct_sched_end_thread(struct pct_sched *s, struct pct_thread *self)
{
    pct_sched_process_due(s);
    pct_sched_set_enabled(s, self, false);
    self->state = PCT_STATE_FINISHED;
    s->live--;
    if (s->exiting == self)
        s->exiting = NULL;
    pct_sched_changed(s, &self->self);
    if (s->unseen)
        pct_sched_attend(s);
}

void pct_sched_finish(struct pct_sched *s, struct pct_thread *self)
{
    s->current = NULL;
    pct_sched_end_thread(s, self);
    pct_sched_pass(s, self, pct_sched_next(s, self));
}
