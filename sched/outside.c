/* Waits that the outside world can end: data on a socket, another process's semaphore, a signal from a terminal.
 *
 * Such a thread first waits like any other, so that what threads of this process do for it stays a matter of the
 * schedule. Only when nothing at all can run does the process wait for real.
 *
 * Kernel waits (descriptors) have predicates that ask the kernel: one of the waiting threads keeps the baton and asks
 * for all, until something comes or the first deadline has passed. The others are sent outside, to wait there without
 * the baton; if nobody has to keep it, it is free, and whoever comes back first takes it, by one compare-and-swap.
 *
 * What comes is recorded, with the time that passed; a replay waits for it at that step, and lets as much time pass. */
#include "internal.h"
#include "races.h"
#include "record.h"

/* How often to ask the host whether a signal may still come, and to look for what a thread has changed that cannot
 * tell; in real time. And how far virtual time may stay behind real time. */
enum { SIGNAL_NS = 10000000, SILENT_NS = 1000000, BEHIND_NS = 1000000000 };

/* When to recall a thread again that was not there yet, virtual; and the limit of its wait, which never comes: a
 * hundred years. */
#define RECALL_NS UINT64_C(1000000)
#define NO_LIMIT_NS UINT64_C(3155760000000000000)

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
        s->kin_outside -= t->wait.kin;
        pct_timer_remove(s, &t->timer);
        s->recallable -= t->recallable;
        t->recallable = false;
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

static bool has_relatives(const struct pct_sched *s)
{
    return s->host->relatives && s->step_ns && (s->recallable || s->host->relatives());
}

/* What only the family can end lasts as long in its time. A replay waits for what was recorded. */
static bool is_recallable(const struct pct_sched *s, const struct pct_wait *wait)
{
    return wait->kin && wait->deadline != PCT_NEVER && s->step_ns && s->host->family && s->host->family() &&
           !pct_is_replay(s);
}

void pct_outside_recall(struct pct_sched *s, struct pct_thread *thread)
{
    if (s->host->recall(thread))
        return;
    thread->timer.deadline = pct_sched_now(s) + RECALL_NS;
    pct_timer_add(s, &thread->timer);
}

void pct_outside_go(struct pct_sched *s, struct pct_thread *thread)
{
    if (s->races)
        pct_races_world(s->races, thread->id, PCT_RACES_RELEASE);
    pct_sched_set_enabled(s, thread, false);
    thread->state = PCT_STATE_OUTSIDE;
    s->outside++;
    thread->recallable = is_recallable(s, &thread->wait);
    thread->wait.kin &= thread->recallable || thread->wait.deadline == PCT_NEVER; /* else its limit is real */
    s->kin_outside += thread->wait.kin;
    if (!thread->recallable)
        return;
    s->recallable++;
    thread->timer.deadline = thread->wait.deadline;
    pct_timer_add(s, &thread->timer);
}

/* Whether time is that of the world, because it could do something that threads wait for: not for those whom only the
 * family could wake; nor for those that wait for a signal, if it may as well be a relative's or that of an own timer.
 */
static bool awaits_world(const struct pct_sched *s, bool relatives)
{
    uint32_t kin = relatives ? s->kernel_kin : 0, kin_outside = relatives ? s->kin_outside : 0;
    uint32_t signals = relatives || (s->timers_count && s->step_ns) ? s->can_both : 0;
    uint32_t can_kin = relatives ? s->can_kin : 0;
    return s->outside > kin_outside || s->can_outside > signals + can_kin || s->kernel_outside > kin || s->stranger ||
           s->foreign & PCT_FOREIGN_SILENT;
}

bool pct_outside_is_world(const struct pct_sched *s)
{
    bool relatives = has_relatives(s);
    return !relatives || awaits_world(s, relatives);
}

bool pct_outside_awaits(const struct pct_sched *s)
{
    return s->outside || s->can_outside || s->kernel_outside || s->stranger || s->foreign & PCT_FOREIGN_SILENT ||
           (s->timers_count && has_relatives(s));
}

bool pct_outside_none(const struct pct_sched *s)
{
    return !s->outside && !s->can_outside && !s->kernel_outside && !has_relatives(s);
}

