/* Waits that the outside world can end: data on a socket, another process's semaphore, a signal from a terminal.
 *
 * Such a thread first waits like any other, so that what threads of this process do for it stays a matter of the schedule.
 * Only when nothing at all can run does the process wait for real.
 *
 * Polled waits (descriptors) have predicates that ask the kernel: one of the waiting threads keeps the baton and asks for
 * all, until something comes or the first deadline has passed. The others are sent outside, to wait there without the baton;
 * if nobody has to keep it, it is free, and whoever comes back first takes it, by one compare-and-swap.
 *
 * What comes is recorded, with the time that passed; a replay waits for it at that step, and lets as much time pass. */
#include "internal.h"
#include "races.h"
#include "record.h"

/* How often to ask the host whether there still is hope, and to look for what a thread has changed that cannot tell; in real
 * time. And how far virtual time may stay behind real time. */
enum { HOPE_NS = 10000000, SILENT_NS = 1000000, BEHIND_NS = 1000000000 };

void pct_outside_drain(struct pct_sched *s)
{
    struct pct_thread *t = NULL, *last = __atomic_exchange_n(&s->arrivals, NULL, __ATOMIC_ACQUIRE);
    /* The list has the last to come first. */
    while (last) {
        struct pct_thread *before = last->arrival;
        last->arrival = t;
        t = last;
        last = before;
    }
    while (t) {
        struct pct_thread *next = t->arrival;
        s->outside--;
        t->state = PCT_STATE_BLOCKED;
        pct_sched_set_enabled(s, t, true);
        t = next;
    }
}

