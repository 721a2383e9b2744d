/* A trace can be read whatever ends its run and whoever turns its blocks: handlers of signals from threads and from a
 * timer run all the time, the watchdog takes the baton from a loop, and the record area is used again and again, when
 * --timeout ends the run, or the run itself.
 * RUN: for strategy in pct pos random-walk; do for seed in 1 2 ${FULL:+3 4};
 *     do pct run -q -s $seed -S $strategy --timeout 2 -t %t/trace -- %p; [ $? = 124 ] &&
 *     pct report %t/trace > %t/log || exit 1; grep "seed $seed; threads 4, steps [1-9]" %t/log || exit 1; done; done
 * RUN: for strategy in pct pos random-walk; do pct run -q -s 1 -S $strategy -t %t/trace -- %p 20000 &&
 *     pct report %t/trace > %t/log && pct trace %t/trace > /dev/null || exit 1; done
 * RUN: for seed in 1 2 ${FULL:+3 4}; do pct run -q -s $seed -S pos -t %t/trace -- %p 5000 crash; [ $? = 134 ] &&
 *     pct report %t/trace || exit 1; done
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

enum { WORKERS = 3, SPIN_EVERY = 2000, SPINS = 3000000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_t workers[WORKERS];
static sem_t sem;
static volatile int ends, spins;

static void handle(int signal)
{
    (void)signal;
    sem_post(&sem);
    sched_yield();
    sem_trywait(&sem);
}

static void *work(void *number)
{
    while (!ends) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        if (number)
            pthread_kill(workers[(long)number - 1], SIGUSR1);
        if (!pthread_mutex_trylock(&other))
            pthread_mutex_unlock(&other);
        sem_post(&sem);
        sem_wait(&sem);
    }
    return NULL;
}

/* Usage: trace_storm [ROUNDS [crash]] */
int main(int argc, char **argv)
{
    const struct sigaction action = { .sa_handler = handle };
    const struct itimerval timer = { { 0, 500 }, { 0, 500 } };
    long rounds = argc > 1 ? atol(argv[1]) : 0;
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    sem_init(&sem, 0, 1);
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, (void *)i);
    for (long i = 0; !rounds || i < rounds; i++) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        if (i % SPIN_EVERY == 0)
            for (spins = 0; spins < SPINS; spins++)
                continue;
    }
    if (argc > 2)
        abort();
    ends = 1;
    for (long i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    return 0;
}