bool pct_outside_still(const struct pct_sched *s)
{
    return !s->outside && !s->can_outside && !s->kernel_outside &&
           (!has_relatives(s) || (s->host->still && s->host->still()));
}

/* The process can run, if it was idle. How much the family's clock is ahead of its own. What has come by then is known,
 * where relatives go on one at a time: however soon one of this process's threads heard of some of it. */
static uint64_t take_lag(struct pct_sched *s)
{
    uint64_t lag = s->host->busy && s->step_ns ? s->host->busy(pct_sched_now(s)) : 0;
    if (!s->host->turn || !s->host->turn())
        return lag;
    uint64_t now = s->host->busy && s->step_ns ? s->host->busy(pct_sched_now(s)) : 0;
    pct_sched_kernel_changed(s);
    pct_sched_attend(s);
    return now > lag ? now : lag;
}

/* The first deadline of all threads, also of those that are outside. */
static uint64_t first_deadline(const struct pct_sched *s)
{
    uint64_t first = s->timers_count ? s->timers[0]->deadline : PCT_NEVER;
    for (uint32_t id = 0; s->outside && id < s->threads; id++) {
        const struct pct_thread *t = s->thread_at(id);
        if (t->state == PCT_STATE_OUTSIDE && !t->recallable && t->wait.deadline < first)
            first = t->wait.deadline;
    }
    return first;
}

void pct_outside_send(struct pct_sched *s, const struct pct_thread *self)
{
    bool world = awaits_world(s, has_relatives(s));
    s->idle_real = s->host->now();
    s->idle_virtual = pct_sched_now(s);
    /* If nobody is left to keep the baton for the host's timers, those who go come back for them. */
    bool alone = s->timers_count && s->live == s->outside + s->can_outside;
    __atomic_store_n(&s->idle_until, alone ? s->timers[0]->deadline : PCT_NEVER, __ATOMIC_SEQ_CST);
    for (uint32_t id = 0; s->can_outside && id < s->threads; id++) {
        struct pct_thread *t = s->thread_at(id);
        if (pct_state(t) != PCT_STATE_BLOCKED || !t->wait.outside || t->wait.kernel)
            continue;
        if (t->wait.attention && s->timers_count && !world)
            continue; /* a signal of this process's own timer, or a relative's: time may jump */
        pct_sched_end_wait(s, t, PCT_GO_OUTSIDE);
        pct_outside_go(s, t);
        s->uncontrolled[PCT_UNCONTROLLED_OUTSIDE]++;
        if (t != self)
            s->host->release(t);
    }
}

bool pct_outside_strangers(struct pct_sched *s, bool lately)
{
    uint64_t until = s->timers_count ? s->timers[0]->deadline : PCT_NEVER;
    s->stranger_at = s->host->strangers ? s->host->strangers(until, lately) : PCT_NEVER;
    s->stranger = s->stranger_at < until;
    return s->stranger;
}

/* One that is being made is blocked, too, but is not there yet. */
static bool can_keep(const struct pct_thread *thread)
{
    return (pct_state(thread) == PCT_STATE_BLOCKED && thread->wait.op != PCT_OP_THREAD_START) || thread->early;
}

struct pct_thread *pct_outside_keeper(struct pct_sched *s, struct pct_thread *self)
{
    /* One that has finished may hold a lock for a moment: it says when it has given it back, but not to a free baton.
     */
    if (!s->timers_count && !s->reluctant && !s->kernel_outside && !s->can_attention && !s->may_be_signalled &&
        !s->stranger && !(s->foreign & (PCT_FOREIGN_SILENT | PCT_FOREIGN_FINISHED)))
        return NULL;
    /* One that could go on, but is kept back, has nothing else to do; but it is no good to wake it for that. */
    if (self && !self->absent && (can_keep(self) || pct_state(self) == PCT_STATE_ENABLED))
        return self;
    for (uint32_t id = 0; id < s->threads; id++)
        if (can_keep(s->thread_at(id)))
            return s->thread_at(id);
    /* Those who went earlier have no limit: the one that ends stays until a timer has gone off, or somebody is back. */
    return self && self->state == PCT_STATE_FINISHED && !self->absent && s->timers_count && s->outside ? self : NULL;
}

