/* A thread ends with a robust mutex that it has taken by pthread_mutex_trylock, as all do; the one that was woken to
 * have it was said to wait for ever.
 *
 * RUN: pct run -q -s 1 -n 100 --timeout 20 -- %p
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t mutex;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int ready;

static int take(void)
{
    int error;
    while ((error = pthread_mutex_trylock(&mutex)) == EBUSY)
        sched_yield();
    return error == EOWNERDEAD ? pthread_mutex_consistent(&mutex) : error;
}

static void *signal_and_end(void *unused)
{
    take();
    ready = 1;
    pthread_cond_signal(&cond);
    return unused;
}

static void *wait_for(void *unused)
{
    take();
    while (!ready)
        if (pthread_cond_wait(&cond, &mutex) == EOWNERDEAD)
            pthread_mutex_consistent(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_t threads[2];
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attr);
    pthread_create(&threads[0], NULL, wait_for, NULL);
    pthread_create(&threads[1], NULL, signal_and_end, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
