/* Deadlines and virtual time. A binary heap of timers by (deadline, order): the deadlines of waits, whose order is the
 * thread's id, and behind them the host's own timers, in order of creation. Only timed waits and those timers touch it. */
#include "internal.h"
#include <errno.h>

uint64_t pct_sched_now(struct pct_sched *s)
{
    return s->step_ns ? s->base + pct_steps(s) * s->step_ns : s->host->now();
}

uint64_t pct_sched_read_clock(struct pct_sched *s)
{
    if (!s->step_ns)
        return s->host->now();
    s->base += PCT_READ_NS;
    if (s->timers_count) {
        /* The next deadline has come nearer, by reads also to an earlier step than the one that the fast path stops at. */
        uint64_t ahead = pct_timer_step(s) - pct_steps(s);
        if (s->stop > s->record && (uint64_t)(s->stop - s->record) > ahead) {
            s->stop = s->record + ahead;
            __atomic_signal_fence(__ATOMIC_SEQ_CST);
            if (__atomic_load_n(&s->attention, __ATOMIC_RELAXED))
                pct_stop_soon(s);
        }
    }
    return pct_sched_now(s);
}

int pct_timer_start(struct pct_sched *s)
{
    /* Address space, not memory: pages are there when they are touched. */
    s->timers = s->host->map(sizeof *s->timers * (PCT_MAX_THREADS + PCT_MAX_TIMERS));
    return s->timers ? 0 : -ENOMEM;
}

static bool before(const struct pct_timer *a, const struct pct_timer *b)
{
    if (a->deadline != b->deadline)
        return a->deadline < b->deadline;
    return a->order < b->order;
}

static void place(struct pct_sched *s, uint32_t i, struct pct_timer *timer)
{
    s->timers[i] = timer;
    timer->place = i + 1;
}

static void sift_up(struct pct_sched *s, uint32_t i)
{
    struct pct_timer *timer = s->timers[i];
    for (; i && before(timer, s->timers[(i - 1) / 2]); i = (i - 1) / 2)
        place(s, i, s->timers[(i - 1) / 2]);
    place(s, i, timer);
}

static void sift_down(struct pct_sched *s, uint32_t i)
{
    struct pct_timer *timer = s->timers[i];
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child + 1 < s->timers_count && before(s->timers[child + 1], s->timers[child]))
            child++;
        if (child >= s->timers_count || !before(s->timers[child], timer))
            break;
        place(s, i, s->timers[child]);
        i = child;
    }
    place(s, i, timer);
}

void pct_timer_add(struct pct_sched *s, struct pct_timer *timer)
{
    place(s, s->timers_count++, timer);
    sift_up(s, s->timers_count - 1);
}

void pct_timer_remove(struct pct_sched *s, struct pct_timer *timer)
{
    if (!timer->place)
        return;
    uint32_t i = timer->place - 1;
    timer->place = 0;
    struct pct_timer *last = s->timers[--s->timers_count];
    if (last == timer)
        return;
    place(s, i, last);
    sift_up(s, i);
    sift_down(s, last->place - 1);
}

void pct_sched_set_timer(struct pct_sched *s, struct pct_timer *timer, uint64_t deadline)
{
    pct_timer_remove(s, timer);
    if (deadline == PCT_NEVER)
        return;
    timer->deadline = deadline;
    pct_timer_add(s, timer);
    pct_stop_soon(s); /* it may be due before the step that the fast path stops at */
}

void pct_timer_expire(struct pct_sched *s)
{
    uint64_t now = pct_sched_now(s);
    while (s->timers_count && s->timers[0]->deadline <= now) {
        struct pct_timer *timer = s->timers[0];
        pct_timer_remove(s, timer);
        timer->fire(s, timer);
    }
}

void pct_timer_jump(struct pct_sched *s)
{
    uint64_t deadline = s->timers[0]->deadline;
    uint64_t now = pct_sched_now(s);
    if (!s->step_ns)
        s->host->sleep(deadline, &s->attention, 0);
    else if (deadline > now)
        s->base += deadline - now;
    pct_timer_expire(s);
    if (!s->step_ns)
        return;
    /* Timers of the host that come again and again, for nobody. */
    s->jumps = s->jumped_at == pct_steps(s) ? s->jumps + 1 : 1;
    s->jumped_at = pct_steps(s);
    if (s->jumps >= PCT_VAIN_JUMPS)
        s->host->end(PCT_VERDICT_LIVELOCK, "timers go off again and again, and no thread can go on");
}

uint64_t pct_timer_step(const struct pct_sched *s)
{
    /* In real time the clock must be looked at now and then. */
    if (!s->step_ns)
        return pct_steps(s) + 64;
    uint64_t step = pct_steps(s), now = s->base + step * s->step_ns, deadline = s->timers[0]->deadline;
    return deadline <= now ? step : step + (deadline - now + s->step_ns - 1) / s->step_ns;
}
