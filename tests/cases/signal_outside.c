/* A signal for a thread that waits for another one with a deadline, which it does in the kernel: its handler runs, and
 * the wait ends, before whoever sent it has slept for any virtual time, however busy the machine is.
 *
 * RUN: for s in {1..10}; do pct run -q -s $s --slack 0 -S random-walk -- %p || exit 1; done
 * Behind its handler the thread has its turn until it is back from the kernel: nobody else goes on meanwhile.
 *
 * RUN: for s in {1..3}; do pct run -q -s $s --slack 0 -S random-walk -t %t/trace -- %p &&
 *     pct trace %t/trace > %t/steps && [ "$(grep -c "signal handler" %t/steps)" = 50 ] &&
 *     ! grep -A 1 "signal handler" %t/steps | grep -q outside || exit 1; done
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

static atomic_int ended;

static void handle(int signal)
{
    (void)signal;
}

static void *wait_for_other(void *unused)
{
    const struct timespec hour = { .tv_sec = 3600 };
    sigset_t other;
    sigemptyset(&other), sigaddset(&other, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &other, NULL);
    sigtimedwait(&other, NULL, &hour);
    ended = 1;
    return unused;
}

int main(void)
{
    struct sigaction action = { .sa_handler = handle };
    int late = 0;
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        ended = 0;
        pthread_create(&thread, NULL, wait_for_other, NULL);
        usleep(5000);
        pthread_kill(thread, SIGUSR1);
        usleep(5000);
        late += !ended;
        pthread_kill(thread, SIGUSR2);
        pthread_join(thread, NULL);
    }
    return late;
}
