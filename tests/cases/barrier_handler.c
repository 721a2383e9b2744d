/* The last thread arrives at a barrier while the other is in a signal handler, destroys the barrier, and uses the
 * memory and the scheduler's objects for something else: the other one has left the barrier all the same.
 * RUN: for strategy in pct pos random-walk; do pct run -q -n 100 -s 1 -S $strategy -- %p || exit 1; done
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

static pthread_barrier_t *barrier;

static void handle(int signal)
{
    (void)signal;
    for (int i = 0; i < 5; i++)
        sched_yield();
}

static void *work(void *unused)
{
    pthread_barrier_wait(barrier);
    return unused;
}

int main(void)
{
    enum { MUTEXES = 4 };
    const struct sigaction action = { .sa_handler = handle };
    pthread_mutex_t mutexes[MUTEXES];
    pthread_t worker;
    sigaction(SIGUSR1, &action, NULL);
    barrier = malloc(sizeof *barrier);
    pthread_barrier_init(barrier, NULL, 2);
    pthread_create(&worker, NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        sched_yield();
    pthread_kill(worker, SIGUSR1);
    pthread_barrier_wait(barrier);
    pthread_barrier_destroy(barrier);
    for (int i = 0; i < MUTEXES; i++)
        pthread_mutex_init(&mutexes[i], NULL);
    for (int i = 0; i < MUTEXES; i++) {
        pthread_mutex_lock(&mutexes[i]);
        pthread_mutex_unlock(&mutexes[i]);
    }
    pthread_join(worker, NULL);
    free(barrier);
    return 0;
}
