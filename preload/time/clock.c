/* The clocks. They all show virtual time: the time of day from the epoch of the run, the others from a fixed start. A
 * read is no operation between threads, so it is no scheduling point; but a long run of reads without anything else is
 * a loop that waits for the time or for another thread, and counts as a spin (pct_progress_clock()). */
#include "clock.h"
#include "computed.h"
#include <preload/core/kernel.h>
#include <preload/core/point.h>
#include <preload/core/user_memory.h>
#include "family.h"
#include <sched/log.h>
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/times.h>

/* CLOCK_MONOTONIC at the start of the run: a machine that has been up for a day. */
#define MONOTONIC_START UINT64_C(86400000000000)

/* CPU time begins with the process, not with its family, and does not pass while nothing can run. */
bool pct_clock_is_of_cpu(clockid_t clock)
{
    return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
}

/* Virtual time that is no CPU time. */
static uint64_t not_of_cpu(void)
{
    return pct_family_began() + pct_sched_rest(&pct_S);
}

uint64_t pct_cpu_time(void)
{
    return pct_sched_now(&pct_S) - not_of_cpu();
}

void pct_cpu_time_reaches(uint64_t at)
{
    const uint64_t now = pct_cpu_time();
    if (now < at)
        pct_sched_set_rest(&pct_S, pct_sched_rest(&pct_S) - (at - now));
}

/* The start of this clock in ns; false: not one that pct keeps. */
static bool origin(clockid_t clock, uint64_t *at)
{
    if (!pct_sched_is_virtual(&pct_S)) {
        struct timespec now;
        if (REAL(clock_gettime)(clock, &now))
            return false;
        *at = pct_nanoseconds(&now) - pct_real_now();
        return true;
    }
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
        *at = pct_shim.config.epoch * UINT64_C(1000000000);
        return true;
    case CLOCK_TAI:
        *at = (pct_shim.config.epoch + 37) * UINT64_C(1000000000);
        return true;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
        *at = MONOTONIC_START;
        return true;
    case CLOCK_PROCESS_CPUTIME_ID:
    case CLOCK_THREAD_CPUTIME_ID:
        *at = 0;
        return true;
    default:
        return false;
    }
}

bool pct_keeps_clock(clockid_t clock)
{
    uint64_t at;
    return origin(clock, &at);
}

bool pct_valid(const struct timespec *t)
{
    return t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < 1000000000;
}

bool pct_deadline(clockid_t clock, const struct timespec *when, uint64_t *deadline)
{
    uint64_t start;
    if (!origin(clock, &start) || when->tv_nsec < 0 || when->tv_nsec >= 1000000000)
        return false;
    uint64_t at = when->tv_sec < 0 ? 0 : pct_nanoseconds(when), began = pct_clock_is_of_cpu(clock) ? not_of_cpu() : 0;
    at = at < PCT_NEVER - 1 - began ? at + began : PCT_NEVER - 1;
    at = at > start ? at - start : 0;
    *deadline = at < PCT_FAR ? at : PCT_FAR;
    return true;
}

uint64_t pct_before_time(clockid_t clock, const struct timespec *when)
{
    uint64_t start;
    const bool before = origin(clock, &start) && !pct_clock_is_of_cpu(clock) && pct_nanoseconds(when) < start;
    return before ? start - pct_nanoseconds(when) : 0;
}

uint64_t pct_deadline_in(uint64_t length)
{
    uint64_t now = pct_sched_now(&pct_S);
    pct_log_hidden(&pct_S, PCT_KEY_TIME, true);
    return now < PCT_FAR && length < PCT_FAR - now ? now + length : PCT_FAR;
}

static struct timespec *split(uint64_t ns, struct timespec *t)
{
    *t = (struct timespec){ .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };
    return t;
}

static struct timeval split_us(uint64_t ns)
{
    return (struct timeval){ .tv_sec = (time_t)(ns / 1000000000), .tv_usec = (suseconds_t)(ns % 1000000000 / 1000) };
}

