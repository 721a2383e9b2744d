/* An alarm goes off while its signal is blocked, and is handled when it is let in. It was counted as a signal from
 * outside, so that there was no guarantee.
 *
 * RUN: pct run -n 3 -s 1 -S pct -d 1 --state none -- %p > %t/out 2>&1 && ! grep 'came from outside' %t/out
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;

static void handle(int number)
{
    handled = number;
}

static void *sleeps(void *unused)
{
    usleep(30000);
    return unused;
}

int main(void)
{
    struct sigaction action = { .sa_handler = handle };
    const struct itimerval soon = { .it_value = { .tv_usec = 10000 } };
    pthread_t thread;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGALRM);
    assert(!pthread_sigmask(SIG_BLOCK, &one, NULL) && !sigaction(SIGALRM, &action, NULL));
    assert(!setitimer(ITIMER_REAL, &soon, NULL));
    pthread_create(&thread, NULL, sleeps, NULL);
    pthread_join(thread, NULL);
    assert(!handled && !pthread_sigmask(SIG_UNBLOCK, &one, NULL) && handled);
    return 0;
}