void pct_outside_arrived(struct pct_sched *s, const struct pct_thread *thread, uint64_t passed)
{
    const uint64_t most = (UINT64_C(1) << 37) - 1;
    const uint32_t jumps = pct_replay_outside_jumps(s, pct_timer_jumps(s));
    uint64_t microseconds = passed / 1000 < most ? passed / 1000 : most;
    if (s->step_ns)
        s->base += microseconds * 1000;
    s->rest += s->step_ns ? microseconds * 1000 : 0;
    if (s->host->caught_up)
        s->host->caught_up(microseconds * 1000);
    pct_record(s, thread, PCT_OP_OUTSIDE, jumps << 12 | (uint32_t)(microseconds >> 25),
               (uint32_t)microseconds & 0x1ffffff);
    s->timed = pct_steps(s);
    pct_sched_turn(s);
    pct_timer_expire(s);
}

/* What certainly comes: the run must not depend on when, where nobody else could run. Else where relatives have gone on
 * for long while this process computed: what they do shows their time. A replay knows, however fast it is itself. */
bool pct_outside_was_slow(struct pct_sched *s, const struct pct_thread *thread, const struct pct_wait *wait)
{
    if (pct_is_replay(s))
        return pct_replay_expects(s, thread, PCT_OP_OUTSIDE);
    if (wait->certain)
        return pct_idle_without(s, thread);
    return wait->outside && s->step_ns && s->host->behind && s->host->behind();
}

void pct_outside_awaited(struct pct_sched *s, const struct pct_thread *thread)
{
    if (pct_is_replay(s))
        pct_replay_ready(s); /* feeds it in */
    else
        pct_outside_arrived(s, thread, take_lag(s));
}

/* Whether time that passes comes to nobody's deadline, neither here nor in a relative: they shall come in their order,
 * however slow the machine is. */
static bool orders_nothing(struct pct_sched *s)
{
    return !s->timers_count && (!has_relatives(s) || (s->host->still && s->host->still()));
}

/* How much virtual time is to pass where so much real time has while nothing could run. A run whose steps take longer
 * than PCT_STEP_NS (many switches, a busy machine) falls behind the world that it talks to, whose timeouts and dates
 * are real ones: natively both have the same clock. Only what is more than BEHIND_NS is made up for: the time of most
 * runs then depends on their steps and waits alone. Time that has jumped ahead is not taken back. */
static uint64_t keep_up(struct pct_sched *s, uint64_t passed, bool world)
{
    if (!s->step_ns)
        return passed;
    uint64_t ahead = s->host->now() - pct_sched_now(s) - passed;
    if (!s->met) {
        s->met = true;
        s->ahead = ahead;
    }
    int64_t behind = (int64_t)(ahead - s->ahead);
    return behind > BEHIND_NS && (world || orders_nothing(s)) ? passed + (uint64_t)behind - BEHIND_NS : passed;
}

void pct_outside_note(struct pct_sched *s, uint64_t passed, bool world)
{
    if (pct_is_replay(s))
        return; /* pct_replay_ready() feeds in what was recorded */
    if (pct_idle_over(s) && s->reluctant == 1)
        return; /* nothing has come */
    passed = keep_up(s, passed, world);
    uint32_t first = pct_idle_over(s) ? pct_idle_first(s) : PCT_NO_THREAD;
    if (first != PCT_NO_THREAD && !s->thread_at(first)->early)
        pct_outside_arrived(s, s->thread_at(first), passed);
}

/* How much time has passed while nothing could run, from this real time on: as much as for the family; in the world at
 * least all that. */
static uint64_t passed_since(struct pct_sched *s, uint64_t real, bool world)
{
    uint64_t passed = s->host->now() - real, lag = take_lag(s);
    return world && passed > lag ? passed : lag;
}

/* A stranger that sleeps comes first, however much of its sleep time has jumped over; it then has as long as lies
 * between it and the deadline. */
static uint64_t until_stranger(const struct pct_sched *s, uint64_t virtual, uint64_t until)
{
    if (!s->timers_count || s->stranger_at <= virtual)
        return until;
    uint64_t then = s->host->now() + (s->timers[0]->deadline - s->stranger_at);
    return then > until ? then : until;
}

