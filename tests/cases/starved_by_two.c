/* Threads that wake each other, and one that wants the lock which each of them has for a moment: any fair scheduler
 * lets it have that soon. By the default order, without preemption, two of the first went on for ever, as the thread
 * with the lowest id followed.
 *
 * RUN: timeout 100 pct run -S schedule --max-steps 2000000 --state none --timeout 90 -- %p
 */
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
enum { WAKERS = 3 };
static int begun;
static bool done;

static void *wake_others(void *unused)
{
    pthread_mutex_lock(&mutex);
    begun++;
    while (!done) {
        pthread_cond_broadcast(&cond);
        pthread_cond_wait(&cond, &mutex);
    }
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *end_it(void *unused)
{
    pthread_mutex_lock(&mutex);
    done = begun == WAKERS;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t waker[WAKERS], ender;
    for (int i = 0; i < WAKERS; i++)
        pthread_create(&waker[i], NULL, wake_others, NULL);
    pthread_create(&ender, NULL, end_it, NULL);
    pthread_join(ender, NULL);
    pthread_mutex_lock(&mutex);
    done = true; /* where it came first */
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < WAKERS; i++)
        pthread_join(waker[i], NULL);
    return 0;
}
