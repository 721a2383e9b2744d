/* timerfd in virtual time. The descriptor is a timer of the kernel's that is never armed; when the timer goes off, its
 * count of expirations is set (as checkpoints do), so it is read, polled and shared as any. Where the kernel cannot do
 * that, it is an eventfd, whose counter is read likewise; but that can be written to, too. All names of the descriptor
 * (dup) are known to fds.c. */
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include <preload/io/io.h>
#include "clock.h"
#include "vtimer.h"
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>

/* <linux/timerfd.h>, which does not go together with <fcntl.h>. */
#define SET_TICKS _IOW('T', 0, uint64_t)

/* POSIX timers have the other half. */
enum { MOST = PCT_MAX_TIMERS / 2 - 1 };

struct timer {
    struct pct_vtimer v; /* first */
    clockid_t clock;
    int fd;            /* one of its names */
    bool used, counts; /* it is a timer of the kernel's */
    uint64_t unread;   /* expirations, if it is still readable */
};
static struct timer *timers; /* MOST; number n, as fds.c has it, is timers[n - 1] */
static uint32_t used;        /* those behind were never used */

void pct_timerfd_forget(void)
{
    timers = NULL;
    used = 0;
}

/* Whether it still has a name; then timer->fd is one. */
static bool is_open(struct timer *timer)
{
    timer->fd = pct_fd_of_timer((uint16_t)(timer - timers + 1), timer->fd);
    timer->used = timer->fd >= 0;
    return timer->used;
}

static void expired(struct pct_vtimer *v, uint64_t times)
{
    struct timer *timer = (struct timer *)v;
    if (!is_open(timer)) {
        pct_vtimer_set(v, PCT_NEVER, 0);
        return;
    }
    struct pollfd asked = { .fd = timer->fd, .events = POLLIN };
    if (!timer->counts) {
        PCT_SYS3(SYS_write, timer->fd, &times, sizeof times);
    } else {
        timer->unread = times + (pct_poll_now(&asked, 1) > 0 ? timer->unread : 0);
        PCT_SYS3(SYS_ioctl, timer->fd, SET_TICKS, &timer->unread);
    }
    pct_sched_kernel_changed(&pct_S);
}

static struct timer *allocate(void)
{
    if (!timers)
        timers = pct_S.host->map(MOST * sizeof *timers);
    for (uint32_t i = 0; timers && i < used; i++)
        if (!timers[i].used || !is_open(&timers[i])) {
            pct_vtimer_set(&timers[i].v, PCT_NEVER, 0);
            return &timers[i];
        }
    return timers && used < MOST ? &timers[used++] : NULL;
}

static struct timer *find(const struct pct_shim_thread *self, int fd)
{
    uint16_t number = pct_vtimer_virtual(self) ? pct_fd_timer(fd) : 0;
    return number && number <= used ? &timers[number - 1] : NULL;
}

static int fail(int error)
{
    errno = error;
    return -1;
}

/* Whether the count of this new timer of the kernel's can be set. */
static bool can_count(int fd)
{
    uint64_t count = 1;
    return !PCT_SYS3(SYS_ioctl, fd, SET_TICKS, &count) && PCT_SYS3(SYS_read, fd, &count, sizeof count) > 0;
}

PCT_EXPORT int timerfd_create(clockid_t clock, int flags)
{
    PCT_ENTER(self);
    bool known = (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME) &&
                 !(flags & ~(TFD_CLOEXEC | TFD_NONBLOCK));
    struct timer *timer = pct_vtimer_virtual(self) && known ? allocate() : NULL;
    if (!timer)
        return REAL(timerfd_create)(clock, flags);
    int fd = REAL(timerfd_create)(clock, flags);
    bool counts = fd >= 0 && can_count(fd);
    if (fd >= 0 && !counts) {
        PCT_SYS1(SYS_close, fd);
        fd = REAL(eventfd)(0, (flags & TFD_CLOEXEC ? EFD_CLOEXEC : 0) | (flags & TFD_NONBLOCK ? EFD_NONBLOCK : 0));
    }
    if (fd < 0)
        return fd;
    *timer = (struct timer){ .clock = clock, .fd = fd, .used = true, .counts = counts };
    pct_vtimer_init(&timer->v, expired);
    pct_fd_made(fd, PCT_FD_INSIDE);
    pct_fd_set_timer(fd, (uint16_t)(timer - timers + 1));
    return fd;
}

PCT_EXPORT int timerfd_settime(int fd, int flags, const struct itimerspec *new, struct itimerspec *old)
{
    PCT_ENTER(self);
    struct timer *timer = find(self, fd);
    if (!timer)
        return PASS(PCT_OP_TIMER_SET, PCT_CLASS_NONE, NULL, REAL(timerfd_settime)(fd, flags, new, old));
    struct itimerspec wanted, before;
    if (!pct_user_copy_in(&wanted, new, sizeof wanted))
        return REAL(timerfd_settime)(fd, flags, new, old); /* EFAULT */
    if (!pct_valid(&wanted.it_value) || !pct_valid(&wanted.it_interval) ||
        flags & ~(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET))
        return fail(EINVAL);
    pct_here(self, PCT_OP_TIMER_SET);
    pct_vtimer_gettime(&timer->v, &before);
    /* Expirations that nobody has read are forgotten. */
    struct pollfd asked = { .fd = fd, .events = POLLIN };
    uint64_t count;
    if (pct_poll_now(&asked, 1) > 0)
        PCT_SYS3(SYS_read, fd, &count, sizeof count);
    pct_vtimer_settime(&timer->v, timer->clock, flags & TFD_TIMER_ABSTIME, &wanted);
    pct_done(self, PCT_OP_TIMER_SET, 0, NULL);
    return old && !pct_user_copy_out(old, &before, sizeof before) ? fail(EFAULT) : 0;
}

PCT_EXPORT int timerfd_gettime(int fd, struct itimerspec *now)
{
    PCT_ENTER(self);
    struct timer *timer = find(self, fd);
    if (!timer)
        return REAL(timerfd_gettime)(fd, now);
    struct itimerspec state;
    pct_vtimer_gettime(&timer->v, &state);
    return pct_user_copy_out(now, &state, sizeof state) ? 0 : fail(EFAULT);
}
