/* Timers of the target in virtual time: what alarms, POSIX timers and timer descriptors have in common.
 *
 * They fire in the scheduler, at a step or when nothing else can run, in order of (deadline, creation). While one is
 * armed nothing is a deadlock: time jumps to it. With PCT_TIME=real and strategy `none` the target has the kernel's
 * timers. */
#ifndef PCT_PRELOAD_VTIMER_H
#define PCT_PRELOAD_VTIMER_H

#include <preload/core/shim.h>

struct pct_vtimer {
    struct pct_timer core; /* first */
    uint64_t at;           /* virtual ns of the next expiration; meaningless unless armed */
    uint64_t interval;     /* 0: once */
    uint64_t early;        /* so long before time began was its first expiration, where `at` is 0 */
    bool armed;
    bool signals; /* a thread may wait for it without a call */
    bool held;    /* what comes from `at` on is not told one by one, but counted by pct_vtimer_release() */
    /* This many expirations at once, at least one. NULL: nobody is told, and the scheduler need not know. */
    void (*expired)(struct pct_vtimer *timer, uint64_t times);
};

/* Whether the calling thread's timers are virtual ones. */
static inline bool pct_vtimer_virtual(const struct pct_shim_thread *self)
{
    return self && pct_sched_is_virtual(&pct_S);
}

/* A new one, disarmed. */
void pct_vtimer_init(struct pct_vtimer *timer, void (*expired)(struct pct_vtimer *timer, uint64_t times));
/* Arm it for this virtual time; PCT_NEVER: disarm it. */
void pct_vtimer_set(struct pct_vtimer *timer, uint64_t at, uint64_t interval);
/* While a timer's signal is on its way, it does not go off again, as in the kernel. Nothing tells that the signal was
 * taken by a signalfd, or dropped: so the timer looks, at its next expiration, but not before so long a time, and ever
 * more seldom. Where nobody ever takes it, time does not jump on and on. */
enum { PCT_VTIMER_LOOK_NS = 1000000 };

/* Called by expired(): the timer does not go off again for at least so long (virtual ns), or until it is released. */
void pct_vtimer_hold(struct pct_vtimer *timer, uint64_t length);
/* It goes off with its next expiration again. Returns how many it has missed. */
uint64_t pct_vtimer_release(struct pct_vtimer *timer);
/* In a forked child: its copy goes on for itself, as it was. */
void pct_vtimer_inherit(struct pct_vtimer *timer);
/* Nanoseconds until the next expiration, at least 1; 0: not armed. */
uint64_t pct_vtimer_left(struct pct_vtimer *timer);

/* When the first timer is due that sends a signal; PCT_NEVER: none is armed, or theirs are on their way. With the
 * baton.
 */
uint64_t pct_vtimer_alarm(void);

/* As the system calls have it: value and interval in timespecs, valid; absolute: on this clock. */
void pct_vtimer_settime(struct pct_vtimer *timer, clockid_t clock, bool absolute, const struct itimerspec *new);
void pct_vtimer_gettime(struct pct_vtimer *timer, struct itimerspec *now);

/* The ids of POSIX timers in virtual time: the kernel counts its own from 0. */
enum { PCT_TIMER_FIRST_ID = 0x40000000 };
/* The kernel lets only the first thread claim that a signal is from the kernel (SI_KERNEL); for the alarm's, others say
 * this instead, and who takes it is told the truth. No timer has this number. */
enum { PCT_ITIMER_ID = -1 };

/* A signal of a timer is about to be handled or taken: it gets its overrun count. */
void pct_timer_taken(siginfo_t *info);
/* Likewise: one of the alarm says whom it is from. */
void pct_itimer_taken(siginfo_t *info);

/* Whether this is the alarm. With the baton. */
bool pct_itimer_is(const struct pct_timer *timer);

/* Whether one of the kernel's that counts CPU time is set, or a limit of that, whose signal the target handles. */
bool pct_timer_of_cpu(void);

/* The schedule ends here, and the program goes on: its timers become the kernel's. With the baton. */
void pct_itimer_leave(void);
void pct_timer_leave(void);

/* A forked child inherits no timers, */
void pct_itimer_forget(void);
void pct_timer_forget(void);
/* but descriptors of such: when its run has begun, they go on. */
void pct_timerfd_inherit(void);
/* The process is about to end, or to become another program, where the kernel's timers take over; it did not. */
void pct_timerfd_leave(void);
void pct_timerfd_stay(void);

#endif
