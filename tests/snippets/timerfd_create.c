/* timerfd: a descriptor that counts expirations, and is read and polled as any; both kinds of deadline; copies;
 * errors. */
/* tests: timerfd_create timerfd_settime timerfd_gettime */
/* ops: TIMER_SET READ POLL */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

static struct itimerspec in_us(int64_t value, int64_t interval)
{
    struct itimerspec spec = { .it_value = check_timespec(value * 1000),
                               .it_interval = check_timespec(interval * 1000) };
    return spec;
}

static int64_t ns(const struct timespec *t)
{
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static uint64_t count(int fd)
{
    uint64_t expirations = 0;
    CHECK_EQ(read(fd, &expirations, sizeof expirations), 8);
    return expirations;
}

static void *read_once(void *fd)
{
    CHECK_EQ(count(*(int *)fd), 1);
    return NULL;
}

static void test(clockid_t clock)
{
    struct itimerspec now, far = in_us(1000000000, 1000), spec = in_us(3000, 0);
    int fd = timerfd_create(clock, TFD_CLOEXEC);
    CHECK(fd >= 0);
    CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    CHECK_OK(timerfd_gettime(fd, &now));
    CHECK_EQ(ns(&now.it_value), 0);

    /* Once. */
    CHECK_OK(timerfd_settime(fd, 0, &far, NULL));
    CHECK_OK(timerfd_gettime(fd, &now));
    CHECK(ns(&now.it_value) > 0 && ns(&now.it_value) <= 1000000000000);
    int64_t before = check_now(clock);
    CHECK_OK(timerfd_settime(fd, 0, &spec, NULL));
    CHECK_EQ(count(fd), 1);
    CHECK(check_now(clock) - before >= 3000000);
    CHECK_OK(timerfd_gettime(fd, &now));
    CHECK_EQ(ns(&now.it_value), 0);

    /* At a point in time; in the past, at once. */
    spec = in_us(0, 0);
    spec.it_value = check_in_ms(clock, 4);
    struct timespec when = spec.it_value;
    CHECK_OK(timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, NULL));
    CHECK_EQ(count(fd), 1);
    CHECK(check_reached(clock, &when));
    CHECK_OK(timerfd_settime(fd, TFD_TIMER_ABSTIME, &spec, NULL));
    struct pollfd asked = { .fd = fd, .events = POLLIN };
    CHECK_EQ(poll(&asked, 1, -1), 1);

    /* What was not read is forgotten when it is set anew. */
    CHECK_OK(timerfd_settime(fd, 0, &far, NULL));
    CHECK_EQ(poll(&asked, 1, 0), 0);
    spec = in_us(2000, 1000);
    CHECK_OK(timerfd_settime(fd, 0, &spec, NULL));
    struct timespec length = { 0, 5500000 };
    CHECK_OK(nanosleep(&length, NULL));
    CHECK(count(fd) >= 4);
    CHECK_OK(timerfd_gettime(fd, &now));
    CHECK_EQ(ns(&now.it_interval), 1000000);
    CHECK(ns(&now.it_value) > 0 && ns(&now.it_value) <= 1000000);

    /* It ends another thread's read, and an epoll's wait, through a copy. */
    spec = in_us(4000, 0);
    CHECK_OK(timerfd_settime(fd, 0, &spec, &now));
    CHECK_EQ(ns(&now.it_interval), 1000000);
    pthread_t thread = check_spawn(read_once, &fd);
    check_join(thread);
    int copy = dup(fd), epoll = epoll_create1(0);
    CHECK(copy >= 0 && epoll >= 0);
    struct epoll_event event = { .events = EPOLLIN, .data.fd = copy };
    CHECK_OK(epoll_ctl(epoll, EPOLL_CTL_ADD, copy, &event));
    CHECK_OK(close(fd));
    CHECK_OK(timerfd_settime(copy, 0, &spec, NULL));
    CHECK_EQ(epoll_wait(epoll, &event, 1, 1000000), 1);
    CHECK_EQ(event.data.fd, copy);
    CHECK_EQ(count(copy), 1);
    CHECK_EQ(epoll_wait(epoll, &event, 1, 0), 0);
    CHECK_OK(timerfd_settime(copy, 0, &spec, NULL));
    CHECK_OK(close(copy)); /* armed */
    CHECK_OK(close(epoll));
}

int main(void)
{
    test(CLOCK_MONOTONIC);
    test(CLOCK_REALTIME);
    CHECK_FAILS(timerfd_create(77, 0), EINVAL);
    CHECK_FAILS(timerfd_create(CLOCK_MONOTONIC, 0x1), EINVAL);
    struct itimerspec now = { 0 }, bad = { .it_value = { 0, 1000000000 } };
    CHECK_FAILS(timerfd_settime(-1, 0, &now, NULL), EBADF);
    CHECK_FAILS(timerfd_gettime(0x3fffff, &now), EBADF);
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    CHECK(fd >= 0);
    CHECK_FAILS(timerfd_settime(fd, 0, &bad, NULL), EINVAL);
    bad = in_us(1000, 0);
    CHECK_FAILS(timerfd_settime(fd, 0x100, &bad, NULL), EINVAL);
    uint64_t expirations;
    CHECK_FAILS(read(fd, &expirations, sizeof expirations), EAGAIN);
    CHECK_FAILS(read(fd, &expirations, 4), EINVAL);
    CHECK_OK(close(fd));
    return 0;
}
