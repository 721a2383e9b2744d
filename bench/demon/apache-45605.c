/* Apache 2.2.9, bug 45605 (fdqueue.c: ap_queue_info_wait_for_idler): the number of idle workers is looked at under the
 * lock, and taken from outside of it. */
#include <assert.h>
#include <pthread.h>

struct queue_info {
    unsigned idlers;
    pthread_mutex_t mutex;
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

int main(void)
{
    static struct queue_info queue = { .idlers = 1, .mutex = PTHREAD_MUTEX_INITIALIZER };
    wait_for_idler(&queue);
    return 0;
}
