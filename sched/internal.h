/* What the files of the scheduler share among themselves. */
#ifndef PCT_SCHED_INTERNAL_H
#define PCT_SCHED_INTERNAL_H

#include "sched.h"

/* sched.c */
/* Everything that is due at this step: the recorder's turn, attention, deadlines, the step bound. Before
 * the baton passes, whenever a step may have been made since the last time. */
void pct_sched_process_due(struct pct_sched *s);
/* The one place where a block of the trace ends: if the one being filled is full, all that is done with it then, and
 * room for the next one. Whoever has recorded a step without a point behind it calls this, or pct_sched_make_room(). */
void pct_sched_turn(struct pct_sched *s);
/* Find the next step at which the fast path must come here: never later than the end of the block being filled. */
void pct_sched_set_stop(struct pct_sched *s);
/* `due` as it is while nobody has called for attention: what the host sleeps on. */
static inline uint32_t pct_sched_undisturbed(const struct pct_sched *s)
{
    return __atomic_load_n(&s->due, __ATOMIC_SEQ_CST) & ~(uint32_t)PCT_DUE_ATTENTION;
}
/* Sleep until then, in real time, or until somebody calls for attention. */
static inline void pct_sched_sleep(struct pct_sched *s, uint64_t until)
{
    s->host->sleep(until, &s->due, pct_sched_undisturbed(s));
}
/* Threads without the baton have changed something: see who came back, ask every predicate again. */
void pct_sched_attend(struct pct_sched *s);
void pct_sched_announce(struct pct_sched *s, const struct pct_thread *thread);
/* At the next point, the strategy is asked, whatever is left of the budget. */
void pct_sched_ask_strategy(struct pct_sched *s);
/* This thread has the baton again, and made no step to get it: the strategy may want to hear what comes next. */
static inline void pct_sched_came_back(struct pct_sched *s, const struct pct_thread *self)
{
    if (s->host->returned && s->host->returned(self))
        pct_sched_ask_strategy(s);
}
void pct_sched_set_enabled(struct pct_sched *s, struct pct_thread *thread, bool enabled);
void pct_sched_end_thread(struct pct_sched *s, struct pct_thread *self); /* it has finished; the baton stays */
/* Whether this thread, which has arrived at a point, does not pass it unless the strategy says so. */
bool pct_sched_switch_is_due(struct pct_sched *s, const struct pct_thread *self);
void pct_sched_end_wait(struct pct_sched *s, struct pct_thread *thread, enum pct_result result);
/* The thread, which runs, comes to the scheduling point of this operation: the scheduler is at work from now on, what
 * is due is done, and the operation is announced. What follows is the decision, and then pct_sched_depart(). */
void pct_sched_arrive(struct pct_sched *s, struct pct_thread *self, enum pct_op op, struct pct_object *object);
/* calm.c: whether it passes that point of an operation on this object (NULL: none) unasked. */
bool pct_calm_passes(const struct pct_sched *s, const struct pct_thread *self, enum pct_op op,
                     const struct pct_object *object);
/* Whether it makes this wait so: it need not wait. */
bool pct_calm_waits(const struct pct_sched *s, struct pct_thread *self, const struct pct_wait *wait);
/* The thread is about to wait so, or not to have to. */
static inline void pct_wait_prepare(struct pct_thread *self, const struct pct_wait *wait)
{
    self->wait = *wait;
    self->wait.kernel = self->wait.outside = self->wait.attention = self->wait.often = false; /* not yet */
    self->result = PCT_READY;
    self->in_then = false;
}
/* It has passed that point, and has the baton: it goes on (pct_sched_go_on()), and is about to make its step. */
void pct_sched_depart(struct pct_sched *s, struct pct_thread *self);
/* The baton goes to next; returns when self has it again. */
void pct_sched_pass(struct pct_sched *s, struct pct_thread *self, struct pct_thread *next);

/* group.c */
/* Whether an object has enough waiters to make a group of them. Make one, if all can go on or none, which they just
 * were asked. */
bool pct_group_worth(const struct pct_object *object);
void pct_group_form(struct pct_sched *s, struct pct_object *object);
/* The thread has come to the end of its object's queue, and is enabled or not: it joins the group there, or there is
 * none any more. */
