/* A bounded queue with two condition variables, which can be closed.
 *
 * Bug: queue_close() wakes those who wait for an item, not those who wait for room.
 * Shows as: a deadlock: a producer waits for room for ever.
 * FIXED: it wakes both. */
#include <pthread.h>
#include <stdbool.h>

enum { ROOM = 2, PRODUCERS = 2, ITEMS = 3, WANTED = 3 };

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
    int item[ROOM];
    unsigned first, count;
    bool closed;
};

static struct queue queue = { .lock = PTHREAD_MUTEX_INITIALIZER,
                              .not_empty = PTHREAD_COND_INITIALIZER,
                              .not_full = PTHREAD_COND_INITIALIZER };

static bool queue_put(struct queue *q, int item)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == ROOM && !q->closed)
        pthread_cond_wait(&q->not_full, &q->lock); /* culprit */
    bool open = !q->closed;
    if (open) {
        q->item[(q->first + q->count++) % ROOM] = item;
        pthread_cond_signal(&q->not_empty);
    }
    pthread_mutex_unlock(&q->lock);
    return open;
}

static bool queue_get(struct queue *q, int *item)
{
    pthread_mutex_lock(&q->lock);
    while (!q->count && !q->closed)
        pthread_cond_wait(&q->not_empty, &q->lock);
    bool got = q->count > 0;
    if (got) {
        *item = q->item[q->first];
        q->first = (q->first + 1) % ROOM;
        q->count--;
        pthread_cond_signal(&q->not_full);
    }
    pthread_mutex_unlock(&q->lock);
    return got;
}

static void queue_close(struct queue *q)
{
    pthread_mutex_lock(&q->lock); /* culprit */
    q->closed = true;
    pthread_cond_broadcast(&q->not_empty); /* culprit */
#ifdef FIXED
    pthread_cond_broadcast(&q->not_full);
#endif
    pthread_mutex_unlock(&q->lock);
}

static void *producer(void *argument)
{
    int first = *(int *)argument;
    for (int i = 0; i < ITEMS && queue_put(&queue, first + i); i++)
        ;
    return NULL;
}

static void *consumer(void *unused)
{
    (void)unused;
    int sum = 0, item;
    for (int i = 0; i < WANTED && queue_get(&queue, &item); i++)
        sum += item;
    queue_close(&queue);
    return NULL;
}

int main(void)
{
    pthread_t producers[PRODUCERS], sink;
    int first[PRODUCERS] = { 10, 20 };
    for (int i = 0; i < PRODUCERS; i++)
        pthread_create(&producers[i], NULL, producer, &first[i]);
    pthread_create(&sink, NULL, consumer, NULL);
    pthread_join(sink, NULL);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(producers[i], NULL);
    return 0;
}
