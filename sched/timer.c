/* Deadlines and virtual time. A binary heap of timers by (deadline, order): the deadlines of waits, whose order is the
 * thread's id, and behind them the host's own timers, in order of creation. Only timed waits and those timers touch it.
 * pct_timer_expire() fires those that are due, before a scheduling point or behind a jump of time; of a wait, that is
 * time_out() in threads.c. A second heap has when deadlines come near (slack.c): nothing that waits for time looks at
 * it. */
#include "internal.h"
#include "log.h"
#include <errno.h>

uint64_t pct_sched_now(const struct pct_sched *s)
{
    if (s->still)
        return s->base;
    return s->step_ns ? s->base + pct_steps(s) * s->step_ns : s->host->now();
}

uint64_t pct_sched_read_clock(struct pct_sched *s)
{
    if (s->still)
        return s->base;
    if (!s->step_ns)
        return s->host->now();
    s->base += PCT_READ_NS;
    if (s->timers_count) {
        /* The next deadline has come nearer, by reads also to an earlier step than the one that the fast path stops at.
         */
        uint64_t ahead = pct_timer_step(s) - pct_steps(s);
        if (s->stop > s->record && (uint64_t)(s->stop - s->record) > ahead) {
            s->stop = s->record + ahead;
            __atomic_signal_fence(__ATOMIC_SEQ_CST);
            if (pct_is_due(s, UINT32_MAX))
                pct_stop_soon(s);
        }
    }
    return pct_sched_now(s);
}

int pct_timer_start(struct pct_sched *s)
{
    /* Address space, not memory: pages are there when they are touched. */
    s->timers = s->host->map(sizeof *s->timers * (PCT_MAX_THREADS + PCT_MAX_TIMERS));
    s->nearing = s->host->map(sizeof *s->nearing * PCT_MAX_THREADS);
    return s->timers && s->nearing ? 0 : -ENOMEM;
}

static bool before(const struct pct_timer *a, const struct pct_timer *b)
{
    if (a->deadline != b->deadline)
        return a->deadline < b->deadline;
    return a->order < b->order;
}

static void place(struct pct_timer **heap, uint32_t i, struct pct_timer *timer)
{
    heap[i] = timer;
    timer->place = i + 1;
}

static void sift_up(struct pct_timer **heap, uint32_t i)
{
    struct pct_timer *timer = heap[i];
    for (; i && before(timer, heap[(i - 1) / 2]); i = (i - 1) / 2)
        place(heap, i, heap[(i - 1) / 2]);
    place(heap, i, timer);
}

static void sift_down(struct pct_timer **heap, uint32_t count, uint32_t i)
{
    struct pct_timer *timer = heap[i];
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child + 1 < count && before(heap[child + 1], heap[child]))
            child++;
        if (child >= count || !before(heap[child], timer))
            break;
        place(heap, i, heap[child]);
        i = child;
    }
    place(heap, i, timer);
}

static void add(struct pct_timer **heap, uint32_t *count, struct pct_timer *timer)
{
    place(heap, (*count)++, timer);
    sift_up(heap, *count - 1);
}

static void take_out(struct pct_timer **heap, uint32_t *count, struct pct_timer *timer)
{
    if (!timer->place)
        return;
    uint32_t i = timer->place - 1;
    timer->place = 0;
    struct pct_timer *last = heap[--*count];
    if (last == timer)
        return;
    place(heap, i, last);
    sift_up(heap, i);
    sift_down(heap, *count, last->place - 1);
}

void pct_timer_add(struct pct_sched *s, struct pct_timer *timer)
{
    add(s->timers, &s->timers_count, timer);
}

void pct_timer_remove(struct pct_sched *s, struct pct_timer *timer)
{
    take_out(s->timers, &s->timers_count, timer);
}

void pct_timer_add_nearing(struct pct_sched *s, struct pct_timer *timer)
{
    add(s->nearing, &s->nearing_count, timer);
}

void pct_timer_remove_nearing(struct pct_sched *s, struct pct_timer *timer)
{
    take_out(s->nearing, &s->nearing_count, timer);
}

