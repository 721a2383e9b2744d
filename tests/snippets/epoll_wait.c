/* epoll, with eventfds: level and edge, timeouts, several waiters. */
/* tests: epoll_wait epoll_pwait epoll_pwait2 epoll_create epoll_create1 epoll_ctl eventfd eventfd_read eventfd_write */
/* ops: POLL READ WRITE */
#define _GNU_SOURCE
#include "check.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>

enum { EVENTS = 30, WORKERS = 3 };

static int epoll, event, done;
static int handled; /* atomic */

static void *work(void *unused)
{
    for (;;) {
        struct epoll_event got[2];
        eventfd_t value;
        int count = epoll_wait(epoll, got, 2, -1);
        CHECK(count > 0);
        for (int i = 0; i < count; i++) {
            if (got[i].data.fd == done)
                return unused;
            if (eventfd_read(event, &value) == 0)
                __atomic_add_fetch(&handled, (int)value, __ATOMIC_RELAXED);
            else
                CHECK_EQ(errno, EAGAIN); /* another was faster */
        }
    }
}

static void *post(void *unused)
{
    CHECK_OK(eventfd_write(event, 1));
    return unused;
}

int main(void)
{
    pthread_t threads[WORKERS];
    struct epoll_event what = { .events = EPOLLIN }, got;
    CHECK((epoll = epoll_create1(EPOLL_CLOEXEC)) >= 0);
    CHECK((event = eventfd(0, EFD_NONBLOCK | EFD_SEMAPHORE)) >= 0);
    CHECK((done = eventfd(0, 0)) >= 0);
    what.data.fd = event;
    CHECK_OK(epoll_ctl(epoll, EPOLL_CTL_ADD, event, &what));
    for (int i = 0; i < WORKERS; i++)
        threads[i] = check_spawn(work, NULL);
    /* Put in while others wait. */
    what.data.fd = done;
    CHECK_OK(epoll_ctl(epoll, EPOLL_CTL_ADD, done, &what));
    for (int i = 0; i < EVENTS; i++)
        CHECK_OK(eventfd_write(event, 1));
    while (__atomic_load_n(&handled, __ATOMIC_RELAXED) < EVENTS)
        usleep(1000);
    CHECK_OK(eventfd_write(done, 1));
    for (int i = 0; i < WORKERS; i++)
        check_join(threads[i]);

    /* Edge-triggered: each write is seen once. */
    int edge = epoll_create(1);
    CHECK(edge >= 0);
    what = (struct epoll_event){ .events = EPOLLIN | EPOLLET, .data.fd = event };
    CHECK_OK(epoll_ctl(edge, EPOLL_CTL_ADD, event, &what));
    pthread_t thread = check_spawn(post, NULL);
    CHECK_EQ(epoll_pwait(edge, &got, 1, -1, NULL), 1);
    CHECK_EQ(epoll_wait(edge, &got, 1, 0), 0);
    check_join(thread);

    int64_t began = check_now(CLOCK_MONOTONIC);
    struct timespec moment = { .tv_nsec = 20000000 };
    CHECK_EQ(epoll_pwait2(edge, &got, 1, &moment, NULL), 0);
    CHECK(check_now(CLOCK_MONOTONIC) - began >= 20000000);
    CHECK_EQ(epoll_wait(edge, &got, 1, 10), 0);
    CHECK_FAILS(epoll_wait(edge, &got, 0, -1), EINVAL);
    CHECK_FAILS(epoll_wait(event, &got, 1, -1), EINVAL);
    CHECK_FAILS(epoll_wait(1000, &got, 1, -1), EBADF);

    /* A full eventfd: the writer waits for the reader. */
    int full = eventfd(0, 0);
    eventfd_t value;
    CHECK_OK(eventfd_write(full, 0xfffffffffffffffe));
    event = full;
    thread = check_spawn(post, NULL);
    CHECK_OK(eventfd_read(full, &value));
    check_join(thread);
    CHECK_OK(eventfd_read(full, &value));
    CHECK_EQ(value, 1);
    return 0;
}
