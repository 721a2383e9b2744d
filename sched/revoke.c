/* Holders of the baton that pass no point: asleep in a call that nobody intercepted, or spinning on plain memory. The
 * host finds them (preload/watchdog/watchdog.c); here is what becomes of the schedule. Each is recorded as a step of op
 * STUCK, so that a replay by trace knows where the baton was taken, and takes it there again. */
#include "internal.h"
#include "log.h"

uint64_t pct_sched_patience(const struct pct_sched *s, const struct pct_thread *thread)
{
    uint64_t ns = s->run_ns;
    for (uint32_t i = 0; i < thread->long_runs && ns > PCT_AGAIN_NS; i++)
        ns = ns / 10 > PCT_AGAIN_NS ? ns / 10 : PCT_AGAIN_NS;
    return ns;
}

/* How much virtual time it took. */
static uint64_t time_of(const struct pct_sched *s, const struct pct_thread *thread, uint32_t arg)
{
    uint64_t now = pct_sched_now(s), due = arg == PCT_ARG_TIMER && s->host->alarm ? s->host->alarm() : PCT_NEVER;
    switch (arg) {
    case PCT_ARG_SPINS:
        return PCT_STUCK_NS;
    case PCT_ARG_RUNS:
        return s->run_ns;
    case PCT_ARG_AGAIN:
        return pct_sched_patience(s, thread);
    default:
        return due != PCT_NEVER && due > now ? due - now : 0;
    }
}

/* A step of op STUCK, with everything that is due before and after it. What time it took is not measured but agreed
 * upon: so it is the same in every run. */
static void record(struct pct_sched *s, struct pct_thread *thread, uint32_t arg)
{
    thread->wait = (struct pct_wait){ .op = PCT_OP_STUCK, .deadline = PCT_NEVER };
    pct_sched_process_due(s);
    pct_record(s, thread, PCT_OP_STUCK, arg, 0);
    if (s->step_ns)
        s->base += time_of(s, thread, arg);
    thread->long_runs += arg == PCT_ARG_RUNS || arg == PCT_ARG_AGAIN;
    pct_set_due(s, PCT_DUE_ATTENTION); /* no call said what the thread may have changed */
    pct_sched_process_due(s);
    pct_sched_kernel_changed(s);
    if (arg == PCT_ARG_SPINS)
        pct_progress_jump(s);
}

bool pct_sched_may_take(const struct pct_sched *s, const struct pct_thread *holder, uint32_t arg)
{
    if (pct_is_replay(s))
        return pct_replay_expects(s, holder, PCT_OP_STUCK) &&
               (pct_replay_arg(s, arg) == PCT_ARG_SLEEPS) == (arg == PCT_ARG_SLEEPS);
    if (s->enabled > 1 || s->timers_count || s->outside || s->can_outside || s->kernel_waits)
        return true;
    /* What threads without the baton have done may have enabled one, and only who has the baton looks. */
    return arg == PCT_ARG_SLEEPS && s->live > 1 && pct_sched_has_foreign(s);
}

struct pct_thread *pct_sched_swap_current(struct pct_sched *s, struct pct_thread *current)
{
    struct pct_thread *before = s->current;
    s->current = current;
    return before;
}

void pct_sched_preempt(struct pct_sched *s, struct pct_thread *self, uint32_t arg)
{
    s->current = NULL;
    arg = arg == PCT_ARG_RUNS && self->long_runs ? PCT_ARG_AGAIN : arg;
    record(s, self, pct_replay_arg(s, arg));
    pct_progress_deprioritize(s, self, PCT_STUCK_SPINS);
    pct_sched_pass(s, self, pct_sched_next(s, self));
    pct_sched_came_back(s, self);
    s->current = self;
}

void pct_sched_revoke(struct pct_sched *s, struct pct_thread *thread, bool kin)
{
    s->current = NULL;
    s->unasked = true;
    record(s, thread, PCT_ARG_SLEEPS);
    /* What its last wait was for says nothing of this one. */
    thread->wait.kin = kin;
    thread->wait.deadline = PCT_NEVER;
    pct_outside_go(s, thread);
}

/* Who has the baton when this thread has lost it. NULL: nobody can go on. */
static struct pct_thread *goes_on(struct pct_sched *s, struct pct_thread *thread)
{
    for (struct pct_thread *t = s->kernel_waits; t; t = t->kernel_next)
        if (pct_state(t) == PCT_STATE_BLOCKED)
            return t; /* to ask, and decide: pct_sched_next() */
    s->unasked = false;
    pct_timer_expire(s);
    return pct_sched_next(s, thread);
}

void pct_sched_pass_revoked(struct pct_sched *s, struct pct_thread *thread)
{
    struct pct_thread *next = goes_on(s, thread);
    if (!next)
        return;
    s->switches++;
    s->host->go(thread, next);
}

void pct_revoke_hand_on(struct pct_sched *s, struct pct_thread *thread)
{
    struct pct_thread *next = goes_on(s, thread);
    if (!next)
        return;
    s->switches += next != thread;
    s->host->release(next);
}

bool pct_sched_gone(struct pct_sched *s, struct pct_thread *thread)
{
    s->current = NULL;
    s->unasked = true;
    thread->absent = true;
    pct_set_due(s, PCT_DUE_ATTENTION);                 /* at its end, the kernel has marked its robust locks */
    if (pct_replay_expects(s, thread, PCT_OP_STUCK)) { /* it was slower then */
        record(s, thread, pct_replay_arg(s, 0));
        pct_revoke_hand_on(s, thread);
        return false;
    }
    if (thread->wait.op != PCT_OP_THREAD_FINISH) {
        pct_log_end(s, thread);
        pct_sched_arrive(s, thread, PCT_OP_THREAD_FINISH, NULL);
        if (pct_sched_switch_is_due(s, thread)) {
            pct_revoke_hand_on(s, thread);
            return false;
        }
    }
    pct_record(s, thread, PCT_OP_THREAD_FINISH, 0, thread->id);
    pct_sched_end_thread(s, thread);
    pct_revoke_hand_on(s, thread);
    return true;
}

/* The recorded thread lost the baton here, this one has come on to its next operation: it did not get stuck this time,
 * or was a little faster than the watchdog. */
void pct_revoke_replay(struct pct_sched *s, struct pct_thread *self)
{
    while (pct_replay_expects(s, self, PCT_OP_STUCK)) {
        record(s, self, pct_replay_arg(s, 0));
        s->joins = false;
        pct_sched_pass(s, self, pct_sched_next(s, self));
    }
}
