/* timerfd in virtual time. The descriptor is a timer of the kernel's that is never armed; when the timer goes off, its
 * count of expirations is set (as checkpoints do), so it is read, polled and shared as any. Where the kernel cannot do
 * that, it is an eventfd, whose counter is read likewise; but that can be written to, too. All names of the descriptor
 * (dup) are known to fds.c.
 *
 * A forked child has the timer, too, and it goes off when the parent is no more. So each process that has it lets it
 * go off by itself: relatives share virtual time. The first that comes to an expiration counts it for all.
 * Where a process ends, or becomes another program, what nobody else knows of goes on in real time, by the kernel. */
#include "io.h"
#include <common/exploration.h>
#include <preload/core/kernel.h>
#include <preload/time/clock.h>
#include <preload/core/sys.h>
#include <preload/core/user_memory.h>
#include <preload/time/vtimer.h>
#include <preload/memory/channel.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/timerfd.h>

/* <linux/timerfd.h>, which does not go together with <fcntl.h>. */
#define SET_TICKS _IOW('T', 0, uint64_t)

/* POSIX timers have the other half. */
enum { MOST = PCT_MAX_TIMERS / 2 - 1, PAGE = 4096 };

/* What the processes that have a timer know of it together. */
struct common {
    uint64_t counted; /* virtual ns, plus 1: of the expirations since it was set, the first not counted; atomic. 0: none
                         is */
    uint64_t unread;  /* of them, if it is still readable */
    uint32_t turn;    /* how often it was set; atomic */
};
static struct common *commons; /* where the next are */
static uint32_t commons_left;

struct timer {
    struct pct_vtimer v; /* first */
    clockid_t clock;
    int fd;            /* one of its names */
    bool used, counts; /* it is a timer of the kernel's */
    uint32_t turn;     /* what this process knows is of this turn */
    uint32_t forks;    /* of this process, when it got the next, */
    uint32_t set_at;   /* and when it was set: since then nobody else knows of it */
    struct common *common;
};
static struct timer *timers; /* MOST; number n, as fds.c has it, is timers[n - 1] */
static uint32_t used;        /* those behind were never used */

void pct_timerfd_inherit(void)
{
    commons_left = 0; /* the rest is the parent's */
    if (!pct_sched_is_virtual(&pct_S))
        used = 0;
    for (uint32_t i = 0; i < used; i++) {
        pct_vtimer_inherit(&timers[i].v);
        timers[i].set_at = UINT32_MAX;
    }
}

/* Whether it still has a name; then timer->fd is one. */
static bool is_open(struct timer *timer)
{
    timer->fd = pct_fd_of_timer((uint16_t)(timer - timers + 1), timer->fd);
    timer->used = timer->fd >= 0;
    return timer->used;
}

/* The kernel has the timer from now on; or no longer has it. What is unread stays so. */
static void set_kernels(struct timer *timer, bool on)
{
    struct itimerspec wanted = { 0 };
    if (on)
        pct_vtimer_gettime(&timer->v, &wanted);
    struct pollfd asked = { .fd = timer->fd, .events = POLLIN };
    bool readable = pct_poll_now(&asked, 1) > 0;
    PCT_SYS4(SYS_timerfd_settime, timer->fd, 0, &wanted, NULL);
    if (readable)
        PCT_SYS3(SYS_ioctl, timer->fd, SET_TICKS, &timer->common->unread);
}

static void set_all_kernels(bool on)
{
    for (uint32_t i = 0; pct_sched_is_virtual(&pct_S) && i < used; i++) {
        struct timer *timer = &timers[i];
        bool current = timer->turn == __atomic_load_n(&timer->common->turn, __ATOMIC_SEQ_CST);
        if (timer->v.armed && timer->counts && current && timer->set_at == pct_shim.children && is_open(timer))
            set_kernels(timer, on);
    }
}

void pct_timerfd_leave(void)
{
    set_all_kernels(true);
}

void pct_timerfd_stay(void)
{
    set_all_kernels(false);
}

