/* An event loop with workers: requests go to the workers by a queue, what they have done comes back by a list and a
 * byte in a pipe, of which there is at most one: a flag tells that it is on its way.
 *
 * Bug: the loop takes the flag down behind the list; what a worker adds between the two is not told of.
 * Shows as: a deadlock: the loop reads from the pipe for ever.
 * FIXED: it takes it down before. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORKERS = 2, REQUESTS = 5 };

struct request {
    struct request *next;
    int number, answer;
};

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct request *head, **tail;
    bool closed;
};

static struct queue work = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &work.head, false };

/* What is done, on its way back to the loop. */
static struct {
    pthread_mutex_t lock;
    struct request *list;
    bool told;
    int pipe[2];
} done = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void queue_put(struct queue *q, struct request *r)
{
    pthread_mutex_lock(&q->lock);
    r->next = NULL;
    *q->tail = r;
    q->tail = &r->next;
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

static struct request *queue_get(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (!q->head && !q->closed)
        pthread_cond_wait(&q->filled, &q->lock);
    struct request *r = q->head;
    if (r && !(q->head = r->next))
        q->tail = &q->head;
    pthread_mutex_unlock(&q->lock);
    return r;
}

static void queue_close(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

static void give_back(struct request *r)
{
    pthread_mutex_lock(&done.lock); /* culprit */
    r->next = done.list;
    done.list = r;
    bool tell = !done.told;
    done.told = true;
    pthread_mutex_unlock(&done.lock);
    if (tell && write(done.pipe[1], "", 1) != 1)
        abort();
}

static void *worker(void *arg)
{
    struct request *r;
    while ((r = queue_get(&work))) {
        r->answer = r->number * r->number;
        give_back(r);
    }
    return arg;
}

static struct request *take_all(void)
{
    pthread_mutex_lock(&done.lock); /* culprit */
    struct request *list = done.list;
    done.list = NULL;
    pthread_mutex_unlock(&done.lock);
    return list;
}

static void take_down(void)
{
    pthread_mutex_lock(&done.lock); /* culprit */
    done.told = false;
    pthread_mutex_unlock(&done.lock);
}

static int loop(int expected)
{
    int sum = 0;
    while (expected) {
        char byte;
        if (read(done.pipe[0], &byte, 1) != 1) /* culprit */
            return -1;
#ifdef FIXED
        take_down();
#endif
        for (struct request *r = take_all(); r; r = r->next) {
            sum += r->answer;
            expected--;
        }
#ifndef FIXED
        take_down();
#endif
    }
    return sum;
}

int main(void)
{
    static struct request requests[REQUESTS];
    pthread_t workers[WORKERS];
    if (pipe(done.pipe))
        return 2;
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    for (int i = 0; i < REQUESTS; i++) {
        requests[i].number = i;
        queue_put(&work, &requests[i]);
    }
    printf("%d\n", loop(REQUESTS));
    queue_close(&work);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    return 0;
}
