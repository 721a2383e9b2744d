/* A queue that is right for one thread: queue_get() takes the item behind its lock. -DFIXED mends it. */
#include "queue.h"
#include <assert.h>

/*@demon require some: queue->size > 0 */
static int take(struct queue *queue)
{
    assert(queue->size > 0);
    return queue->item[--queue->size];
}

/*@demon test
 * rely locked: holds(queue->mutex) implies unchanged(queue->size)
 * wait some: queue->size > 0
 */
int queue_get(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    while (queue->size == 0)
        pthread_cond_wait(&queue->some, &queue->mutex);
#ifdef FIXED
    int item = take(queue);
    pthread_mutex_unlock(&queue->mutex);
#else
    pthread_mutex_unlock(&queue->mutex);
    int item = take(queue);
#endif
    return item;
}

/*@demon
 * require room: queue->size < 8
 * ensure more: queue->size = old queue->size + 1
 */
void queue_put(struct queue *queue, int item)
{
    pthread_mutex_lock(&queue->mutex);
    if (queue->size < QUEUE_ROOM)
        queue->item[queue->size++] = item;
    pthread_cond_signal(&queue->some);
    pthread_mutex_unlock(&queue->mutex);
}

/*@demon ensure empty: queue->size = 0 */
void queue_clear(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    queue->size = 0;
    pthread_mutex_unlock(&queue->mutex);
}