/* Of this many expirations, those that no relative has counted. */
static uint64_t claim(struct timer *timer, uint64_t times)
{
    const struct pct_vtimer *v = &timer->v;
    /* One that goes off once stays where it is: at 0, if it was set to a time before the run. */
    uint64_t next = v->at < PCT_NEVER ? v->at + 1 : PCT_NEVER;
    uint64_t before = __atomic_load_n(&timer->common->counted, __ATOMIC_SEQ_CST);
    do {
        if (before >= next)
            return 0;
    } while (!__atomic_compare_exchange_n(&timer->common->counted, &before, next, false, __ATOMIC_SEQ_CST,
                                          __ATOMIC_SEQ_CST));
    uint64_t open = before && v->interval ? (next - before) / v->interval : times;
    return open < times ? open : times;
}

static void expired(struct pct_vtimer *v, uint64_t times)
{
    struct timer *timer = (struct timer *)v;
    /* Another process has set it since: it lets it go off. */
    bool stale = timer->turn != __atomic_load_n(&timer->common->turn, __ATOMIC_SEQ_CST);
    if (stale || !is_open(timer)) {
        pct_vtimer_set(v, PCT_NEVER, 0);
        return;
    }
    times = claim(timer, times);
    struct pollfd asked = { .fd = timer->fd, .events = POLLIN };
    if (!times) {
        /* A relative has. */
    } else if (!timer->counts) {
        PCT_SYS3(SYS_write, timer->fd, &times, sizeof times);
    } else {
        uint64_t *unread = &timer->common->unread;
        *unread = times + (pct_poll_now(&asked, 1) > 0 ? *unread : 0);
        PCT_SYS3(SYS_ioctl, timer->fd, SET_TICKS, unread);
    }
    pct_sched_kernel_changed(&pct_S);
}

static struct timer *allocate(void)
{
    if (!timers)
        timers = pct_map(MOST * sizeof *timers);
    for (uint32_t i = 0; timers && i < used; i++)
        if (!timers[i].used || !is_open(&timers[i])) {
            pct_vtimer_set(&timers[i].v, PCT_NEVER, 0);
            return &timers[i];
        }
    return timers && used < MOST ? &timers[used++] : NULL;
}

/* One for a new timer; those of timers before it may be in use by children. NULL: there is no memory. */
static struct common *common_for(const struct timer *timer)
{
    if (timer->common && timer->forks == pct_shim.children)
        return timer->common;
    if (!commons_left) {
        long at = PCT_SYS6(SYS_mmap, 0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (at < 0 && at > -4096)
            return NULL;
        commons = (struct common *)at;
        commons_left = PAGE / sizeof *commons;
    }
    return &commons[--commons_left];
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
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    bool known = (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME) &&
                 !(flags & ~(TFD_CLOEXEC | TFD_NONBLOCK));
    struct timer *timer = pct_vtimer_virtual(self) && known ? allocate() : NULL;
    struct common *common = timer ? common_for(timer) : NULL;
    if (!common)
        return REAL(timerfd_create)(clock, flags);
    int fd = REAL(timerfd_create)(clock, flags);
    bool counts = fd >= 0 && can_count(fd);
    if (fd >= 0 && !counts) {
        PCT_SYS1(SYS_close, fd);
        fd = REAL(eventfd)(0, (flags & TFD_CLOEXEC ? EFD_CLOEXEC : 0) | (flags & TFD_NONBLOCK ? EFD_NONBLOCK : 0));
    }
    if (fd < 0)
        return fd;
    *common = (struct common){ .turn = 1 };
    *timer = (struct timer){ .clock = clock,
                             .fd = fd,
                             .used = true,
                             .counts = counts,
                             .turn = 1,
                             .forks = pct_shim.children,
                             .common = common };
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
    __atomic_store_n(&timer->common->counted, 0, __ATOMIC_SEQ_CST);
    timer->turn = __atomic_add_fetch(&timer->common->turn, 1, __ATOMIC_SEQ_CST);
    timer->set_at = pct_shim.children;
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
