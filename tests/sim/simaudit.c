/* The audit of the scheduler: whether each simulated thread could proceed is worked out a second time, from what the
 * program says it is about to do, and compared with what the scheduler believes. See simhost.h. */
#include "simhost.h"

#define S (&sim.sched)

bool sim_could_proceed(const struct sim_thread *t)
{
    bool late = t->deadline <= pct_sched_now(S);
    /* In a replay a thread may lose the baton in here as it lost it on its way to here. */
    if (t->core.wait.op == PCT_OP_STUCK)
        return true;
    switch (t->need) {
    case SIM_NEED_NOTHING:
        return true;
    case SIM_NEED_MUTEX:
        return !sim.mutex[t->what] || late;
    case SIM_NEED_SEM:
        return sim.sem[t->what] || late;
    case SIM_NEED_END:
        return sim.thread[t->what].core.state == PCT_STATE_FINISHED || late;
    case SIM_NEED_WAKE:
        return (t->woken || late) && (!t->then_mutex || !sim.mutex[t->mutex]);
    case SIM_NEED_TIME:
        return late;
    case SIM_NEED_SHARE:
        return sim.rwlock[t->what] >= 0 || late;
    case SIM_NEED_ALONE:
        return !sim.rwlock[t->what] || late;
    case SIM_NEED_ONCE:
        return sim.once[t->what] != 1;
    case SIM_NEED_SPIN:
        return !sim.spin[t->what];
    case SIM_NEED_KERNEL:
        return sim.kernel > 0;
    case SIM_NEED_LOADER:
        return !sim.loader || sim.loader == t->core.id + 1;
    case SIM_NEED_NOBODY:
        return sim_nobody_waits(t->core.wait.object);
    }
    __builtin_unreachable();
}

/* Whether nothing but a deadline enables this thread, which is near. What only time could end is a matter of that,
 * too. */
static bool is_early(const struct sim_thread *t)
{
    uint64_t now = pct_sched_now(S), slack = S->slack;
    return pct_state(&t->core) == PCT_STATE_ENABLED && t->core.timer.place && !pct_is_replay(S) &&
           !t->core.wait.outside && t->deadline > now && t->deadline - now <= slack && !sim_could_proceed(t);
}

/* What the scheduler need not know yet: in real time a deadline is noticed some steps later, and so is what the world
 * did. */
static bool may_lag(const struct sim_thread *t)
{
    return (sim.options->real_time && t->deadline != PCT_NEVER) || (t->core.wait.outside && sim.program->event[0].at);
}

void sim_audit(void)
{
    uint32_t enabled = 0, live = 0, early = 0;
    for (uint32_t id = 0; id < S->threads; id++) {
        const struct sim_thread *t = &sim.thread[id];
        enabled += pct_state(&t->core) == PCT_STATE_ENABLED;
        live += t->core.state != PCT_STATE_FINISHED;
        if (t == sim.running)
            sim_check(pct_state(&t->core) == PCT_STATE_ENABLED, "the running thread is not enabled");
        else if (pct_state(&t->core) == PCT_STATE_ENABLED)
            sim_check(t->core.early ? is_early(t) : sim_could_proceed(t), "a thread is enabled that could not proceed");
        else if (pct_state(&t->core) == PCT_STATE_BLOCKED && !may_lag(t) && t->core.wait.op != PCT_OP_THREAD_START)
            sim_check(!sim_could_proceed(t), "a thread is blocked that could proceed");
        bool near = S->slack && !pct_is_replay(S) && pct_state(&t->core) == PCT_STATE_BLOCKED && t->core.timer.place &&
                    !t->core.wait.outside && t->deadline <= pct_sched_now(S) + S->slack;
        sim_check(!near || S->slack_coins, "a thread is blocked whose deadline is near");
        early += t->core.early;
    }
    sim_check(!sim.running->core.early, "the running thread is early");
    sim_check(early == S->early, "the number of early threads is wrong");
    sim_check(enabled == S->enabled, "the number of enabled threads is wrong");
    sim_check(live == S->live, "the number of live threads is wrong");
    sim_check(S->current == &sim.running->core, "the thread with the baton is not the current one");
}
