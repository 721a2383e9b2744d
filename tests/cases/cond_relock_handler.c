/* A signal comes to a thread that has been woken from its wait for a condition variable, or whose time is over, and
 * waits for the mutex again: the handler runs there, as it does in every other wait for a mutex. It was put off until
 * the thread had the mutex; a holder that waits for the handler, as garbage collectors do that stop all threads, waited
 * for ever.
 * RUN: pct run -q -n 30 -s 1 -- %p
 * RUN: pct run -q -n 30 -s 1 -S random-walk -- %p
 * RUN: pct run -q -n 10 -s 1 -S pct -- %p
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t handled, done;
static int waits, ready;

static void handle(int signal)
{
    (void)signal;
    sem_post(&handled);
}

/* Until it is signalled, or, timed, 1 ms, in which nobody signals. */
static void *wait_for_it(void *timed)
{
    struct timespec until;
    int error = 0;
    pthread_mutex_lock(&mutex);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    waits = 1;
    while (!ready && !error)
        error = timed ? pthread_cond_timedwait(&cond, &mutex, &until) : pthread_cond_wait(&cond, &mutex);
    if (error != (timed ? ETIMEDOUT : 0))
        abort();
    pthread_mutex_unlock(&mutex);
    while (sem_wait(&done)) /* late, it handles the signals here */
        ;
    return NULL;
}

static void interrupt(void *timed)
{
    pthread_t waiter;
    waits = ready = 0;
    pthread_create(&waiter, NULL, wait_for_it, timed);
    pthread_mutex_lock(&mutex);
    while (!waits) {
        pthread_mutex_unlock(&mutex);
        usleep(100);
        pthread_mutex_lock(&mutex);
    }
    if (timed) {
        usleep(2000);
    } else {
        ready = 1;
        pthread_cond_signal(&cond);
    }
    for (int i = 0; i < 2; i++) {
        pthread_kill(waiter, SIGUSR1);
        while (sem_wait(&handled))
            ;
    }
    pthread_mutex_unlock(&mutex);
    sem_post(&done);
    pthread_join(waiter, NULL);
}

int main(void)
{
    sem_init(&handled, 0, 0);
    sem_init(&done, 0, 0);
    signal(SIGUSR1, handle);
    interrupt(NULL);
    interrupt(&cond);
    return 0;
}
