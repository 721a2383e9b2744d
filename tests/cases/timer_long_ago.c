/* A timer with an interval that is set to a time before the run began has gone off at each of its intervals since then:
 * all of them are counted, and the next one comes where the time and the interval say, as from the kernel. They were
 * counted from the beginning of the run.
 *
 * RUN: %p
 * RUN: for strategy in pct pos random-walk; do pct run -q -n 5 -s 1 -S $strategy --state none -- %p || exit; done
 * RUN: pct run -q -n 5 -s 1 --time real --state none -- %p
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { BEFORE = 1000, INTERVAL = 300, EXPIRED = 1 + BEFORE / INTERVAL, LEFT = INTERVAL - BEFORE % INTERVAL };

static void *nothing(void *argument)
{
    return argument;
}

static int is_left(const struct itimerspec *now)
{
    return now->it_value.tv_sec >= LEFT - 10 && now->it_value.tv_sec <= LEFT;
}

static int test(clockid_t clock)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
    struct itimerspec when = { .it_interval.tv_sec = INTERVAL }, now;
    uint64_t count = 0;
    siginfo_t info;
    sigset_t set;
    timer_t timer;
    const int fd = timerfd_create(clock, 0);
    clock_gettime(clock, &when.it_value);
    when.it_value.tv_sec -= BEFORE;
    if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL) || read(fd, &count, sizeof count) != sizeof count ||
        count != EXPIRED || timerfd_gettime(fd, &now) || !is_left(&now))
        return 1;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (timer_create(clock, &event, &timer) || timer_settime(timer, TIMER_ABSTIME, &when, NULL) ||
        sigwaitinfo(&set, &info) != SIGUSR1 || info.si_overrun != EXPIRED - 1 || timer_gettime(timer, &now) ||
        !is_left(&now))
        return 2;
    return timer_delete(timer) || close(fd);
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL))
        return 3;
    return test(CLOCK_MONOTONIC) || test(CLOCK_REALTIME);
}
