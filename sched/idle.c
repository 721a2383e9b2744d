/* Where no thread can run: what comes next, of deadlines, the outside world and signals; or the run has ended. With the
 * baton. */
#include "await.h"
#include "internal.h"

/* How long what comes from outside has where the strategy is reluctant: in real time. */
enum { RELUCTANT_NS = 100000000 };

/* Whether it still has. */
static bool has_while(struct pct_sched *s)
{
    if (!s->outside && !s->can_outside && !s->kernel_outside)
        return false;
    if (!s->reluctant)
        s->reluctant = s->host->now() + RELUCTANT_NS;
    if (s->host->now() >= s->reluctant)
        s->reluctant = 1;
    return s->reluctant > 1;
}

/* What the strategy says of that; one that says nothing would pick any. */
static uint32_t would_pick(struct pct_sched *s, uint32_t without)
{
    if (s->strategy->abi < 11 || !s->strategy->would_pick)
        return 0;
    uint32_t thread = s->strategy->would_pick(s->strategy_state, pct_steps(s), pct_steps(s) - s->picked_at, without);
    if (thread == PCT_NO_THREAD || !(thread & PCT_RELUCTANTLY))
        s->reluctant = 0;
    else
        thread = has_while(s) ? PCT_NO_THREAD : thread & ~PCT_RELUCTANTLY;
    s->kept_back |= thread == PCT_NO_THREAD;
    return thread;
}

uint32_t pct_idle_first(struct pct_sched *s)
{
    if (s->kept_back)
        return would_pick(s, PCT_NO_THREAD);
    for (uint32_t id = 0; id < s->threads; id++)
        if (pct_state(s->thread_at(id)) == PCT_STATE_ENABLED && !s->thread_at(id)->early)
            return id;
    return PCT_NO_THREAD;
}

bool pct_idle_over(struct pct_sched *s)
{
    if (pct_is_replay(s))
        return pct_replay_ready(s);
    return pct_readiness_now(s) && would_pick(s, PCT_NO_THREAD) != PCT_NO_THREAD;
}

bool pct_idle_without(struct pct_sched *s, const struct pct_thread *thread)
{
    return pct_readiness_now(s) == 1 || (!pct_is_replay(s) && would_pick(s, thread->id) == PCT_NO_THREAD);
}

/* Whether, with nothing enabled, a deadline or the outside world may yet enable somebody. */
static bool others_wait(const struct pct_sched *s)
{
    return s->timers_count || s->outside || s->can_outside || s->kernel_outside || s->can_attention || s->stranger;
}

/* Whether nothing but a signal is left to wait for, and one may come. */
static bool attention_may_come(struct pct_sched *s)
{
    s->may_be_signalled =
        !s->timers_count && !s->can_attention && s->host->may_be_signalled && s->host->may_be_signalled();
    return s->may_be_signalled || (s->can_attention && !s->timers_count);
}

/* A signal that the kernel has given to a parked thread comes only when the machine gives that some time. */
static bool was_on_its_way(struct pct_sched *s)
{
    if (s->host->settle)
        s->host->settle();
    return pct_is_due(s, PCT_DUE_ATTENTION);
}

/* Where no thread can run, and nothing comes from outside: time goes on to the next deadline, a thread that pct does
 * not know is waited for, or the run has ended. True: only the strategy, which is to be asked, keeps threads back. */
static bool go_on_alone(struct pct_sched *s)
{
    /* Not everybody who changes something there was seen: inline system calls. They could have gone on sooner. */
    const uint32_t enabled = s->enabled;
    pct_sched_kernel_changed(s);
    s->uncontrolled[PCT_UNCONTROLLED_OUTSIDE] += s->enabled - enabled;
    if (pct_idle_over(s))
        return false;
    if (s->timers_count) {
        pct_await_look(s);
        pct_timer_jump(s);
        pct_await_jumped(s);
    } else if (s->foreign & PCT_FOREIGN_FINISHED && s->patience) {
        /* One that has finished may hold what all the others wait for; it will be gone in a moment. */
        s->patience--;
        pct_sched_sleep(s, s->host->now() + 20000000);
        pct_sched_attend(s);
    } else if (s->foreign & PCT_FOREIGN_THREADS && !s->host->strangers) {
        /* A thread that pct does not know may still change something. */
        pct_sched_sleep(s, PCT_NEVER);
        pct_sched_attend(s);
    } else if (pct_readiness_now(s) && !pct_is_replay(s)) {
        return true;
    } else if (!was_on_its_way(s)) {
        pct_await_look(s);
        pct_await_end(s);
        s->host->end(PCT_VERDICT_DEADLOCK, NULL);
    }
    return false;
}

/* Wait for what comes from outside. True: ask the strategy again; false: as pct_idle_end(). */
static bool await_outside(struct pct_sched *s, struct pct_thread *self, struct pct_thread **keeper)
{
    pct_outside_send(s, self);
    *keeper = pct_outside_keeper(s, self);
    if (!*keeper && s->reluctant) {
        s->reluctant = 1; /* nobody can keep the baton for a while */
        return true;
    }
    if (*keeper && *keeper != self)
        return false; /* it keeps the baton until the first deadline, or until something comes */
    if (*keeper)
        pct_outside_keep(s);
    else if (pct_outside_idle(s))
        return false;
    else
        pct_sched_attend(s);
    return true;
}

/* Whether the host or a signal has something to tell first: the strategy may be asked then. */
static bool hears(struct pct_sched *s)
{
    if (pct_is_due(s, PCT_DUE_ATTENTION)) {
        /* Before time jumps or a deadlock is called; and the host's sleep would not last. */
        bool world = pct_outside_is_world(s);
        uint32_t outside = s->outside;
        pct_sched_attend(s);
        /* Who is back behind a jump of time was perhaps reached by a timer: a replay has to know that time jumped. */
        bool jumped = s->outside < outside && pct_timer_jumps(s);
        if (pct_idle_over(s) && (jumped || s->outside || s->can_outside || s->kernel_outside || s->can_attention))
            pct_outside_note(s, 0, world);
        return true;
    }
    uint32_t enabled = s->enabled;
    if (s->host->rests)
        s->host->rests();
    pct_outside_strangers(s, true);
    return pct_is_due(s, PCT_DUE_ATTENTION) || s->enabled != enabled;
}

bool pct_idle_end(struct pct_sched *s, struct pct_thread *self, struct pct_thread **keeper)
{
    *keeper = NULL;
    while (!pct_idle_over(s)) {
        if (!s->live)
            return false;
        if (hears(s))
            continue;
        if (s->lock_waits && !pct_readiness_now(s) && others_wait(s) && pct_cycle_find(s)) {
            s->host->end(PCT_VERDICT_DEADLOCK, PCT_MESSAGE_CYCLE);
        } else if (pct_outside_awaits(s) || attention_may_come(s)) {
            if (!await_outside(s, self, keeper))
                return false;
        } else if ((s->still && s->early && !s->kept_back) || go_on_alone(s)) {
            return true; /* whose deadline comes is a choice also where nothing else can be done */
        }
    }
    return true;
}
