/* Points in time and durations, virtual and real: clock.c, sleep.c. */
#ifndef PCT_PRELOAD_CLOCK_H
#define PCT_PRELOAD_CLOCK_H

#include <preload/core/real.h>
#include <preload/core/shim.h>
#include <sys/time.h>
#include <time.h>

/* A point in time on one of the system's clocks as virtual time. False: not a valid time or clock. */
bool pct_deadline(clockid_t clock, const struct timespec *when, uint64_t *deadline);

/* How long before virtual time began this was, ns; 0: not before. when: valid. */
uint64_t pct_before_time(clockid_t clock, const struct timespec *when);
/* This many nanoseconds from now, in virtual time. What is farther away than PCT_FAR, 292 years, is there: time may
 * still jump to it. */
#define PCT_FAR (PCT_NEVER / 2)
uint64_t pct_deadline_in(uint64_t length);
/* The thread looks at what changes without its doing (a clock, the CPU that it is on): often enough in a row, that is a
 * spin, and a step. With the baton. */
void pct_read_may_spin(struct pct_shim_thread *self);
/* A clock of CPU time by the number of its process or thread (clock_getcpuclockid(), pthread_getcpuclockid()), as the
 * one of this process or a thread of its own; others stay what they are. */
clockid_t pct_own_clock(const struct pct_shim_thread *self, clockid_t clock);
/* The CPU time of the process, virtual, and of each of its threads; no read. So much has passed by now. With the baton.
 */
uint64_t pct_cpu_time(void);
void pct_cpu_time_reaches(uint64_t at);
bool pct_clock_is_of_cpu(clockid_t clock);
/* Whether pct keeps this clock. */
bool pct_keeps_clock(clockid_t clock);
/* The real time left until a limit from pct_sched_outside_limit(); NULL for none. */
struct timespec *pct_limit_timespec(uint64_t limit, struct timespec *storage);
/* Turn a real duration into a real point in time on CLOCK_MONOTONIC, in place. */
struct timespec *pct_from_now(struct timespec *t);
/* A virtual deadline as a point in real time on this clock, for waits in which another process takes part; for one that
 * is recalled, which it is for (pct_thread.recallable), a point that never comes. */
void pct_real_deadline(clockid_t clock, uint64_t deadline, struct timespec *when);
/* Nanoseconds of a valid timespec, cut at PCT_NEVER - 1. */
static inline uint64_t pct_nanoseconds(const struct timespec *t)
{
    if ((uint64_t)t->tv_sec >= PCT_NEVER / 1000000000 - 1)
        return PCT_NEVER - 1;
    return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

bool pct_valid(const struct timespec *t);

/* clock_gettime(), gettimeofday(), time() by syscall(): a bad pointer is an error. */
long pct_clock_syscall(clockid_t clock, struct timespec *time);
long pct_gettimeofday_syscall(struct timeval *time, void *zone);
long pct_time_syscall(time_t *at);

/* sleep.c: let others go first, as sched_yield() does; with its point and step. */
int pct_yield(struct pct_shim_thread *self);

#endif
