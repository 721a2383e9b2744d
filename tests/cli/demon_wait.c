/* Apache 2.2.9, bug 45605, with the wait: bench/demon/apache-45605.c has the slice without. The queue has no idle worker
 * yet, so the test waits for one. */
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

#ifndef IDLERS
#define IDLERS 0
#endif

int main(void)
{
    static struct queue_info queue = { IDLERS, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER };
    wait_for_idler(&queue);
    return 0;
}
