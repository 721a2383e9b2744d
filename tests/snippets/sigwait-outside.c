/* Threads that have waited for a signal while everybody slept are outside, in the kernel. A signal that a thread or a
 * timer of this process sends them then comes at that step, not when the machine likes. */
/* tests: sigwaitinfo, pthread_kill, kill, setitimer */
/* ops: SIGNAL_WAIT SIGNAL_SEND SLEEP */
#define _GNU_SOURCE
#include "check.h"
#include <signal.h>
#include <sys/time.h>

enum { TAKERS = 3, ROUNDS = 12 };

static const int signals[TAKERS] = { SIGUSR1, SIGUSR2, SIGALRM };
static pthread_barrier_t next;
static int taken[TAKERS];

static void *take(void *arg)
{
    const int *wanted = arg;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, *wanted);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQ(sigwaitinfo(&set, NULL), *wanted);
        taken[wanted - signals]++;
        pthread_barrier_wait(&next);
    }
    return NULL;
}

/* Steps that the takers run among. */
static void *work(void *mutex)
{
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(mutex);
        pthread_mutex_unlock(mutex);
    }
    return NULL;
}

int main(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_t takers[TAKERS];
    sigset_t set;
    sigemptyset(&set);
    for (int i = 0; i < TAKERS; i++)
        sigaddset(&set, signals[i]);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    CHECK_EQ(pthread_barrier_init(&next, NULL, TAKERS + 1), 0);
    for (int i = 0; i < TAKERS; i++)
        takers[i] = check_spawn(take, (void *)&signals[i]);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_t worker = check_spawn(work, &mutex);
        CHECK_EQ(usleep(1000), 0);
        CHECK_EQ(pthread_kill(takers[0], SIGUSR1), 0);
        work(&mutex);
        CHECK_EQ(kill(getpid(), SIGUSR2), 0);
        work(&mutex);
        const struct itimerval soon = { .it_value.tv_usec = 100 };
        CHECK_EQ(setitimer(ITIMER_REAL, &soon, NULL), 0);
        work(&mutex);
        pthread_barrier_wait(&next);
        check_join(worker);
        for (int t = 0; t < TAKERS; t++)
            CHECK_EQ(taken[t], i + 1);
    }
    for (int i = 0; i < TAKERS; i++)
        check_join(takers[i]);
    return 0;
}
