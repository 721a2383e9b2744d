/* alarm, ualarm, setitimer: the process's one timer in real time, here in virtual time. Its SIGALRM goes to the first
 * thread if that does not block it, else to the lowest that does not. The timers that count CPU time are the kernel's.
 */
#include <preload/core/pass.h>
#include <preload/core/user_memory.h>
#include <preload/signals/signals.h>
#include "clock.h"
#include "cpu_timer.h"
#include "vtimer.h"

static struct pct_vtimer alarm_timer;

static uint64_t patience; /* virtual ns until it looks again; set() sets it */

void pct_itimer_taken(siginfo_t *info)
{
    if (info->si_signo == SIGALRM && alarm_timer.expired && pct_holder()) {
        patience = 0;
        pct_vtimer_release(&alarm_timer);
    }
    if (info->si_signo == SIGALRM && info->si_code == SI_TIMER && info->si_timerid == PCT_ITIMER_ID)
        *info = (siginfo_t){ .si_signo = SIGALRM, .si_code = SI_KERNEL };
    if ((info->si_signo == SIGVTALRM || info->si_signo == SIGPROF) && info->si_code == SI_KERNEL && pct_holder())
        pct_cpu_timer_taken(pct_cpu_timer_of(info->si_signo == SIGPROF ? ITIMER_PROF : ITIMER_VIRTUAL), 1);
}

static void expired(struct pct_vtimer *timer, uint64_t times)
{
    (void)times; /* of SIGALRM one is pending at most */
    siginfo_t info = { .si_signo = SIGALRM, .si_code = SI_KERNEL };
    if (!pct_signal_direct_any(NULL, &info) && !pct_signal_queue(NULL, &info))
        pct_signal_given(NULL, SIGALRM);
    pct_signal_sent();
    patience = !patience ? PCT_VTIMER_LOOK_NS : patience < PCT_NEVER / 2 ? 2 * patience : PCT_NEVER;
    pct_vtimer_hold(timer, patience);
}

bool pct_itimer_is(const struct pct_timer *timer)
{
    return timer == &alarm_timer.core;
}

void pct_itimer_forget(void)
{
    alarm_timer = (struct pct_vtimer){ 0 };
}

static uint64_t ns_of(const struct timeval *t)
{
    const struct timespec same = { t->tv_sec, t->tv_usec * 1000 };
    return pct_nanoseconds(&same);
}

/* Microseconds, but never 0 for something. */
static struct timeval tv_of(uint64_t ns)
{
    uint64_t us = (ns + 999) / 1000;
    return (struct timeval){ .tv_sec = (time_t)(us / 1000000), .tv_usec = (suseconds_t)(us % 1000000) };
}

void pct_itimer_leave(void)
{
    const uint64_t left = alarm_timer.expired ? pct_vtimer_left(&alarm_timer) : 0;
    const struct itimerval same = { .it_value = tv_of(left), .it_interval = tv_of(alarm_timer.interval) };
    if (left)
        REAL(setitimer)(ITIMER_REAL, &same, NULL);
}

/* Arm it, in ns from now, 0: disarm it; returns what was left. */
static uint64_t set(struct pct_shim_thread *self, uint64_t value, uint64_t interval)
{
    pct_here(self, PCT_OP_TIMER_SET);
    if (!alarm_timer.expired)
        pct_vtimer_init(&alarm_timer, expired);
    alarm_timer.signals = true;
    uint64_t left = pct_vtimer_left(&alarm_timer), at = value ? pct_deadline_in(value) : PCT_NEVER;
    patience = 0;
    pct_vtimer_set(&alarm_timer, at, interval);
    pct_done(self, PCT_OP_TIMER_SET, 0, NULL);
    return left;
}

static bool valid(const struct timeval *t)
{
    return t->tv_sec >= 0 && t->tv_usec >= 0 && t->tv_usec < 1000000;
}

static int fail(int error)
{
    errno = error;
    return -1;
}

/* One of those that count CPU time. */
static int set_cpu_time(__itimer_which_t which, const struct itimerval *new, struct itimerval *old)
{
    const int number = pct_cpu_timer_of(which), failed = REAL(setitimer)(which, new, old);
    const uint64_t value = !failed && new ? ns_of(&new->it_value) : 0;
    if (!failed)
        pct_cpu_timer_made(number);
    if (value)
        pct_cpu_timer_set(number, pct_cpu_time() + value, ns_of(&new->it_interval));
    return failed;
}

PCT_EXPORT int setitimer(__itimer_which_t which, const struct itimerval *restrict new, struct itimerval *restrict old)
{
    PCT_ENTER(self);
    struct itimerval wanted = { 0 };
    __asm__("" : "+r"(new)); /* declared nonnull, but NULL disarms */
    if (pct_vtimer_virtual(self) && (which == ITIMER_VIRTUAL || which == ITIMER_PROF))
        return AT_POINT(self, PCT_OP_TIMER_SET, set_cpu_time(which, new, old));
    if (!pct_vtimer_virtual(self) || which != ITIMER_REAL)
        return AT_POINT(self, PCT_OP_TIMER_SET, REAL(setitimer)(which, new, old));
    if (new && !pct_user_copy_in(&wanted, new, sizeof wanted))
        return REAL(setitimer)(which, new, old); /* EFAULT */
    if (!valid(&wanted.it_value) || !valid(&wanted.it_interval))
        return fail(EINVAL);
    uint64_t interval = alarm_timer.interval;
    uint64_t left = set(self, ns_of(&wanted.it_value), ns_of(&wanted.it_interval));
    const struct itimerval before = { .it_value = tv_of(left), .it_interval = tv_of(interval) };
    return old && !pct_user_copy_out(old, &before, sizeof before) ? fail(EFAULT) : 0;
}

PCT_EXPORT int getitimer(__itimer_which_t which, struct itimerval *now)
{
    PCT_ENTER(self);
    if (!pct_vtimer_virtual(self) || which != ITIMER_REAL)
        return REAL(getitimer)(which, now);
    const struct itimerval state = { .it_value = tv_of(pct_vtimer_left(&alarm_timer)),
                                     .it_interval = tv_of(alarm_timer.interval) };
    return pct_user_copy_out(now, &state, sizeof state) ? 0 : fail(EFAULT);
}

PCT_EXPORT unsigned alarm(unsigned seconds)
{
    PCT_ENTER(self);
    if (!pct_vtimer_virtual(self))
        return AT_POINT(self, PCT_OP_TIMER_SET, REAL(alarm)(seconds));
    uint64_t left = set(self, seconds * UINT64_C(1000000000), 0);
    /* As the kernel rounds: to the nearest second, but not to 0. */
    return left && left < 500000000 ? 1 : (unsigned)((left + 500000000) / 1000000000);
}

PCT_EXPORT useconds_t ualarm(useconds_t value, useconds_t interval)
{
    PCT_ENTER(self);
    if (!pct_vtimer_virtual(self))
        return AT_POINT(self, PCT_OP_TIMER_SET, REAL(ualarm)(value, interval));
    /* GLIBC: setitimer's error for a second or more. */
    if (value >= 1000000 || interval >= 1000000) {
        errno = EINVAL;
        return (useconds_t)-1;
    }
    return (useconds_t)((set(self, value * UINT64_C(1000), interval * UINT64_C(1000)) + 999) / 1000);
}
