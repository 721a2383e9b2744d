/* pbzip2 0.9.4 (queueDelete): the main thread deletes the queue, and its mutex, while a consumer is still about to
 * unlock it. FIXED: consumers are counted, and waited for. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct queue {
    pthread_mutex_t *mut;
    int consumers;
};

static void release(struct queue *queue)
{
    assert(queue->mut);
    pthread_mutex_unlock(queue->mut);
}

static void consume(struct queue *queue)
{
    pthread_mutex_lock(queue->mut);
    release(queue);
}

/* Others; whoever calls it has waited for the consumers that are counted. */
__attribute__((used)) static void queue_delete(struct queue *queue)
{
    if (queue->consumers == 0)
        queue->mut = NULL;
}

#ifdef THREADS
static void *others(void *queue)
{
    queue_delete(queue);
    return NULL;
}
#endif

int main(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static struct queue queue = { .mut = &mutex };
#ifdef FIXED
    queue.consumers = 1;
#endif
#ifdef THREADS
    pthread_t thread;
    pthread_create(&thread, NULL, others, &queue);
#endif
    consume(&queue);
#ifdef THREADS
    pthread_join(thread, NULL);
#endif
    return 0;
}
