/* One test of one routine, without threads. With an argument the queue is empty at first, and queue_get() waits. */
#include "queue.h"

struct queue queue = { .mutex = PTHREAD_MUTEX_INITIALIZER, .some = PTHREAD_COND_INITIALIZER };

int main(int argc, char **argv)
{
    (void)argv;
    if (argc < 2)
        queue_put(&queue, 7);
    queue_get(&queue);
    return 0;
}