/* Keeping the baton in real time. */
struct kept {
    bool relatives;         /* there are some */
    bool holds;             /* time does not pass by itself: what was recorded came before the deadline */
    bool world;             /* as awaits_world() */
    uint64_t real, virtual; /* when it began */
    uint64_t deadline;      /* the first one, in virtual time */
    uint64_t until;         /* no longer than this, in real time */
};

enum kept_end { KEPT_ON = -1, KEPT_NOT_DUE, KEPT_DUE };

/* Begin it. Anything but KEPT_ON: it has ended already. */
static enum kept_end begin_kept(struct pct_sched *s, struct kept *k)
{
    bool recorded = s->timers_count && pct_replay_jumps(s);
    k->holds = pct_is_replay(s) && !recorded;
    if (s->timers_count) {
        k->deadline = s->timers[0]->deadline;
        if (k->deadline <= k->virtual || (recorded && !k->relatives))
            return KEPT_DUE;
        if (!k->world && !k->relatives && s->reluctant < 2) {
            /* Only signals, which the kernel may have for them already; and no thread is kept back. */
            pct_sched_attend(s);
            bool over = pct_idle_over(s);
            if (over)
                pct_outside_note(s, 0, true);
            return over ? KEPT_NOT_DUE : KEPT_DUE;
        }
        k->world = k->world && !recorded;
        if (k->world && !k->holds && (!k->relatives || s->stranger))
            k->until = k->real + (k->deadline - k->virtual);
    }
    if (s->may_be_signalled)
        k->until = k->real + SIGNAL_NS;
    return KEPT_ON;
}

/* Kernel waits are asked again behind a sleep: what has come meanwhile no thread of this process has brought about. */
static void ask_slept(struct pct_sched *s)
{
    for (struct pct_thread *t = s->kernel_waits; t; t = t->kernel_next) {
        bool before = pct_state(t) == PCT_STATE_ENABLED;
        pct_sched_ask(s, t);
        if (!before && pct_state(t) == PCT_STATE_ENABLED && t->wait.outside && !s->sent)
            s->sent = s->host->sent(t);
    }
}

/* Sleep until something may have come. True: no relative can run before the deadline. */
static bool sleep_once(struct pct_sched *s, const struct kept *k)
{
    const bool tells = s->host->sent && !s->sent && !k->relatives;
    if (tells) {
        /* What is there already is perhaps its own doing, by ways that no point tells of. */
        const uint32_t enabled = s->enabled;
        pct_sched_kernel_changed(s);
        if (s->enabled != enabled)
            return false;
    }
    bool silent = s->stranger || s->foreign & PCT_FOREIGN_SILENT;
    uint64_t soon = s->host->now() + SILENT_NS, next = silent && soon < k->until ? soon : k->until, again = PCT_NEVER;
    /* For relatives, what holds back its time has no deadline: they go to theirs. */
    uint64_t first = k->holds ? PCT_NEVER : first_deadline(s);
    /* Nor does it pass while a thread could go on that is kept back. */
    bool passed = k->relatives && s->reluctant < 2 && s->host->idle(k->virtual, first, k->world, &again);
    if (k->holds || (s->stranger && s->host->now() < k->until))
        passed = false;
    /* That of one that is outside: it comes back by itself, before the deadlines that are later. */
    if (passed && !(s->timers_count && s->timers[0]->deadline <= first))
        passed = false;
    if (again < next)
        next = again;
    if (pct_replay_patience(s) < next)
        next = pct_replay_patience(s);
    if (passed)
        ; /* no relative can run: what they have done is there */
    else if (s->kernel_outside || (silent && s->kernel_waits))
        s->host->poll(next, &s->due, pct_sched_undisturbed(s), s->kernel_waits);
    else
        pct_sched_sleep(s, next);
    if (tells)
        ask_slept(s);
    else
        pct_sched_kernel_changed(s);
    if (pct_is_due(s, PCT_DUE_ATTENTION) || silent || s->can_both)
        pct_sched_attend(s);
    return passed;
}

