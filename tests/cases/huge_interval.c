/* A timer whose interval is LONG_MAX seconds goes off once: the time of its second expiration does not fit into 64
 * bits, and the first one came again and again.
 *
 * RUN: %p
 * RUN: pct run -q -n 4 -s 1 --state none --timeout 60 -- %p
 */
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t alarms, signals;

static void count(int signal)
{
    if (signal == SIGALRM)
        alarms++;
    else
        signals++;
}

int main(void)
{
    const struct itimerval alarm_once = { .it_value.tv_usec = 50000, .it_interval.tv_sec = LONG_MAX };
    const struct itimerspec once = { .it_value.tv_nsec = 50000000, .it_interval.tv_sec = LONG_MAX };
    struct sigevent event;
    struct itimerspec left;
    struct timespec pause = { .tv_nsec = 200000000 };
    timer_t timer;
    uint64_t expired = 0;
    signal(SIGALRM, count);
    signal(SIGUSR1, count);
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGUSR1;
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &once, NULL) ||
        timerfd_settime(fd, 0, &once, NULL) || setitimer(ITIMER_REAL, &alarm_once, NULL))
        return 1;
    while (nanosleep(&pause, &pause))
        ;
    if (alarms != 1 || signals != 1 || read(fd, &expired, sizeof expired) != sizeof expired || expired != 1)
        return 2;
    /* The kernel counts up to 2^63 - 1 ns. */
    if (timer_gettime(timer, &left) || left.it_interval.tv_sec != 9223372036 || left.it_value.tv_sec < 9000000000)
        return 3;
    return 0;
}
