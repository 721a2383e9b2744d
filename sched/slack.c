/* Slack: a deadline is no order. A machine under load may keep all other threads from running until a sleep or a
 * time-out of a few milliseconds is over, though they have but a few steps to make. So a thread whose deadline is at
 * most `slack` ahead in virtual time is enabled for the strategy, while it stays in its queue, where a signal or a post
 * finds it. If it is chosen, time goes on to its deadline, and its wait times out. It is early as long as nothing else
 * enables it.
 *
 * An early thread is no thread that can run: where all others wait, time jumps, cycles are searched and the outside is
 * awaited as without slack (pct_readiness_now()). What the outside may end gets none: its time is the world's.
 *
 * A coin for each wait says whether slack applies to it. Without, a thread that polls (waits 5 ms, looks, waits again)
 * would be chosen again and again before the others have made a step; so such rounds follow each other with probability
 * 1/2 each. The coin depends on the thread and on the number of its wait, on nothing that others do: for fixed coins
 * the program is one whose threads are enabled or not as the schedule alone decides, which is what the PCT paper's
 * theorem speaks of (docs/GUARANTEE.md).
 *
 * A replay needs no slack: each early time-out is a step of its own in the trace, DEADLINE. On the turn of the thread
 * that holds the baton, inside the scheduler. */
#include "internal.h"
#include "log.h"
#include <pct/random.h>

/* Nothing else enables this thread; what it does if it is chosen is to let time go on. */
static void begin_early(struct pct_sched *s, struct pct_thread *thread)
{
    const struct pct_operation deadline = { .op = PCT_OP_DEADLINE };
    pct_sched_set_enabled(s, thread, false);
    thread->early = true;
    s->early++;
    if (PCT_UNLIKELY(s->log != NULL))
        pct_log_add(s->log, (struct pct_log_entry){ .kind = PCT_LOG_ANNOUNCE,
                                                    .op = PCT_OP_DEADLINE,
                                                    .thread = (uint16_t)thread->id,
                                                    .key = pct_log_key(thread->wait.object) });
    if (s->strategy->announce)
        s->strategy->announce(s->strategy_state, thread->id, &deadline);
    pct_sched_set_enabled(s, thread, true);
}

/* It stays enabled, for another reason. */
static void end_early(struct pct_sched *s, struct pct_thread *thread)
{
    if (!thread->early)
        return;
    thread->early = false;
    s->early--;
    pct_sched_announce(s, thread);
    if (s->strategy->early)
        s->strategy->enable(s->strategy_state, thread->id);
}

void pct_sched_answer(struct pct_sched *s, struct pct_thread *thread, bool ready)
{
    if (ready)
        end_early(s, thread);
    if (ready || !thread->near)
        pct_sched_set_enabled(s, thread, ready);
    else if (!thread->early)
        begin_early(s, thread);
}

void pct_sched_ask(struct pct_sched *s, struct pct_thread *thread)
{
    if (PCT_UNLIKELY(s->unasked) && thread->wait.kernel)
        return;
    pct_sched_answer(s, thread, thread->wait.ready && thread->wait.ready(thread));
}

static void come_near(struct pct_sched *s, struct pct_timer *timer)
{
    struct pct_thread *thread = (struct pct_thread *)((char *)timer - offsetof(struct pct_thread, nearing));
    thread->near = true;
    pct_log(s, PCT_LOG_NEAR, thread->id, 0);
    pct_sched_ask(s, thread);
}

void pct_slack_begin(struct pct_sched *s, struct pct_thread *thread)
{
    if (thread->wait.outside) {
        s->fixed_deadlines++;
        return;
    }
    s->deadlines++;
    pct_log_hidden(s, PCT_KEY_TIME, true);
    uint64_t place = (uint64_t)thread->id << 32 | thread->coins++;
    if (!s->slack || (s->slack_coins && pct_random(s->run.seed, PCT_STREAM_SLACK, place) & 1))
        return;
    uint64_t deadline = thread->timer.deadline;
    thread->nearing.fire = come_near;
    thread->nearing.deadline = deadline > s->slack ? deadline - s->slack : 0;
    pct_timer_add_nearing(s, &thread->nearing);
}

void pct_slack_end(struct pct_sched *s, struct pct_thread *thread)
{
    pct_timer_remove_nearing(s, &thread->nearing);
    thread->near = false;
    end_early(s, thread);
}

void pct_slack_pass(struct pct_sched *s, struct pct_thread *thread)
{
    const uint64_t most = (UINT64_C(1) << 41) - 1;
    uint64_t now = pct_sched_now(s), deadline = thread->timer.deadline;
    uint64_t ahead = deadline > now ? deadline - now : 0, microseconds = (ahead + 999) / 1000;
    if (microseconds > most)
        microseconds = most;
    microseconds = pct_replay_microseconds(s, microseconds);
    s->base += ahead;
    s->rest += ahead;
    pct_record(s, thread, PCT_OP_DEADLINE, (uint32_t)(microseconds >> 25), (uint32_t)microseconds & 0x1ffffff);
    s->timed = pct_steps(s);
    pct_sched_turn(s);
    pct_timer_expire(s);
    pct_set_due(s, PCT_DUE_ENABLED); /* whoever is chosen next, the budget of this one means nothing any more */
}
