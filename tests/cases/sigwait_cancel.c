// Threads that wait for signals are cancelled, each way, also after the scheduler has left them to the world outside.
//
// RUN: %p
// RUN: pct run -q -s 1 -n 60 --timeout 20 -- %p
// RUN: pct run -q -s 1 -n 60 -S random-walk --timeout 20 -- %p
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void *wait_for_signal(void *how)
{
    sigset_t set;
    siginfo_t info;
    int number;
    struct timespec long_time = { 1000, 0 };
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    if (how == (void *)0)
        sigwait(&set, &number);
    else if (how == (void *)1)
        sigwaitinfo(&set, &info);
    else
        sigtimedwait(&set, &info, &long_time);
    return how;
}

static void *sleep_for_ever(void *unused)
{
    for (;;)
        usleep(1000);
    return unused;
}

int main(void)
{
    pthread_t sleeper, waiter;
    sigset_t set;
    void *value;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&sleeper, NULL, sleep_for_ever, NULL);
    for (long how = 0; how < 3; how++) {
        pthread_create(&waiter, NULL, wait_for_signal, (void *)how);
        usleep(100);
        pthread_cancel(waiter);
        pthread_join(waiter, &value);
        assert(value == PTHREAD_CANCELED);
    }
    return 0;
}
