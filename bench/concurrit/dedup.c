/* A pipeline whose queue gives its lock back between the look and the take.
 *
 * Source: the Concurrit paper, table 1, "dedup": dequeue() of PARSEC's dedup; what was put into it stands in the
 *   sources that the paper refers to (bench/dedup).
 * Bug: dequeue() sees that the queue is not empty, unlocks, locks, and takes what it finds; meanwhile another thread
 *   has taken the last.
 * Shows as: a failed assertion: a chunk that nobody has put there (dedup works on a stale pointer).
 * FIXED: the lock is kept. */
#include "../bugs/shared.h"
#include <pct/script.h>

enum { COMPRESSORS = 2, SIZE = 4, PRODUCERS = 1 };

static struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t empty;
    int *data[SIZE];
    int head, tail, end_count;
} queue = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, { NULL }, 0, 0, 0 };

static void enqueue(int *chunk)
{
    pthread_mutex_lock(&queue.mutex);
    queue.data[queue.head] = chunk;
    queue.head = (queue.head + 1) % SIZE;
    pthread_cond_signal(&queue.empty);
    pthread_mutex_unlock(&queue.mutex);
}

static void queue_signal_terminate(void)
{
    pthread_mutex_lock(&queue.mutex);
    queue.end_count++;
    pthread_cond_broadcast(&queue.empty);
    pthread_mutex_unlock(&queue.mutex);
}

/* Whether there was a chunk. */
static int dequeue(int **chunk)
{
    pthread_mutex_lock(&queue.mutex);
    while (queue.tail == queue.head && queue.end_count < PRODUCERS)
        pthread_cond_wait(&queue.empty, &queue.mutex);
    if (queue.tail == queue.head) {
        pthread_mutex_unlock(&queue.mutex);
        return 0;
    }
#ifndef FIXED
    pthread_mutex_unlock(&queue.mutex);
    pct_point("seen");
    pthread_mutex_lock(&queue.mutex);
#endif
    *chunk = queue.data[queue.tail];
    queue.data[queue.tail] = NULL;
    queue.tail = (queue.tail + 1) % SIZE;
    pthread_mutex_unlock(&queue.mutex);
    return 1;
}

static void *compress_chunks(void *unused)
{
    for (int *chunk;;) {
        pct_point("dequeue");
        if (!dequeue(&chunk))
            return unused;
        assert(chunk);
    }
}

int main(void)
{
    static int chunks[2];
    pthread_t thread[COMPRESSORS];
    for (int i = 0; i < COMPRESSORS; i++)
        thread[i] = thread_start(compress_chunks, NULL);
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++)
        enqueue(&chunks[i]);
    queue_signal_terminate();
    for (int i = 0; i < COMPRESSORS; i++)
        thread_join(thread[i]);
    return 0;
}
