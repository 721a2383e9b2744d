/* A worker with a lock and a condition of its own, in memory that its owner frees when it is idle.
 *
 * Bug: it says that it is idle in the middle of a section, and then unlocks.
 * Shows as: a lock that is destroyed while it is held, or used behind that.
 * FIXED: who waits for that takes the lock once more. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct worker {
    pthread_mutex_t lock;
    sem_t idle;
    int done;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    pthread_mutex_lock(&worker->lock); /* culprit */
    worker->done++;
    sem_post(&worker->idle);
    pthread_mutex_unlock(&worker->lock); /* culprit */
    return NULL;
}

static void dispose(struct worker *worker)
{
    sem_wait(&worker->idle);
#ifdef FIXED
    pthread_mutex_lock(&worker->lock);
    pthread_mutex_unlock(&worker->lock);
#else
    worker->done = 0;
#endif
    pthread_mutex_destroy(&worker->lock); /* culprit */
}

int main(void)
{
    struct worker *workers[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        workers[i] = calloc(1, sizeof *workers[i]);
        pthread_mutex_init(&workers[i]->lock, NULL);
        sem_init(&workers[i]->idle, 0, 0);
        pthread_create(&threads[i], NULL, work, workers[i]);
    }
    for (int i = 0; i < 2; i++)
        dispose(workers[i]);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        free(workers[i]);
    }
    return 0;
}
