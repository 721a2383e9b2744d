/* A work queue with a shutdown: workers take jobs until the queue is empty and closed.
 *
 * Bug: queue_close() sets the flag and wakes the workers without the mutex. A worker that has looked at the flag and
 *   does not wait yet is not woken.
 * Shows as: deadlock; main joins a worker that waits.
 * FIXED: with the mutex. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 2, JOBS = 4 };

struct job {
    struct job *next;
    int number;
};

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t ready;
    struct job *first, **end;
    atomic_int closed;
};

static struct queue queue = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .ready = PTHREAD_COND_INITIALIZER,
    .end = &queue.first,
};
static atomic_int done;

static void queue_push(struct queue *q, int number)
{
    struct job *job = malloc(sizeof *job);
    if (!job)
        exit(3);
    *job = (struct job){ .number = number };
    pthread_mutex_lock(&q->mutex);
    *q->end = job;
    q->end = &job->next;
    pthread_cond_signal(&q->ready);
    pthread_mutex_unlock(&q->mutex);
}

static struct job *queue_pop(struct queue *q)
{
    pthread_mutex_lock(&q->mutex);
    while (!q->first && !q->closed)
        pthread_cond_wait(&q->ready, &q->mutex); /* culprit */
    struct job *job = q->first;
    if (job) {
        q->first = job->next;
        if (!q->first)
            q->end = &q->first;
    }
    pthread_mutex_unlock(&q->mutex);
    return job;
}

static void queue_close(struct queue *q)
{
#ifdef FIXED
    pthread_mutex_lock(&q->mutex);
#endif
    q->closed = 1;
    pthread_cond_broadcast(&q->ready); /* culprit */
#ifdef FIXED
    pthread_mutex_unlock(&q->mutex);
#endif
}

static void *work(void *unused)
{
    struct job *job;
    (void)unused;
    while ((job = queue_pop(&queue))) {
        done += 1;
        free(job);
    }
    return NULL;
}

int main(void)
{
    pthread_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&workers[i], NULL, work, NULL))
            return 3;
    for (int i = 0; i < JOBS; i++)
        queue_push(&queue, i);
    queue_close(&queue);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    assert(done == JOBS);
    printf("%d jobs\n", done);
    return 0;
}
