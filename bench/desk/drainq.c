/* A job queue: workers take jobs until the queue is closed and empty.
 *
 * Bug: who closes it wakes one worker, though all that wait have to end.
 * Shows as: a deadlock.
 * FIXED: broadcast. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { WORKERS = 2, JOBS = 3 };

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int jobs, done;
    bool closed;
};

static struct queue q = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, false };

static bool take(void)
{
    pthread_mutex_lock(&q.lock);
    while (q.jobs == 0 && !q.closed)
        pthread_cond_wait(&q.changed, &q.lock); /* culprit */
    bool some = q.jobs > 0;
    if (some)
        q.jobs--;
    pthread_mutex_unlock(&q.lock);
    return some;
}

static void *worker(void *arg)
{
    while (take()) {
        pthread_mutex_lock(&q.lock);
        q.done++;
        pthread_mutex_unlock(&q.lock);
    }
    return arg;
}

static void put(void)
{
    pthread_mutex_lock(&q.lock);
    q.jobs++;
    pthread_cond_signal(&q.changed);
    pthread_mutex_unlock(&q.lock);
}

static void close_queue(void)
{
    pthread_mutex_lock(&q.lock); /* culprit */
    q.closed = true;
#ifdef FIXED
    pthread_cond_broadcast(&q.changed);
#else
    pthread_cond_signal(&q.changed); /* culprit */
#endif
    pthread_mutex_unlock(&q.lock);
}

int main(void)
{
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < JOBS; i++)
        put();
    close_queue();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("%d done\n", q.done);
    return q.done != JOBS;
}
