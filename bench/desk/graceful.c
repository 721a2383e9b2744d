/* A server that stops when no request is active: the acceptor hands requests to workers, main waits for the last.
 *
 * Bug: a request counts as active only when a worker has begun with it, not when it was accepted: while it is in the
 *   queue, nobody counts it.
 * Shows as: a failed assertion: fewer replies than requests.
 * FIXED: the acceptor counts it. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 2, REQUESTS = 3 };

struct request {
    int number;
    struct request *next;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    struct request *first, **last;
    bool closed;
} queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .ready = PTHREAD_COND_INITIALIZER, .last = &queue.first };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t idle;
    int count;
} active = { .lock = PTHREAD_MUTEX_INITIALIZER, .idle = PTHREAD_COND_INITIALIZER };

static pthread_mutex_t replies_lock = PTHREAD_MUTEX_INITIALIZER;
static int replies;

static void begin(void)
{
    pthread_mutex_lock(&active.lock); /* culprit */
    active.count++;
    pthread_mutex_unlock(&active.lock);
}

static void end(void)
{
    pthread_mutex_lock(&active.lock);
    if (--active.count == 0)
        pthread_cond_broadcast(&active.idle);
    pthread_mutex_unlock(&active.lock);
}

static void wait_until_idle(void)
{
    pthread_mutex_lock(&active.lock); /* culprit */
    while (active.count > 0)
        pthread_cond_wait(&active.idle, &active.lock);
    pthread_mutex_unlock(&active.lock);
}

static void enqueue(struct request *request)
{
    pthread_mutex_lock(&queue.lock);
    request->next = NULL;
    *queue.last = request;
    queue.last = &request->next;
    pthread_cond_signal(&queue.ready);
    pthread_mutex_unlock(&queue.lock);
}

static struct request *dequeue(void)
{
    pthread_mutex_lock(&queue.lock); /* culprit */
    while (!queue.first && !queue.closed)
        pthread_cond_wait(&queue.ready, &queue.lock); /* culprit */
    struct request *request = queue.first;
    if (request && !(queue.first = request->next))
        queue.last = &queue.first;
    pthread_mutex_unlock(&queue.lock);
    return request;
}

static void close_queue(void)
{
    pthread_mutex_lock(&queue.lock);
    queue.closed = true;
    pthread_cond_broadcast(&queue.ready);
    pthread_mutex_unlock(&queue.lock);
}

static void handle(struct request *request)
{
    pthread_mutex_lock(&replies_lock);
    replies++;
    pthread_mutex_unlock(&replies_lock);
    free(request);
}

static void *worker(void *unused)
{
    (void)unused;
    struct request *request;
    while ((request = dequeue())) {
#ifndef FIXED
        begin(); /* culprit */
#endif
        handle(request);
        end();
    }
    return NULL;
}

static void *acceptor(void *unused)
{
    (void)unused;
    for (int i = 0; i < REQUESTS; i++) {
        struct request *request = malloc(sizeof *request);
        if (!request)
            abort();
        request->number = i;
#ifdef FIXED
        begin();
#endif
        enqueue(request);
    }
    return NULL;
}

int main(void)
{
    pthread_t workers[WORKERS], accepting;
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, worker, NULL);
    pthread_create(&accepting, NULL, acceptor, NULL);
    pthread_join(accepting, NULL);
    wait_until_idle();                 /* culprit */
    pthread_mutex_lock(&replies_lock); /* culprit */
    assert(replies == REQUESTS);
    pthread_mutex_unlock(&replies_lock);
    close_queue();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    puts("stopped");
    return 0;
}