/* Take the baton if it is free. */
static bool take(struct pct_sched *s)
{
    uint32_t free = 1;
    return __atomic_compare_exchange_n(&s->idle, &free, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

void pct_outside_go(struct pct_sched *s, struct pct_thread *thread)
{
    if (s->races)
        pct_races_world(s->races, thread->id, PCT_RACES_RELEASE);
    pct_sched_set_enabled(s, thread, false);
    thread->state = PCT_STATE_OUTSIDE;
    s->outside++;
}

void pct_outside_send(struct pct_sched *s, const struct pct_thread *self)
{
    s->idle_real = s->host->now();
    s->idle_virtual = pct_sched_now(s);
    /* If nobody is left to keep the baton for the host's timers, those who go come back for them. */
    bool alone = s->timers_count && s->live == s->outside + s->can_outside;
    __atomic_store_n(&s->idle_until, alone ? s->timers[0]->deadline : PCT_NEVER, __ATOMIC_SEQ_CST);
    for (uint32_t id = 0; s->can_outside && id < s->threads; id++) {
        struct pct_thread *t = s->thread_at(id);
        if (t->state != PCT_STATE_BLOCKED || !t->wait.outside || t->wait.polled)
            continue;
        pct_sched_end_wait(s, t, PCT_GO_OUTSIDE);
        pct_outside_go(s, t);
        s->uncontrolled[PCT_UNCONTROLLED_OUTSIDE]++;
        if (t != self)
            s->host->release(t);
    }
}

struct pct_thread *pct_outside_keeper(struct pct_sched *s, struct pct_thread *self)
{
    if (!s->timers_count && !s->polled_outside && !s->can_attention && !s->hope && !(s->foreign & PCT_FOREIGN_SILENT))
        return NULL;
    if (self && (self->state == PCT_STATE_BLOCKED || self->early))
        return self;
    for (uint32_t id = 0; id < s->threads; id++)
        if (s->thread_at(id)->state == PCT_STATE_BLOCKED || s->thread_at(id)->early)
            return s->thread_at(id);
    return NULL;
}

void pct_outside_arrived(struct pct_sched *s, const struct pct_thread *thread, uint64_t passed)
{
    const uint64_t most = (UINT64_C(1) << 41) - 1;
    uint64_t microseconds = passed / 1000 < most ? passed / 1000 : most;
    if (s->step_ns)
        s->base += microseconds * 1000;
    pct_record(s, thread, PCT_OP_OUTSIDE, (uint32_t)(microseconds >> 25), (uint32_t)microseconds & 0x1ffffff);
    s->timed = pct_steps(s);
    if (s->replay)
        pct_replay_check(s);
    if (s->record == s->block + PCT_TRACE_BLOCK)
        pct_record_turn(s);
    pct_timer_expire(s);
}

/* How much virtual time is to pass where so much real time has while nothing could run. A run whose steps take longer than
 * PCT_STEP_NS (many switches, a busy machine) falls behind the world that it talks to, whose timeouts and dates are real ones:
 * natively both have the same clock. Only what is more than BEHIND_NS is made up for: the time of most runs then hangs on
 * their steps and waits alone. Time that has jumped ahead is not taken back. */
static uint64_t keep_up(struct pct_sched *s, uint64_t passed)
{
    if (!s->step_ns)
        return passed;
    uint64_t ahead = s->host->now() - pct_sched_now(s) - passed;
    if (!s->met) {
        s->met = true;
        s->ahead = ahead;
    }
    int64_t behind = (int64_t)(ahead - s->ahead);
    return behind > BEHIND_NS ? passed + (uint64_t)behind - BEHIND_NS : passed;
}

void pct_outside_note(struct pct_sched *s, uint64_t passed)
{
    passed = keep_up(s, passed);
    for (uint32_t id = 0; id < s->threads; id++)
        if (s->thread_at(id)->state == PCT_STATE_ENABLED && !s->thread_at(id)->early) {
            pct_outside_arrived(s, s->thread_at(id), passed);
            return;
        }
}

void pct_outside_keep(struct pct_sched *s)
{
    uint64_t real = s->host->now(), virtual = pct_sched_now(s), until = PCT_NEVER;
    if (s->timers_count) {
        uint64_t deadline = s->timers[0]->deadline;
        until = deadline > virtual ? real + (deadline - virtual) : real;
        if (deadline <= virtual || (s->replay && pct_replay_jumps(s))) {
            pct_timer_jump(s);
            return;
        }
    }
    if (s->replay)
        until = PCT_NEVER; /* what was recorded came before the deadline */
    if (s->hope)
        until = real + HOPE_NS;
    bool silent = s->foreign & PCT_FOREIGN_SILENT;
    do {
        uint64_t soon = s->host->now() + SILENT_NS, next = silent && soon < until ? soon : until;
        if (s->polled_outside || (silent && s->polled))
            s->host->poll(next, &s->attention, 0, s->polled);
        else
            s->host->sleep(next, &s->attention, 0);
        pct_sched_kernel_changed(s);
        if (s->attention || silent)
            pct_sched_attend(s);
        if (s->replay && (pct_replay_ready(s) || (s->timers_count && pct_replay_jumps(s))))
            return;
        if (!s->replay && pct_ready_now(s)) {
            pct_outside_note(s, s->host->now() - real);
            return;
        }
        if (!s->polled_outside && !s->outside && !s->can_attention && !silent)
            return; /* who could have come no longer waits */
    } while (s->host->now() < until);
    /* Exactly: a run to which nothing came does not depend on how long the sleep took. */
    if (s->timers_count)
        pct_timer_jump(s);
}

bool pct_outside_idle(struct pct_sched *s)
{
    __atomic_store_n(&s->idle, 1, __ATOMIC_SEQ_CST);
    /* Somebody may have come back before the baton was free. */
    if (__atomic_load_n(&s->arrivals, __ATOMIC_SEQ_CST) && take(s))
        return false;
    return true;
}

void pct_sched_leave(struct pct_sched *s, struct pct_thread *self, enum pct_op op, struct pct_object *object)
{
    s->current = NULL;
    pct_sched_keep_house(s);
    if (s->sites)
        pct_sites_note(s, self, object);
    pct_stuck_replay(s, self);
    self->wait = (struct pct_wait){ .op = op, .object = object, .deadline = PCT_NEVER };
    pct_sched_announce(s, self);
    pct_outside_go(s, self);
    s->uncontrolled[PCT_UNCONTROLLED_OUTSIDE]++;
    pct_sched_pass_on(s, self);
}

void pct_sched_pass_on(struct pct_sched *s, struct pct_thread *thread)
{
    struct pct_thread *next = pct_sched_next(s, thread);
    if (next) {
        s->switches++;
        s->host->go(thread, next);
    }
}

uint64_t pct_sched_outside_limit(struct pct_sched *s, const struct pct_thread *self)
{
    /* Read without the baton: idle_virtual may be a later time than that at which this thread was let go; then it is back
     * too early, and waits again. */
    uint64_t deadline = self->wait.deadline, until = __atomic_load_n(&s->idle_until, __ATOMIC_SEQ_CST);
    if (until < deadline)
        deadline = until;
    if (deadline == PCT_NEVER)
        return PCT_NEVER;
    return deadline > s->idle_virtual ? deadline - s->idle_virtual : 0;
}

void pct_sched_return(struct pct_sched *s, struct pct_thread *self)
{
    struct pct_thread *head = __atomic_load_n(&s->arrivals, __ATOMIC_RELAXED);
    do
        self->arrival = head;
    while (!__atomic_compare_exchange_n(&s->arrivals, &head, self, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    pct_sched_attention(s);
    if (!take(s)) {
        s->host->park(self);
    } else {
        pct_outside_drain(s);
        if (!s->replay)
            pct_outside_note(s, s->host->now() - s->idle_real);
        pct_timer_expire(s);
        pct_sched_pass(s, self, pct_sched_next(s, self));
    }
    s->current = self;
    if (s->races)
        pct_races_world(s->races, self->id, PCT_RACES_ACQUIRE);
}

void pct_sched_expect(struct pct_sched *s, bool (*these)(const struct pct_thread *thread, uint64_t arg), uint64_t arg)
{
    /* A holder that sleeps here is not stuck. */
    struct pct_thread *current = s->current;
    uint64_t until = s->host->now() + PCT_EXPECT_NS;
    s->current = NULL;
    for (;;) {
        __atomic_store_n(&s->attention, 0, __ATOMIC_SEQ_CST);
        const struct pct_thread *come = __atomic_load_n(&s->arrivals, __ATOMIC_ACQUIRE);
        while (come && !these(come, arg))
            come = come->arrival;
        if (come || s->host->now() >= until)
            break;
        s->host->sleep(until, &s->attention, 0);
    }
    s->current = current;
    pct_sched_attention(s);
}