void pct_group_join(struct pct_sched *s, struct pct_thread *thread);
/* It leaves its group, if it is in one, with the queue. */
void pct_group_leave(struct pct_sched *s, struct pct_thread *thread);
/* It will be enabled or disabled, but the others of its group will not. */
void pct_group_split(struct pct_sched *s, struct pct_thread *thread);
/* The question that all of them ask has this answer now. */
void pct_group_set_enabled(struct pct_sched *s, struct pct_group *group, bool enabled);

/* slack.c */
/* The thread waits from now on, with the deadline that its timer is armed for: that may come early. */
void pct_slack_begin(struct pct_sched *s, struct pct_thread *thread);
/* Its wait has ended, or only time no longer ends it. */
void pct_slack_end(struct pct_sched *s, struct pct_thread *thread);
/* Its predicate may have changed: ask it; the second, with its answer. Who is near its deadline stays enabled all the
 * same. */
void pct_sched_ask(struct pct_sched *s, struct pct_thread *thread);
void pct_sched_answer(struct pct_sched *s, struct pct_thread *thread, bool ready);
/* Time goes on to the deadline of this thread, which was chosen while others could run: a step. Behind it the wait is
 * over; but the thread may have to wait for something else now. */
void pct_slack_pass(struct pct_sched *s, struct pct_thread *thread);

/* deadlock_cycle.c */
/* Whether threads wait for each other's locks in a cycle: for ever, whatever the others do. Nothing is enabled. */
bool pct_cycle_find(struct pct_sched *s);

/* timer.c */
int pct_timer_start(struct pct_sched *s);
void pct_timer_add(struct pct_sched *s, struct pct_timer *timer);
void pct_timer_remove(struct pct_sched *s, struct pct_timer *timer);
/* The same for the heap of deadlines that come near. */
void pct_timer_add_nearing(struct pct_sched *s, struct pct_timer *timer);
void pct_timer_remove_nearing(struct pct_sched *s, struct pct_timer *timer);
/* Fire the timers whose deadline has passed: end waits. Then those of deadlines that have come near. */
void pct_timer_expire(struct pct_sched *s);
/* Nothing else can run: go to the next deadline, in virtual or in real time. */
void pct_timer_jump(struct pct_sched *s);
/* The same beyond the deadlines of those that sleep a little in each round of a loop, if there is any. */
void pct_timer_jump_far(struct pct_sched *s);
/* How often it has done so since the last step. */
uint32_t pct_timer_jumps(const struct pct_sched *s);
/* The step by which the next deadline will have passed, or have come near. One is pending. */
uint64_t pct_timer_step(const struct pct_sched *s);

/* idle.c: the thread that may make the next step, of those that can go on without a time-out, as the strategy has it;
 * PCT_NO_THREAD: there is none. */
uint32_t pct_idle_first(struct pct_sched *s);
/* Whether the strategy can be asked, or a replay can go on. */
bool pct_idle_over(struct pct_sched *s);
/* Whether nobody could go on but this thread, which can. */
bool pct_idle_without(struct pct_sched *s, const struct pct_thread *thread);
/* Until the strategy can be asked. False: nobody can run, but *keeper keeps the baton; NULL: it is free, or all
 * have ended. */
bool pct_idle_end(struct pct_sched *s, struct pct_thread *self, struct pct_thread **keeper);

/* outside.c */
void pct_outside_drain(struct pct_sched *s);
/* Nothing can run: whether the process waits for real, because the outside world, or a relative, may do something
 * first. */
bool pct_outside_awaits(const struct pct_sched *s);
/* Nothing can run: whether time is the world's, because it could do something that threads wait for; if not, only
 * relatives and own timers could. */
bool pct_outside_is_world(const struct pct_sched *s);
/* Whether no thread waits for it, and there is no relative: nothing but this process's own threads and deadlines
 * changes anything. */
bool pct_outside_none(const struct pct_sched *s);
/* The same, but for relatives that sleep. */
bool pct_outside_still(const struct pct_sched *s);
/* Nothing else can run: send every thread that can wait outside there (the caller, `self`, finds that out by itself).
 */
void pct_outside_send(struct pct_sched *s, const struct pct_thread *self);
/* Who keeps the baton until something comes: `self` if it waits, else another that does. NULL: nobody has to, or can.
 */