struct timespec *pct_limit_timespec(uint64_t limit, struct timespec *storage)
{
    return limit == PCT_NEVER ? NULL : split(limit, storage);
}

struct timespec *pct_from_now(struct timespec *t)
{
    struct timespec now;
    REAL(clock_gettime)(CLOCK_MONOTONIC, &now);
    return split(pct_nanoseconds(&now) + pct_nanoseconds(t), t);
}

void pct_real_deadline(clockid_t clock, uint64_t deadline, struct timespec *when)
{
    struct timespec now;
    const struct pct_shim_thread *self = pct_self;
    uint64_t virtual = pct_sched_now(&pct_S), left = deadline > virtual ? deadline - virtual : 0;
    if (self && self->core.recallable)
        left = pct_sched_outside_limit(&pct_S, &self->core);
    REAL(clock_gettime)(clock, &now);
    split(pct_nanoseconds(&now) + left, when);
}

/* The kernel's linux/posix-timers.h. */
clockid_t pct_own_clock(const struct pct_shim_thread *self, clockid_t clock)
{
    enum { KIND = 3, DESCRIPTOR = 3, OF_THREAD = 4 };
    const uint32_t bits = (uint32_t)clock;
    if (clock >= 0 || (bits & KIND) == DESCRIPTOR)
        return clock;
    const int number = ~(clock >> 3);
    if (!(bits & OF_THREAD))
        return !number || number == pct_shim.pid ? CLOCK_PROCESS_CPUTIME_ID : clock;
    for (uint32_t id = 0; id < pct_sched_threads(&pct_S); id++) {
        if (pct_shim.slots[id].tid != number)
            continue;
        if (id != self->core.id)
            pct_log_hidden(&pct_S, PCT_KEY_ENDED | id, true);
        if (pct_shim.slots[id].core.state != PCT_STATE_FINISHED)
            return CLOCK_THREAD_CPUTIME_ID;
    }
    return clock;
}

/* The virtual time of this clock, as a read by this thread. */
static bool read_clock(struct pct_shim_thread *self, clockid_t clock, uint64_t *ns)
{
    if (!pct_sched_is_virtual(&pct_S) || !origin(clock, ns))
        return false;
    pct_read_may_spin(self);
    pct_log_assumption(&pct_S, PCT_ASSUMES_CLOCK);
    pct_log_hidden(&pct_S, PCT_KEY_TIME, true);
    *ns += pct_sched_read_clock(&pct_S);
    if (pct_clock_is_of_cpu(clock))
        *ns -= not_of_cpu();
    return true;
}

void pct_read_may_spin(struct pct_shim_thread *self)
{
    struct pct_thread *thread = &self->core;
    const bool spins = pct_progress_clock(&pct_S, thread);
    const uint32_t read = spins ? 0 : thread->clock_reads;
    if (spins)
        pct_here(self, PCT_OP_CLOCK);
    /* Behind the point, where others may go first: only then does a replay know whether this is the next step. */
    const uint64_t passed = pct_is_replay(&pct_S) ? pct_replay_clock(&pct_S, thread, read) : pct_computed(self, spins);
    if (spins || passed)
        pct_progress_clock_step(&pct_S, thread, read, passed);
}

PCT_EXPORT int clock_gettime(clockid_t clock, struct timespec *time)
{
    PCT_ENTER(self);
    uint64_t ns;
    const clockid_t own = self ? pct_own_clock(self, clock) : clock;
    if (!self || !read_clock(self, own, &ns))
        return REAL(clock_gettime)(clock, time);
    /* Those of CPU time are asked of the kernel, the others of its page in the process: there a bad pointer is a crash.
     */
    if (pct_clock_is_of_cpu(own)) {
        struct timespec now;
        if (pct_user_copy_out(time, split(ns, &now), sizeof now))
            return 0;
        errno = EFAULT;
        return -1;
    }
    split(ns, time);
    return 0;
}

