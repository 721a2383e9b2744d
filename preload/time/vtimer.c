/* Timers of the target in virtual time: see vtimer.h. */
#include "vtimer.h"
#include "clock.h"
#include <preload/watchdog/lone.h>
#include <preload/watchdog/watchdog.h>

static uint64_t created; /* this many so far: those created first fire first */

/* Past all expirations up to now, of which there is one at least. Returns how many. One behind PCT_FAR, where the
 * kernel's time ends, never comes. */
static uint64_t advance(struct pct_vtimer *timer, uint64_t now)
{
    uint64_t times = 1 + (now - timer->at + timer->early) / timer->interval;
    uint64_t length = times * timer->interval - timer->early;
    timer->at = timer->at < PCT_FAR && length < PCT_FAR - timer->at ? timer->at + length : PCT_NEVER;
    timer->early = 0;
    return times;
}

static void fire(struct pct_sched *s, struct pct_timer *core)
{
    struct pct_vtimer *timer = (struct pct_vtimer *)core;
    timer->armed = timer->interval != 0;
    timer->held = false;
    uint64_t times = timer->armed ? advance(timer, pct_sched_now(s)) : 1;
    if (timer->armed)
        pct_sched_set_timer(s, core, timer->at);
    timer->expired(timer, times);
}

void pct_vtimer_init(struct pct_vtimer *timer, void (*expired)(struct pct_vtimer *timer, uint64_t times))
{
    *timer = (struct pct_vtimer){ .core = { .order = PCT_MAX_THREADS + created++, .fire = fire }, .expired = expired };
}

void pct_vtimer_set(struct pct_vtimer *timer, uint64_t at, uint64_t interval)
{
    timer->armed = at != PCT_NEVER;
    timer->at = at;
    timer->early = 0;
    timer->interval = !timer->armed ? 0 : interval < PCT_FAR ? interval : PCT_FAR; /* as the kernel cuts it */
    timer->held = false;
    if (timer->expired)
        pct_sched_set_timer(&pct_S, &timer->core, at);
    /* A thread that waits for it in a loop, without a call, may be alone, also in its process. */
    if (timer->expired && timer->armed)
        pct_watchdog_start();
    if (timer->signals && timer->armed)
        pct_lone_watch();
}

uint64_t pct_vtimer_alarm(void)
{
    uint64_t first = PCT_NEVER;
    for (uint32_t i = 0; i < pct_sched_timers(&pct_S); i++) {
        const struct pct_vtimer *timer = (const struct pct_vtimer *)pct_sched_timer(&pct_S, i);
        if (timer->core.fire == fire && timer->signals && !timer->held && timer->core.deadline < first)
            first = timer->core.deadline;
    }
    return first;
}

void pct_vtimer_inherit(struct pct_vtimer *timer)
{
    timer->core = (struct pct_timer){ .order = timer->core.order, .fire = fire };
    if (timer->armed)
        pct_sched_set_timer(&pct_S, &timer->core, timer->at);
}

void pct_vtimer_hold(struct pct_vtimer *timer, uint64_t length)
{
    uint64_t now = pct_sched_now(&pct_S);
    if (!timer->armed)
        return;
    timer->held = true;
    if (timer->at - now < length)
        pct_sched_set_timer(&pct_S, &timer->core, length < PCT_NEVER - now ? now + length : PCT_NEVER);
}

uint64_t pct_vtimer_release(struct pct_vtimer *timer)
{
    uint64_t now = pct_sched_now(&pct_S);
    if (!timer->held)
        return 0;
    timer->held = false;
    uint64_t missed = timer->at <= now ? advance(timer, now) : 0;
    pct_sched_set_timer(&pct_S, &timer->core, timer->at);
    if (timer->signals) /* who watches for it has stopped if it looked while the signal was on its way */
        pct_lone_watch();
    return missed;
}

uint64_t pct_vtimer_left(struct pct_vtimer *timer)
{
    uint64_t now = pct_sched_now(&pct_S);
    if (!timer->armed)
        return 0;
    if (timer->at > now)
        return timer->at - now;
    /* It expires at the next scheduling point; or, if nobody is told, it has. */
    if (timer->expired && !timer->held)
        return 1;
    return timer->interval ? timer->interval - (now - timer->at) % timer->interval : 0;
}

static struct timespec split(uint64_t ns)
{
    return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };
}

void pct_vtimer_gettime(struct pct_vtimer *timer, struct itimerspec *now)
{
    *now = (struct itimerspec){ .it_value = split(pct_vtimer_left(timer)), .it_interval = split(timer->interval) };
}

void pct_vtimer_settime(struct pct_vtimer *timer, clockid_t clock, bool absolute, const struct itimerspec *new)
{
    uint64_t at = PCT_NEVER, now = pct_sched_now(&pct_S), length = pct_nanoseconds(&new->it_value);
    if (length && absolute)
        pct_deadline(clock, &new->it_value, &at);
    else if (length)
        at = pct_deadline_in(length);
    pct_vtimer_set(timer, at, pct_nanoseconds(&new->it_interval));
    /* One that is late already goes off before the call returns. */
    if (timer->expired && at <= now) {
        timer->early = at ? 0 : pct_before_time(clock, &new->it_value);
        pct_sched_set_timer(&pct_S, &timer->core, PCT_NEVER);
        fire(&pct_S, &timer->core);
    }
}
