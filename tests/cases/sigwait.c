// sigwait() for the alarm or the timer of the process itself takes virtual time, as pause() does: nothing else can run,
// so time jumps to it. It took real time.
//
// RUN: timeout 20 pct run -q -s 1 -n 20 -- %p
// RUN: timeout 20 pct run -q -s 1 -n 20 -S random-walk -- %p
// RUN: pct run -q -s 3 -t %t/trace -- %p && pct replay %t/trace -- %p
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>
static void *wait_for_timer(void *set)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
    struct itimerspec when = { .it_value = { .tv_sec = 3000 }, .it_interval = { .tv_sec = 1000 } };
    timer_t timer;
    assert(!timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_settime(timer, 0, &when, NULL));
    for (int i = 0; i < 3; i++)
        assert(sigwaitinfo(set, NULL) == SIGUSR1);
    return NULL;
}
int main(void)
{
    sigset_t alarms, timers;
    pthread_t thread;
    int signal = 0;
    time_t start = time(NULL);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigemptyset(&timers);
    sigaddset(&timers, SIGUSR1);
    sigprocmask(SIG_BLOCK, &alarms, NULL);
    sigprocmask(SIG_BLOCK, &timers, NULL);
    alarm(1000);
    assert(!sigwait(&alarms, &signal) && signal == SIGALRM);
    assert(time(NULL) - start >= 1000);
    pthread_create(&thread, NULL, wait_for_timer, &timers);
    pthread_join(thread, NULL);
    assert(time(NULL) - start >= 6000);
    return 0;
}
