/* A parallel compressor that takes its queue down while a worker still uses it.
 *
 * Source: the Concurrit paper, table 1, "pbzip2"; PBZip2 0.9.4, as in the PCT paper, figure 2. Debian's pbzip2 is
 *   newer, and mended.
 * Bug: main sees that all blocks are compressed, and deletes the queue; consumers look once more whether there are
 *   others, under the queue's lock.
 * Shows as: a null pointer (SIGSEGV).
 * FIXED: main joins the consumers first. */
#include "../bugs/shared.h"
#include <pct/script.h>

enum { CONSUMERS = 3, BLOCKS = 2 };

struct queue {
    pthread_mutex_t lock;
    int left;
};

static struct queue *volatile fifo;
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t written = PTHREAD_COND_INITIALIZER;
static int done;

static void *consumer(void *unused)
{
    for (;;) {
        pct_point("next");
        pthread_mutex_lock(&fifo->lock);
        int block = fifo->left ? fifo->left-- : 0;
        pthread_mutex_unlock(&fifo->lock);
        if (!block)
            return unused;
        pthread_mutex_lock(&output);
        done++;
        pthread_cond_signal(&written);
        pthread_mutex_unlock(&output);
    }
}

static void queue_delete(void)
{
    struct queue *old = fifo;
    fifo = NULL;
    free(old);
}

int main(void)
{
    pthread_t thread[CONSUMERS];
    struct queue *queue = calloc(1, sizeof *queue);
    if (!queue)
        return SETUP_FAILED;
    pthread_mutex_init(&queue->lock, NULL);
    queue->left = BLOCKS;
    fifo = queue;
    for (int i = 0; i < CONSUMERS; i++)
        thread[i] = thread_start(consumer, NULL);
    pthread_mutex_lock(&output);
    while (done < BLOCKS)
        pthread_cond_wait(&written, &output);
    pthread_mutex_unlock(&output);
#ifdef FIXED
    for (int i = 0; i < CONSUMERS; i++)
        thread_join(thread[i]);
#endif
    pct_point("delete");
    queue_delete();
#ifndef FIXED
    for (int i = 0; i < CONSUMERS; i++)
        thread_join(thread[i]);
#endif
    return 0;
}
