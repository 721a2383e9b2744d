/* pause: ended by a timer's signal. It is no deadlock, though no thread can go on. */
/* tests: pause */
/* ops: SIGNAL_WAIT */
#define _GNU_SOURCE
#include "check.h"
#include <semaphore.h>
#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t handled;
static sem_t never;

static void handle(int number)
{
    (void)number;
    handled = handled + 1;
}

static void *wait_for_ever(void *unused)
{
    while (sem_wait(&never) != 0)
        CHECK_EQ(errno, EINTR);
    return unused;
}

int main(void)
{
    struct itimerval often = { .it_interval = { 0, 2000 }, .it_value = { 0, 2000 } }, none = { 0 };
    CHECK_EQ(sem_init(&never, 0, 0), 0);
    pthread_t thread = check_spawn(wait_for_ever, NULL);
    CHECK(signal(SIGALRM, handle) != SIG_ERR);
    /* Again and again, because the first may come before the pause. */
    CHECK_EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
    for (int i = 0; i < 3; i++)
        CHECK_FAILS(pause(), EINTR);
    CHECK_EQ(setitimer(ITIMER_REAL, &none, NULL), 0);
    CHECK(handled >= 3);
    CHECK_EQ(sem_post(&never), 0);
    check_join(thread);
    return 0;
}
