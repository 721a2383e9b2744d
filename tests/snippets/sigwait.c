/* sigwait: takes a pending signal, to this thread or the process; a cancellation point. */
/* ops: SIGNAL_WAIT SIGNAL_SEND */
#define _GNU_SOURCE
#include "check.h"
#include <signal.h>

enum { ROUNDS = 5 };

static sigset_t set;
static pthread_barrier_t next;
static int taken;

static void *take(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        int signal = 0;
        CHECK_OK(sigwait(&set, &signal));
        CHECK_EQ(signal, i % 2 ? SIGUSR2 : SIGUSR1);
        taken++;
        pthread_barrier_wait(&next);
    }
    return unused;
}

static void *take_until_cancelled(void *unused)
{
    int signal;
    for (;;)
        sigwait(&set, &signal);
    return unused;
}

int main(void)
{
    int signal = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);

    /* Already pending. */
    CHECK_EQ(raise(SIGUSR2), 0);
    CHECK_OK(sigwait(&set, &signal));
    CHECK_EQ(signal, SIGUSR2);
    CHECK_EQ(kill(getpid(), SIGUSR1), 0);
    CHECK_EQ(kill(getpid(), SIGUSR1), 0); /* not queued */
    CHECK_OK(sigwait(&set, &signal));
    CHECK_EQ(signal, SIGUSR1);
    sigset_t pending;
    CHECK_EQ(sigpending(&pending), 0);
    CHECK_EQ(sigismember(&pending, SIGUSR1), 0);

    CHECK_EQ(pthread_barrier_init(&next, NULL, 2), 0);
    pthread_t thread = check_spawn(take, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQ(pthread_kill(thread, i % 2 ? SIGUSR2 : SIGUSR1), 0);
        pthread_barrier_wait(&next);
        CHECK_EQ(taken, i + 1);
    }
    check_join(thread);
    /* For the process: whichever thread waits takes it. */
    thread = check_spawn(take, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQ(kill(getpid(), i % 2 ? SIGUSR2 : SIGUSR1), 0);
        pthread_barrier_wait(&next);
    }
    check_join(thread);

    thread = check_spawn(take_until_cancelled, NULL);
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK(check_join(thread) == PTHREAD_CANCELED);
    return 0;
}
