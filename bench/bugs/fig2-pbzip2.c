/* The shutdown bug of pbzip2: a mutex is unlocked after main has freed it. For the measurements of bench/.
 *
 * Source: the PCT paper, figure 2; pbzip2 0.9.4.
 * Bug: main waits until the file writer has written the last block, frees the queue and returns. But the writer says
 *   so while it still holds the queue's mutex, which it unlocks after main has freed it.
 * Depth 2: (main frees the queue) before (the writer unlocks), and that before (main exits), as a process that is
 *   gone does not fail. Neither constraint is between accesses to one variable. Under pct one is enough: main drops
 *   to the lowest priority when it exits (the paper's "final wait", section 4.2), so the second always holds.
 * Shows as: a failed assertion in the writer. What the original leaves to the allocator is made certain here: the
 *   queue is filled with ones when it is freed and its memory is never given to anybody else, so that the mutex has
 *   no type that glibc knows, and the unlock says EINVAL.
 * FIXED: main joins the writer before it frees the queue. */
#include "shared.h"
#include <semaphore.h>

enum { BLOCKS = 3 };

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    int produced;
    int written;
};

static struct queue fifo = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0 };
static sem_t all_written;

static void queue_put(void)
{
    pthread_mutex_lock(&fifo.mutex);
    fifo.produced++;
    pthread_cond_signal(&fifo.filled);
    pthread_mutex_unlock(&fifo.mutex);
}

/* The original ignores that destroy may say EBUSY, and frees the memory. */
static void queue_delete(void)
{
    pthread_mutex_destroy(&fifo.mutex);
    memset(&fifo.mutex, 0xff, sizeof fifo.mutex);
}

static void *file_writer(void *unused)
{
    (void)unused;
    for (int block = 0; block < BLOCKS; block++) {
        pthread_mutex_lock(&fifo.mutex);
        while (fifo.written == fifo.produced)
            pthread_cond_wait(&fifo.filled, &fifo.mutex);
        fifo.written++;
        if (fifo.written == BLOCKS)
            sem_post(&all_written);
        int error = pthread_mutex_unlock(&fifo.mutex); /* culprit */
        assert(error == 0);
    }
    return NULL;
}

int main(void)
{
    setup_check(sem_init(&all_written, 0, 0), "cannot make a semaphore");
    pthread_t writer = thread_start(file_writer, NULL);
    for (int block = 0; block < BLOCKS; block++)
        queue_put();
    while (sem_wait(&all_written) != 0) {
    }
#ifdef FIXED
    thread_join(writer);
#else
    (void)writer;
#endif
    queue_delete(); /* culprit */
    return 0;
}