struct pct_thread *pct_outside_keeper(struct pct_sched *s, struct pct_thread *self);
/* Keep the baton until the next deadline, in real time, or until something comes from outside. */
void pct_outside_keep(struct pct_sched *s);
/* The thread is outside from now on; until when, and for whom it waits, its wait says. */
void pct_outside_go(struct pct_sched *s, struct pct_thread *thread);
/* The deadline of one that is recallable has come. */
void pct_outside_recall(struct pct_sched *s, struct pct_thread *thread);
/* Whether a thread that is not in the schedule may act before the next deadline, or at all. Asks the host (host.h:
 * strangers). */
bool pct_outside_strangers(struct pct_sched *s, bool lately);
/* Free the baton. False: somebody has come back meanwhile. */
bool pct_outside_idle(struct pct_sched *s);

/* A thread came from outside while nothing else could run: a step that says how long that took, so that a replay can
 * let virtual time pass as it did. passed: real ns. */
void pct_outside_arrived(struct pct_sched *s, const struct pct_thread *thread, uint64_t passed);

/* Whether what this thread would wait for has come already, and is to be as if it had been awaited: see outside.c. */
bool pct_outside_was_slow(struct pct_sched *s, const struct pct_thread *thread, const struct pct_wait *wait);
/* It is, from here on. A replay knows of that. */
void pct_outside_awaited(struct pct_sched *s, const struct pct_thread *thread);

/* The same as pct_outside_arrived(), where nobody could run before: whoever can now has come from outside. A replay
 * knows who has. world: what pct_outside_is_world() was before; then it brings with it what virtual time is behind. */
void pct_outside_note(struct pct_sched *s, uint64_t passed, bool world);

/* replay.c: of a run that is no replay, these say so. */
/* Whether the strategy can be asked: somebody can run; in a replay, the thread of the next recorded step can, and not
 * only once time has passed or something has come from outside. What was recorded of those is fed in; a thread that
 * will never run is a divergence. */
bool pct_replay_ready(struct pct_sched *s);
/* When, in real time, to ask again whether the next recorded thread, which is outside, can still come; PCT_NEVER:
 * there is no need. */
uint64_t pct_replay_patience(const struct pct_sched *s);
/* Whether the next recorded step is that of a thread which then waited for its deadline, or for one of the host's
 * timers. */
bool pct_replay_jumps(const struct pct_sched *s);
/* Compare the steps made since the last time. */
void pct_replay_check(struct pct_sched *s);
/* How much time passes in the step of an early deadline; now: in this run, us. */
uint64_t pct_replay_microseconds(const struct pct_sched *s, uint64_t now);
/* Whether the next recorded step is this thread's, and of this operation. */
bool pct_replay_expects(const struct pct_sched *s, const struct pct_thread *thread, enum pct_op op);
/* How many jumps of time came before the arrival that is the next recorded step; now: in this run. */
uint32_t pct_replay_outside_jumps(const struct pct_sched *s, uint32_t now);
/* The argument of the next recorded step; now: that of the step of this run. */
uint32_t pct_replay_arg(const struct pct_sched *s, uint32_t now);

/* sites.c, only if sites are recorded. This thread, which runs, has come to the point of its next step, on this object.
 */
void pct_sites_note(struct pct_sched *s, struct pct_thread *self, const struct pct_object *object);
/* It has passed that point: its stack may be wanted. */
void pct_sites_stack(struct pct_sched *s, const struct pct_thread *self);
/* The steps made since the last time are those of the last points of their threads. Before another point is noted. */
void pct_sites_keep_made(struct pct_sched *s);
static inline void pct_sites_keep(struct pct_sched *s)
{
    if (s->sited < pct_steps(s))
        pct_sites_keep_made(s);
}

/* revoke.c */
/* In a replay, before an operation of this thread: make up for the times that it lost the baton before it. */
void pct_revoke_replay(struct pct_sched *s, struct pct_thread *self);
/* The baton goes on; nobody waits in the name of this thread, which had it. */
void pct_revoke_hand_on(struct pct_sched *s, struct pct_thread *thread);

/* pin.c: whether the thread, at a scheduling point, keeps the baton because it is pinned; that is counted. */
bool pct_pinned_passes(struct pct_sched *s, const struct pct_thread *self);

#endif