/* Behind a sleep. */
static enum kept_end slept(struct pct_sched *s, struct kept *k, bool passed)
{
    if (pct_idle_over(s)) {
        bool world = k->world || !k->relatives;
        pct_outside_note(s, passed_since(s, k->real, world), world);
        return KEPT_NOT_DUE;
    }
    if (k->holds && s->timers_count && pct_replay_jumps(s))
        return KEPT_NOT_DUE;
    if (passed)
        return KEPT_DUE;
    if (s->stranger && pct_outside_strangers(s, false) && !pct_is_replay(s))
        k->until = until_stranger(s, k->virtual, k->until);
    bool goes_to_deadline = k->relatives && k->deadline != PCT_NEVER;
    if (!s->kernel_outside && !s->outside && !s->can_attention && !s->stranger && !(s->foreign & PCT_FOREIGN_SILENT) &&
        !goes_to_deadline)
        return KEPT_NOT_DUE; /* who could have come no longer waits */
    return goes_to_deadline || s->host->now() < k->until ? KEPT_ON : KEPT_DUE;
}

/* Keep the baton in real time. True: the first deadline is due. */
static bool keep(struct pct_sched *s, bool relatives)
{
    struct kept k = { .relatives = relatives,
                      .world = awaits_world(s, relatives),
                      .real = s->host->now(),
                      .virtual = pct_sched_now(s),
                      .deadline = PCT_NEVER,
                      .until = PCT_NEVER };
    enum kept_end end = begin_kept(s, &k);
    bool reluctant = false;
    while (end == KEPT_ON) {
        /* The strategy may have become so only by what came meanwhile. */
        if (s->reluctant > 1 && s->reluctant < k.until) {
            k.until = s->reluctant;
            reluctant = true;
        }
        end = slept(s, &k, sleep_once(s, &k));
    }
    return end == KEPT_DUE && !reluctant;
}

void pct_outside_keep(struct pct_sched *s)
{
    bool due = keep(s, has_relatives(s));
    /* Exactly: a run to which nothing came does not depend on how long the sleep took. */
    if (due && s->timers_count)
        pct_timer_jump(s);
    take_lag(s);
}

/* Free the baton. False: somebody has come back before it was. */
static bool set_free(struct pct_sched *s)
{
    __atomic_store_n(&s->idle, 1, __ATOMIC_SEQ_CST);
    return !__atomic_load_n(&s->arrivals, __ATOMIC_SEQ_CST) || !take(s);
}

bool pct_outside_idle(struct pct_sched *s)
{
    if (s->timers_count && pct_replay_jumps(s)) {
        pct_timer_jump(s);
        return false;
    }
    bool relatives = has_relatives(s);
    uint64_t again, first = pct_is_replay(s) ? PCT_NEVER : first_deadline(s);
    if (relatives)
        s->host->idle(pct_sched_now(s), first, awaits_world(s, true), &again);
    s->idle_deadline = s->timers_count && !pct_is_replay(s) ? s->timers[0]->deadline : PCT_NEVER;
    if ((s->idle_deadline != PCT_NEVER || pct_replay_patience(s) != PCT_NEVER) && s->host->tend)
        s->host->tend();
    if (set_free(s))
        return true;
    take_lag(s);
    return false;
}

/* How much time has passed when this thread takes the baton that was free. Exactly as much as until its deadline, if
 * that is why it is back: a run to which nothing came does not depend on how late the kernel was. */
static uint64_t passed_until(struct pct_sched *s, const struct pct_thread *self, bool world)
{
    uint64_t passed = passed_since(s, s->idle_real, world);
    uint64_t limit = has_relatives(s) ? PCT_NEVER : pct_sched_outside_limit(s, self);
    return passed < limit ? passed : limit;
}

/* The baton was free and is taken up again, because this thread, and perhaps others, has come back. */
static void resume(struct pct_sched *s, const struct pct_thread *thread)
{
    bool world = pct_outside_is_world(s);
    uint64_t passed = passed_until(s, thread, world);
    pct_outside_drain(s);
    pct_outside_note(s, passed, world);
    pct_timer_expire(s);
}

/* Nobody has the baton: whether the first timer is due. */
static bool timer_is_due(struct pct_sched *s)
{
    uint64_t again, length = s->idle_deadline - s->idle_virtual;
    if (pct_outside_is_world(s))
        return s->host->now() - s->idle_real >= length;
    return s->host->idle(s->idle_virtual, s->idle_deadline, false, &again);
}