PCT_EXPORT int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    PCT_ENTER(self);
    uint64_t ns;
    if (!self || !read_clock(self, CLOCK_REALTIME, &ns))
        return REAL(gettimeofday)(time, zone);
    __asm__("" : "+r"(time)); /* declared nonnull, but NULL is answered all the same */
    if (zone)
        memset(zone, 0, sizeof(struct timezone));
    if (time)
        *time = split_us(ns);
    return 0;
}

PCT_EXPORT time_t time(time_t *at)
{
    PCT_ENTER(self);
    uint64_t ns;
    if (!self || !read_clock(self, CLOCK_REALTIME, &ns))
        return REAL(time)(at);
    time_t seconds = (time_t)(ns / 1000000000);
    if (at)
        *at = seconds;
    return seconds;
}

PCT_EXPORT int timespec_get(struct timespec *time, int base)
{
    PCT_ENTER(self);
    uint64_t ns;
    if (!self || base != TIME_UTC || !read_clock(self, CLOCK_REALTIME, &ns))
        return REAL(timespec_get)(time, base);
    split(ns, time);
    return base;
}

PCT_EXPORT clock_t clock(void)
{
    PCT_ENTER(self);
    uint64_t ns;
    if (!self || !read_clock(self, CLOCK_PROCESS_CPUTIME_ID, &ns))
        return REAL(clock)();
    return (clock_t)(ns / (1000000000 / CLOCKS_PER_SEC));
}

/* All of it in the program's own code, as for clock(). What children have used is as the machine had it. */
PCT_EXPORT int getrusage(__rusage_who_t who, struct rusage *usage)
{
    PCT_ENTER(self);
    struct rusage all;
    uint64_t ns;
    if (!self || (who != RUSAGE_SELF && who != RUSAGE_THREAD) || REAL(getrusage)(who, &all) ||
        !read_clock(self, CLOCK_PROCESS_CPUTIME_ID, &ns))
        return REAL(getrusage)(who, usage);
    all.ru_utime = split_us(ns);
    all.ru_stime = split_us(0);
    if (pct_user_copy_out(usage, &all, sizeof all))
        return 0;
    errno = EFAULT;
    return -1;
}

PCT_EXPORT clock_t times(struct tms *used)
{
    enum { TICK = 10000000 }; /* ns: Linux shows the same on all machines */
    PCT_ENTER(self);
    struct tms all;
    uint64_t ns, cpu;
    if (!self || (used && REAL(times)(&all) == (clock_t)-1) || !read_clock(self, CLOCK_PROCESS_CPUTIME_ID, &cpu) ||
        !origin(CLOCK_MONOTONIC, &ns))
        return REAL(times)(used);
    ns += pct_sched_now(&pct_S);
    if (used) {
        all.tms_utime = (clock_t)(cpu / TICK);
        all.tms_stime = 0;
        *used = all; /* GLIBC: to touch a bad pointer is a crash there, too */
    }
    return (clock_t)(ns / TICK);
}

static long give(void *to, const void *from, size_t size)
{
    if (!to || pct_user_copy_out(to, from, size))
        return 0;
    errno = EFAULT;
    return -1;
}

long pct_clock_syscall(clockid_t clock, struct timespec *time)
{
    struct timespec now;
    return clock_gettime(clock, &now) ? -1 : give(time ? time : (void *)1, &now, sizeof now);
}

long pct_gettimeofday_syscall(struct timeval *time, void *zone)
{
    const struct timezone none = { 0 };
    struct timeval now;
    gettimeofday(&now, NULL);
    return give(time, &now, sizeof now) ? -1 : give(zone, &none, sizeof none);
}

long pct_time_syscall(time_t *at)
{
    time_t now = time(NULL);
    return give(at, &now, sizeof now) ? -1 : now;
}
