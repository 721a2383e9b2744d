/* alarm, ualarm: SIGALRM after its time, also to a process in which no thread can go on; what was left of the one
 * before. */
/* tests: alarm ualarm */
/* ops: TIMER_SET SIGNAL_HANDLE SIGNAL_WAIT */
#define _GNU_SOURCE
#include "check.h"
#include <semaphore.h>
#include <signal.h>

static volatile sig_atomic_t handled;
static sem_t gate;

static void handle(int number)
{
    CHECK_EQ(number, SIGALRM);
    handled = handled + 1;
}

static void handle_and_post(int number)
{
    (void)number;
    sem_post(&gate);
}

static void *wait_at_gate(void *unused)
{
    while (sem_wait(&gate) != 0)
        CHECK_EQ(errno, EINTR);
    return unused;
}

int main(void)
{
    CHECK_EQ(alarm(0), 0);
    CHECK_EQ(alarm(1000), 0);
    unsigned left = alarm(500);
    CHECK(left >= 900 && left <= 1000);
    left = alarm(0);
    CHECK(left >= 400 && left <= 500);
    CHECK_EQ(alarm(0), 0);

    /* Blocked, so that it cannot come before the wait. */
    sigset_t set, others;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, &others), 0);
    CHECK(signal(SIGALRM, handle) != SIG_ERR);
    int64_t before = check_now(CLOCK_MONOTONIC);
    CHECK_EQ(alarm(1), 0);
    CHECK_FAILS(sigsuspend(&others), EINTR);
    CHECK_EQ(handled, 1);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &others, NULL), 0);
    CHECK(check_now(CLOCK_MONOTONIC) - before >= 1000000000);

    /* It interrupts a sleep; again and again, as the first may come before it. */
    CHECK_EQ(ualarm(20000, 20000), 0);
    left = sleep(1000);
    CHECK(left >= 900 && left <= 1000);
    CHECK(ualarm(1000, 1000) <= 20000);
    CHECK(handled >= 2);
    handled = 2;
    while (handled < 7)
        pause();
    CHECK(ualarm(0, 0) <= 1000);
    errno = 0;
    CHECK_EQ(ualarm(1000000, 0), (useconds_t)-1);
    CHECK_EQ(errno, EINVAL);

    /* Its handler is the only hope of all threads. */
    CHECK_EQ(sem_init(&gate, 0, 0), 0);
    CHECK(signal(SIGALRM, handle_and_post) != SIG_ERR);
    pthread_t thread = check_spawn(wait_at_gate, NULL);
    CHECK_EQ(ualarm(5000, 0), 0);
    check_join(thread);
    return 0;
}