/* Whether a replay is to look whether what it waits for can still come. Asked without the baton, too. */
static bool looks_again(const struct pct_sched *s)
{
    uint64_t until = pct_replay_patience(s);
    return until != PCT_NEVER && until <= s->host->now();
}

void pct_sched_tend(struct pct_sched *s)
{
    /* Whoever takes the baton sees what stood there when it was freed. */
    bool timer = s->idle_deadline != PCT_NEVER;
    if (!__atomic_load_n(&s->idle, __ATOMIC_SEQ_CST) || (!timer && !looks_again(s)) || !take(s))
        return;
    /* Asked last: one that has come back, and sleeps by now, is nobody who could still do something. */
    bool due = timer && timer_is_due(s) && !__atomic_load_n(&s->arrivals, __ATOMIC_SEQ_CST);
    if (looks_again(s) && !__atomic_load_n(&s->arrivals, __ATOMIC_SEQ_CST))
        pct_replay_ready(s); /* which may end the run */
    if (due) {
        pct_timer_jump(s);
        take_lag(s);
    } else if (__atomic_load_n(&s->arrivals, __ATOMIC_SEQ_CST) || !set_free(s)) {
        resume(s, __atomic_load_n(&s->arrivals, __ATOMIC_SEQ_CST));
    } else {
        return;
    }
    struct pct_thread *outside = NULL;
    for (uint32_t id = 0; id < s->threads && !outside; id++)
        if (s->thread_at(id)->state == PCT_STATE_OUTSIDE)
            outside = s->thread_at(id);
    /* The caller has none of the target's descriptors, but need not be kept from asking (s->unasked): where a timer is
     * armed, one that waits in the kernel would have kept the baton; in a replay without, it waits for a thread of this
     * process, and the recording says when that has gone on. */
    struct pct_thread *next = pct_sched_next(s, outside);
    if (next) {
        s->switches++;
        s->host->release(next);
    }
}

void pct_sched_leave(struct pct_sched *s, struct pct_thread *self, enum pct_op op, struct pct_object *object,
                     uint64_t deadline, bool kin)
{
    pct_sched_arrive(s, self, op, object);
    self->wait = (struct pct_wait){ .op = op, .object = object, .deadline = deadline, .kin = kin };
    self->wait.kin |= op == PCT_OP_CHILD_WAIT;
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
    /* Read without the baton: idle_virtual may be a later time than that at which this thread was let go; then it is
     * back too early, and waits again. */
    uint64_t deadline = self->wait.deadline, until = __atomic_load_n(&s->idle_until, __ATOMIC_SEQ_CST);
    if (self->recallable)
        return NO_LIMIT_NS;
    if (until < deadline)
        deadline = until;
    if (deadline == PCT_NEVER)
        return PCT_NEVER;
    return deadline > s->idle_virtual ? deadline - s->idle_virtual : 0;
}

static void arrive(struct pct_sched *s, struct pct_thread *thread)
{
    struct pct_thread *head = __atomic_load_n(&s->arrivals, __ATOMIC_RELAXED);
    do
        thread->arrival = head;
    while (!__atomic_compare_exchange_n(&s->arrivals, &head, thread, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    pct_sched_attention(s);
}

void pct_sched_return_gone(struct pct_sched *s, struct pct_thread *thread)
{
    thread->absent = true;
    arrive(s, thread);
    if (!take(s))
        return;
    s->unasked = true;
    resume(s, thread);
    pct_revoke_hand_on(s, thread);
}

void pct_sched_return(struct pct_sched *s, struct pct_thread *self)
{
    arrive(s, self);
    if (!take(s)) {
        s->host->park(self);
    } else {
        resume(s, self);
        pct_sched_pass(s, self, pct_sched_next(s, self));
    }
    pct_sched_came_back(s, self);
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
        __atomic_fetch_and(&s->due, ~(uint32_t)PCT_DUE_ATTENTION, __ATOMIC_SEQ_CST);
        const struct pct_thread *come = __atomic_load_n(&s->arrivals, __ATOMIC_ACQUIRE);
        while (come && !these(come, arg))
            come = come->arrival;
        if (come || s->host->now() >= until)
            break;
        pct_sched_sleep(s, until);
    }
    s->current = current;
    pct_sched_attention(s);
}
