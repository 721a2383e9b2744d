/* A pool that lets idle workers go, down to one.
 *
 * Bug: a worker looks in one section whether more than one is there, and goes in another: two who both look leave none.
 * Shows as: deadlock: main waits for a job that nobody does.
 * FIXED: the look and the change of the number are in one section. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 2, JOBS = 2 };

static struct pool {
    pthread_mutex_t lock;
    pthread_cond_t changed, done;
    int workers, jobs, finished;
    bool quiet; /* those that are idle may go */
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER,
           .changed = PTHREAD_COND_INITIALIZER,
           .done = PTHREAD_COND_INITIALIZER,
           .workers = WORKERS };

static bool too_many(void)
{
    pthread_mutex_lock(&pool.lock); /* culprit */
    bool many = pool.quiet && pool.jobs == 0 && pool.workers > 1;
#ifdef FIXED
    pool.workers -= many;
#endif
    pthread_mutex_unlock(&pool.lock);
    return many;
}

static void retire(void)
{
#ifndef FIXED
    pthread_mutex_lock(&pool.lock); /* culprit */
    pool.workers--;
    pthread_mutex_unlock(&pool.lock);
#endif
}

static bool work(void)
{
    pthread_mutex_lock(&pool.lock);
    while (pool.jobs == 0 && !pool.quiet)
        pthread_cond_wait(&pool.changed, &pool.lock);
    bool last = pool.jobs < 0;
    if (pool.jobs > 0) {
        pool.jobs--;
        if (++pool.finished == JOBS)
            pthread_cond_signal(&pool.done);
    } else if (pool.quiet && pool.workers == 1 && !last) {
        pthread_cond_wait(&pool.changed, &pool.lock);
    }
    pthread_mutex_unlock(&pool.lock);
    return last;
}

static void *worker(void *unused)
{
    (void)unused;
    while (!work()) {
        if (too_many()) {
            retire();
            break;
        }
    }
    return NULL;
}

static void submit(int jobs)
{
    pthread_mutex_lock(&pool.lock);
    pool.jobs += jobs;
    pool.quiet = true;
    pthread_cond_broadcast(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
}

int main(void)
{
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&threads[i], NULL, worker, NULL))
            return 3;
    submit(1);
    submit(1);
    pthread_mutex_lock(&pool.lock);
    while (pool.finished < JOBS)
        pthread_cond_wait(&pool.done, &pool.lock);
    pool.jobs = -1;
    pthread_cond_broadcast(&pool.changed);
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("%d workers left\n", pool.workers);
    return 0;
}
