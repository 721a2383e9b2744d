/* Apache 2.2.9, bug 45605 (fdqueue.c: ap_queue_info_wait_for_idler): idle workers are taken outside of the lock. */
#include <assert.h>
#include <pthread.h>

struct queue_info {
    unsigned idlers;
    pthread_mutex_t mutex;
    pthread_cond_t some;
};

static void decrement(struct queue_info *queue)
{
    assert(queue->idlers > 0);
    queue->idlers--;
}

/* Others: a worker is no longer idle. */
__attribute__((used)) static void take_idler(struct queue_info *queue)
{
    pthread_mutex_lock(&queue->mutex);
    if (queue->idlers > 0)
        queue->idlers--;
    pthread_mutex_unlock(&queue->mutex);
}

#ifdef WAITS
/* Others: one is. */
__attribute__((used)) static void set_idle(struct queue_info *queue)
{
    pthread_mutex_lock(&queue->mutex);
    queue->idlers++;
    pthread_cond_signal(&queue->some);
    pthread_mutex_unlock(&queue->mutex);
}

static void wait_for_idler(struct queue_info *queue)
{
    pthread_mutex_lock(&queue->mutex);
    while (queue->idlers == 0)
        pthread_cond_wait(&queue->some, &queue->mutex);
#ifndef FIXED
    pthread_mutex_unlock(&queue->mutex);
#endif
    decrement(queue);
#ifdef FIXED
    pthread_mutex_unlock(&queue->mutex);
#endif
}
#endif

#ifndef WAITS
/* 1: there was an idle worker. */
static int wait_for_idler(struct queue_info *queue)
{
#ifdef FIXED
    pthread_mutex_lock(&queue->mutex);
    int some = queue->idlers > 0;
    if (some)
        decrement(queue);
    pthread_mutex_unlock(&queue->mutex);
    return some;
#else
    if (queue->idlers == 0)
        return 0; /* waits, there */
    decrement(queue);
    return 1;
#endif
}
#endif

#ifdef THREADS
static void *others(void *queue)
{
#ifdef EMPTY
    set_idle(queue);
#endif
    take_idler(queue);
#ifdef EMPTY
    set_idle(queue);
#endif
    return NULL;
}
#endif

int main(void)
{
    static struct queue_info queue = { .idlers = 1,
                                       .mutex = PTHREAD_MUTEX_INITIALIZER,
                                       .some = PTHREAD_COND_INITIALIZER };
#ifdef EMPTY
    queue.idlers = 0;
#endif
#ifdef THREADS
    pthread_t thread;
    pthread_create(&thread, NULL, others, &queue);
#endif
    wait_for_idler(&queue);
#ifdef THREADS
    pthread_join(thread, NULL);
#endif
    return 0;
}
