/* Threads that make no progress: they yield, sleep, try in vain, look at the clock or at memory. Strategies are told,
 * so that others overtake; a million spins in a row are a livelock. All on the turn of the thread that holds the baton.
 */
#include "internal.h"
#include "record.h"

/* Whether the last spin was the last step, but for a few looks at memory and deadlines that came early. A sleep is two
 * steps: its beginning and its end. */
static bool after_spin(const struct pct_sched *s)
{
    uint64_t steps = pct_steps(s) - s->spin_step, deadlines = 0;
    bool looks = true;
    if (steps <= 2)
        return true;
    if (steps > PCT_SPIN_LOOKS)
        return false;
    for (uint64_t i = 1; i <= steps; i++) {
        uint32_t op = PCT_RECORD_OP(pct_record_before(s, i));
        deadlines += op == PCT_OP_DEADLINE;
        looks &= op == PCT_OP_YIELD || op == PCT_OP_LOAD || op == PCT_OP_ATOMIC_LOAD || op == PCT_OP_DEADLINE;
    }
    return looks || steps - deadlines <= 2;
}

/* A thread that is not in the schedule is to get the CPU. */
static void wait_a_moment(struct pct_sched *s)
{
    pct_sched_sleep(s, s->host->now() + 1000000);
    pct_set_due(s, PCT_DUE_ATTENTION);
}

/* Threads have spun for so long that every strategy has let the others overtake. What is pending may still end it:
 * something from outside, which is as slow as it likes; or a deadline, which the time of so many steps need not reach.
 */
static void spun_for_long(struct pct_sched *s, uint64_t before)
{
    if (!pct_outside_none(s))
        pct_set_due(s, PCT_DUE_ATTENTION);
    else if (pct_outside_strangers(s))
        wait_a_moment(s);
    else if (before < PCT_LIVELOCK_SPINS && s->timers_count)
        pct_timer_jump(s);
    else if (before < PCT_LIVELOCK_SPINS || s->spin_run >= 2 * PCT_LIVELOCK_SPINS)
        s->host->end(PCT_VERDICT_LIVELOCK, "for a million steps threads have only yielded, slept and tried in vain");
}

void pct_sched_overtake(struct pct_sched *s, struct pct_thread *thread, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        thread->spins++;
        s->spins++;
        if (s->strategy->spinning)
            s->strategy->spinning(s->strategy_state, thread->id, thread->spins);
    }
    s->budget_end = pct_steps(s);
    pct_stop_soon(s);
}

/* steps: that this spin took; vain: how much it counts towards a livelock. in_a_row: nothing but spins was made since
 * the last one. */
static void spin(struct pct_sched *s, struct pct_thread *thread, uint32_t steps, uint32_t vain, bool in_a_row)
{
    uint64_t before = in_a_row ? s->spin_run : 0;
    s->spin_run = before + vain;
    s->spin_step = pct_steps(s);
    if (s->spin_run >= PCT_LIVELOCK_SPINS)
        spun_for_long(s, before);
    /* One that took long is as good as several. */
    pct_sched_overtake(s, thread, (steps + PCT_SPIN_STEPS - 1) / PCT_SPIN_STEPS);
}

void pct_sched_in_vain(struct pct_sched *s, struct pct_thread *thread)
{
    spin(s, thread, 1, 1, after_spin(s));
}

void pct_sched_spin(struct pct_sched *s, struct pct_thread *self)
{
    s->current = NULL;
    spin(s, self, 1, 1, after_spin(s));
    s->current = self;
}

void pct_sched_spin_for(struct pct_sched *s, struct pct_thread *self, uint32_t steps, bool in_a_row)
{
    s->current = NULL;
    spin(s, self, steps, steps / PCT_SPIN_LOOKS, in_a_row);
    /* Nobody but a sleeper could change what the thread looks at. */
    if (self->spins >= PCT_SPINS_ALONE && pct_readiness_now(s) == 1 && s->timers_count && pct_outside_still(s) &&
        !pct_outside_strangers(s))
        pct_timer_jump(s);
    s->current = self;
}
