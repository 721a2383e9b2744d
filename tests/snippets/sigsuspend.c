/* sigsuspend: lets a blocked signal in and waits in one step; returns after the handler, with the old mask. */
/* ops: SIGNAL_WAIT SIGNAL_SEND */
#define _GNU_SOURCE
#include "check.h"
#include <signal.h>

enum { ROUNDS = 5 };

static volatile sig_atomic_t handled;
static pthread_barrier_t next;

static void handle(int signal)
{
    (void)signal;
    handled = handled + 1;
}

static void *signal_each(void *target)
{
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQ(pthread_kill(*(pthread_t *)target, SIGUSR1), 0);
        pthread_barrier_wait(&next);
    }
    return NULL;
}

static void *suspend_for_ever(void *mask)
{
    for (;;)
        sigsuspend(mask);
    return NULL;
}

int main(void)
{
    sigset_t block, old, now;
    sigemptyset(&block);
    sigaddset(&block, SIGUSR1);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &block, &old), 0);
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART; /* makes no difference */
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);

    CHECK_EQ(raise(SIGUSR1), 0);
    CHECK_EQ(handled, 0);
    CHECK_FAILS(sigsuspend(&old), EINTR);
    CHECK_EQ(handled, 1);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, NULL, &now), 0);
    CHECK_EQ(sigismember(&now, SIGUSR1), 1);

    /* The signal is blocked outside of the wait: it is never missed, and comes once a round. */
    pthread_t self = pthread_self();
    CHECK_EQ(pthread_barrier_init(&next, NULL, 2), 0);
    pthread_t thread = check_spawn(signal_each, &self);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_FAILS(sigsuspend(&old), EINTR);
        CHECK_EQ(handled, i + 2);
        pthread_barrier_wait(&next);
    }
    check_join(thread);

    thread = check_spawn(suspend_for_ever, &old);
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK(check_join(thread) == PTHREAD_CANCELED);
    return 0;
}
