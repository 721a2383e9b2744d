/* A work queue whose jobs may be cancelled before they are begun; drain() waits until none is left.
 *
 * Bug: a worker may begin a job between the look at its state and the change, and then it is counted down twice. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define JOBS 4

enum state { QUEUED, RUNNING, DONE, CANCELLED };

struct job {
    enum state state;
    int input, result;
    struct job *next;
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t more, drained;
    struct job *head, *tail;
    int pending;
    bool closed;
};

static struct queue queue = { .lock = PTHREAD_MUTEX_INITIALIZER,
                              .more = PTHREAD_COND_INITIALIZER,
                              .drained = PTHREAD_COND_INITIALIZER };
static struct job jobs[JOBS];

static void queue_put(struct queue *q, struct job *j)
{
    pthread_mutex_lock(&q->lock);
    j->state = QUEUED;
    j->next = NULL;
    if (q->tail != NULL)
        q->tail->next = j;
    else
        q->head = j;
    q->tail = j;
    q->pending++;
    pthread_cond_signal(&q->more);
    pthread_mutex_unlock(&q->lock);
}

static struct job *queue_take(struct queue *q)
{
    struct job *j = NULL;

    pthread_mutex_lock(&q->lock); /* culprit */
    for (;;) {
        while (q->head == NULL && !q->closed)
            pthread_cond_wait(&q->more, &q->lock);
        j = q->head;
        if (j == NULL)
            break;
        q->head = j->next;
        if (q->head == NULL)
            q->tail = NULL;
        if (j->state == QUEUED) {
            j->state = RUNNING;
            break;
        }
    }
    pthread_mutex_unlock(&q->lock);
    return j;
}

static void job_finished(struct queue *q, struct job *j, enum state how)
{
    pthread_mutex_lock(&q->lock); /* culprit */
    j->state = how;
    q->pending--;
    if (q->pending == 0)
        pthread_cond_broadcast(&q->drained);
    pthread_mutex_unlock(&q->lock);
}

static enum state job_state(struct queue *q, struct job *j)
{
    enum state s;

    pthread_mutex_lock(&q->lock); /* culprit */
    s = j->state;
    pthread_mutex_unlock(&q->lock);
    return s;
}

static bool job_cancel(struct queue *q, struct job *j)
{
#ifdef FIXED
    bool queued;

    pthread_mutex_lock(&q->lock);
    queued = j->state == QUEUED;
    if (queued) {
        j->state = CANCELLED;
        q->pending--;
        if (q->pending == 0)
            pthread_cond_broadcast(&q->drained);
    }
    pthread_mutex_unlock(&q->lock);
    return queued;
#endif
    if (job_state(q, j) != QUEUED)
        return false;
    job_finished(q, j, CANCELLED);
    return true;
}

static void queue_drain(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->pending != 0)
        pthread_cond_wait(&q->drained, &q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->more);
    pthread_mutex_unlock(&q->lock);
}

static void *worker(void *arg)
{
    struct queue *q = arg;
    struct job *j;

    while ((j = queue_take(q)) != NULL) {
        j->result = j->input * j->input;
        job_finished(q, j, DONE);
    }
    return NULL;
}

static void *impatient(void *arg)
{
    struct queue *q = arg;

    job_cancel(q, &jobs[1]);
    job_cancel(q, &jobs[3]);
    return NULL;
}

int main(void)
{
    pthread_t w[2], c;
    int done = 0;

    for (int i = 0; i < JOBS; i++) {
        jobs[i].input = i;
        queue_put(&queue, &jobs[i]);
    }
    pthread_create(&w[0], NULL, worker, &queue);
    pthread_create(&w[1], NULL, worker, &queue);
    pthread_create(&c, NULL, impatient, &queue);
    queue_drain(&queue);
    for (int i = 0; i < 2; i++)
        pthread_join(w[i], NULL);
    pthread_join(c, NULL);
    for (int i = 0; i < JOBS; i++)
        done += jobs[i].state == DONE;
    printf("%d done, %d cancelled\n", done, JOBS - done);
    return 0;
}
