// A bounded queue of jobs between a reader and two workers. When the reader has no more, it closes the queue; the
// workers take what is left, and go.
//
// Bug: a worker looks whether the queue is closed before it looks whether there is a job, so that jobs that are still
// queued when it is closed are never done.
// Shows as: an exit status of 1: fewer jobs done than read.
// FIXED: who finds the queue closed goes only if it is empty.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { CAPACITY = 3, JOBS = 6, WORKERS = 2 };

struct job {
    int number;
    int result;
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
    struct job *jobs[CAPACITY];
    int first, count;
    bool closed;
};

static struct queue queue = { .lock = PTHREAD_MUTEX_INITIALIZER,
                              .not_empty = PTHREAD_COND_INITIALIZER,
                              .not_full = PTHREAD_COND_INITIALIZER };
static pthread_mutex_t results_lock = PTHREAD_MUTEX_INITIALIZER;
static int done;

static void queue_put(struct queue *q, struct job *job)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == CAPACITY)
        pthread_cond_wait(&q->not_full, &q->lock);
    q->jobs[(q->first + q->count) % CAPACITY] = job;
    q->count++;
    pthread_cond_signal(&q->not_empty);
    pthread_mutex_unlock(&q->lock);
}

static struct job *queue_get(struct queue *q)
{
    struct job *job = NULL;
    pthread_mutex_lock(&q->lock); // culprit
    while (q->count == 0 && !q->closed)
        pthread_cond_wait(&q->not_empty, &q->lock); // culprit
#ifdef FIXED
    if (q->count > 0) {
#else
    if (!q->closed) {
#endif
        job = q->jobs[q->first];
        q->first = (q->first + 1) % CAPACITY;
        q->count--;
        pthread_cond_signal(&q->not_full);
    }
    pthread_mutex_unlock(&q->lock);
    return job;
}

static void queue_close(struct queue *q)
{
    pthread_mutex_lock(&q->lock); // culprit
    q->closed = true;
    pthread_cond_broadcast(&q->not_empty); // culprit
    pthread_mutex_unlock(&q->lock);
}

static void *work(void *arg)
{
    struct job *job;
    while ((job = queue_get(&queue))) {
        job->result = job->number * job->number;
        pthread_mutex_lock(&results_lock);
        done++;
        pthread_mutex_unlock(&results_lock);
        free(job);
    }
    return arg;
}

int main(void)
{
    pthread_t workers[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, NULL);
    for (int i = 0; i < JOBS; i++) {
        struct job *job = calloc(1, sizeof *job);
        job->number = i;
        queue_put(&queue, job);
    }
    queue_close(&queue);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    printf("%d of %d jobs done\n", done, JOBS);
    return done == JOBS ? 0 : 1;
}
