/* Threads that wait in a loop for others to write to memory, in explored runs: see await.h. */
#include "await.h"
#include "internal.h"
#include "log.h"

static bool is_over(const struct pct_thread *thread)
{
    return !thread->awaits;
}

void pct_await_write(struct pct_sched *s, struct pct_thread *self, enum pct_op op, struct pct_object *location)
{
    const struct pct_wait wait = { .op = op, .object = location, .ready = is_over, .deadline = PCT_NEVER };
    self->awaits = true;
    s->awaiting++;
    pct_log_assumption(s, PCT_ASSUMES_AWAIT);
    pct_sched_wait(s, self, &wait);
    /* Something else has ended the wait: a signal. */
    s->awaiting -= self->awaits;
    self->awaits = false;
}

void pct_await_look(struct pct_sched *s)
{
    if (!s->awaiting || !s->log || !s->host->changed || !s->host->changed())
        return;
    s->log->awaited = PCT_AWAITED_BLOCKED;
    s->host->end(PCT_VERDICT_LIVELOCK, "a thread that waits in a loop would read something else in its next round");
}

void pct_await_jumped(struct pct_sched *s)
{
    for (uint32_t id = 0; s->awaiting && id < s->threads; id++) {
        struct pct_thread *t = s->thread_at(id);
        if (!t->awaits)
            continue;
        t->awaits = false;
        s->awaiting--;
        pct_sched_ask(s, t);
    }
}

void pct_await_end(struct pct_sched *s)
{
    if (!s->awaiting || !s->log)
        return;
    s->log->awaited = PCT_AWAITED_FOR_EVER;
    s->host->end(PCT_VERDICT_LIVELOCK, "threads wait in loops for memory that nobody writes to any more");
}