void pct_sched_set_timer(struct pct_sched *s, struct pct_timer *timer, uint64_t deadline)
{
    pct_timer_remove(s, timer);
    if (deadline == PCT_NEVER)
        return;
    s->fixed_deadlines++;
    timer->deadline = deadline;
    pct_timer_add(s, timer);
    pct_stop_soon(s); /* it may be due before the step that the fast path stops at */
}

void pct_timer_expire(struct pct_sched *s)
{
    uint64_t now = pct_sched_now(s);
    if (PCT_UNLIKELY(s->unasked))
        return; /* some fire by descriptors */
    while (s->timers_count && s->timers[0]->deadline <= now) {
        struct pct_timer *timer = s->timers[0];
        pct_timer_remove(s, timer);
        timer->fire(s, timer);
    }
    while (s->nearing_count && s->nearing[0]->deadline <= now) {
        struct pct_timer *timer = s->nearing[0];
        pct_timer_remove_nearing(s, timer);
        timer->fire(s, timer);
    }
}

/* Whether a thread waits for a deadline: the timers of the host come behind those of threads. */
static bool waits_for_time(const struct pct_sched *s)
{
    for (uint32_t i = 0; i < s->timers_count; i++)
        if (s->timers[i]->order < PCT_MAX_THREADS)
            return true;
    return false;
}

/* Timers of the host have gone off often enough, and woken nobody. */
static bool is_vain(const struct pct_sched *s, bool waited)
{
    return s->jumps >= PCT_VAIN_JUMPS && (s->jumps >= PCT_MOST_JUMPS || !waited) && pct_outside_none(s);
}

uint32_t pct_timer_jumps(const struct pct_sched *s)
{
    return s->jumped_at == pct_steps(s) ? s->jumps : 0;
}

/* All that are due by this deadline fire. */
static void jump_to(struct pct_sched *s, uint64_t deadline)
{
    pct_log(s, PCT_LOG_JUMP, 0, 0);
    if (pct_readiness_now(s))
        pct_log_doubt(s, PCT_DOUBT_JUMP);
    uint64_t now = pct_sched_now(s);
    const bool rests = !pct_readiness_now(s);
    /* Timers of the host that come again and again, for nobody: this one may be for a thread. */
    const uint32_t jumps = pct_timer_jumps(s) + 1;
    const bool waited = jumps >= PCT_VAIN_JUMPS && waits_for_time(s);
    if (!s->step_ns)
        pct_sched_sleep(s, deadline);
    else if (deadline > now)
        s->base += deadline - now;
    if (rests && s->step_ns && deadline > now)
        s->rest += deadline - now;
    pct_timer_expire(s);
    if (!s->step_ns)
        return;
    s->jumps = jumps;
    s->jumped_at = pct_steps(s);
    if (is_vain(s, waited))
        s->host->end(PCT_VERDICT_LIVELOCK, "timers go off again and again, and no thread can go on");
}

void pct_timer_jump(struct pct_sched *s)
{
    jump_to(s, s->timers[0]->deadline);
}

void pct_timer_jump_far(struct pct_sched *s)
{
    const uint64_t near = pct_sched_now(s) + PCT_STUCK_NS;
    uint64_t first = PCT_NEVER;
    for (uint32_t i = 0; s->step_ns && i < s->timers_count; i++)
        if (s->timers[i]->deadline > near && s->timers[i]->deadline < first)
            first = s->timers[i]->deadline;
    jump_to(s, first == PCT_NEVER ? s->timers[0]->deadline : first);
}

uint64_t pct_timer_step(const struct pct_sched *s)
{
    /* In real time the clock must be looked at now and then. */
    if (!s->step_ns)
        return pct_steps(s) + 64;
    uint64_t step = pct_steps(s), now = pct_sched_now(s), deadline = s->timers[0]->deadline;
    if (s->nearing_count && s->nearing[0]->deadline < deadline)
        deadline = s->nearing[0]->deadline;
    if (s->still)
        return deadline <= now ? step : PCT_UNLIMITED;
    return deadline <= now ? step : step + (deadline - now + s->step_ns - 1) / s->step_ns;
}
