/* A timer descriptor that is set to a time long past goes off at once: asio wakes the thread that polls for it so, by
 * an absolute time of 1 ns. Without that, each program that uses asio's timers was said to be in a deadlock, or hung.
 *
 * RUN: %p && pct run -q -n 40 -s 1 --state none -- %p
 * RUN: for seed in 1 2 3; do PCT_SEED=$seed LD_PRELOAD=$LIBPCT timeout 60 %p || exit; done
 */
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int set, timer;

static void *wait_for(void *unused)
{
    struct epoll_event event;
    uint64_t count;
    (void)unused;
    if (epoll_wait(set, &event, 1, -1) != 1 || read(timer, &count, sizeof count) != sizeof count)
        return "nothing came";
    return count == 1 ? NULL : "another number of expirations";
}

/* Set to this time, while another thread polls for it. */
static int goes_off(int flags, struct timespec when)
{
    struct itimerspec wanted = { .it_value = when };
    pthread_t waiter;
    void *failed;
    pthread_create(&waiter, NULL, wait_for, NULL);
    timerfd_settime(timer, flags, &wanted, NULL);
    pthread_join(waiter, &failed);
    return failed == NULL;
}

int main(void)
{
    struct epoll_event event = { .events = EPOLLIN };
    const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME };
    set = epoll_create1(0);
    for (int i = 0; i < 2; i++) {
        timer = timerfd_create(clocks[i], 0);
        epoll_ctl(set, EPOLL_CTL_ADD, timer, &event);
        if (!goes_off(TFD_TIMER_ABSTIME, (struct timespec){ .tv_nsec = 1 }) ||
            !goes_off(TFD_TIMER_ABSTIME, (struct timespec){ .tv_sec = 1 }) ||
            !goes_off(0, (struct timespec){ .tv_nsec = 1 }))
            return 1;
        close(timer);
    }
    return 0;
}
