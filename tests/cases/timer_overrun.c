/* A periodic timer queues its signal once; what it misses until that is taken is counted then (timer_getoverrun). So a
 * timer of nanoseconds whose signal is blocked does no harm, and neither does an alarm of microseconds.
 *
 * RUN: pct run -q -s 1 -n 50 -- %p
 * RUN: pct run -q -s 1 -n 50 --strategy=random-walk -- %p
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static timer_t timer;

/* The overruns of a timer with this interval (ns), after this sleep (us). */
static int overruns(long interval, useconds_t length)
{
    const struct itimerspec never = { 0 }, when = { { 0, interval }, { 0, interval } };
    const struct timespec zero = { 0 };
    sigset_t set;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    timer_settime(timer, 0, &when, NULL);
    usleep(length);
    if (sigtimedwait(&set, &info, &zero) != SIGUSR1 || info.si_overrun != timer_getoverrun(timer))
        abort();
    timer_settime(timer, 0, &never, NULL);
    while (sigtimedwait(&set, NULL, &zero) == SIGUSR1)
        ;
    return info.si_overrun;
}

static int alarms;

static void handle(int signal)
{
    alarms += signal == SIGALRM;
}

int main(void)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    if (overruns(100000000, 350000) != 2)
        return 1;
    if (overruns(1, 5000) < 4000000)
        return 2;

    const struct itimerval often = { { 0, 1 }, { 0, 1 } }, never = { 0 };
    sigset_t set;
    signal(SIGALRM, handle);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    usleep(100000);
    setitimer(ITIMER_REAL, &never, NULL);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    return alarms != 1;
}
