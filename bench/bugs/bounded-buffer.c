/* A bounded buffer that lets go of its lock between the test and the access. For the measurements of bench/.
 *
 * Source: the Concurrit paper, section 7 and table 1, "bbuf", a program of the Inspect benchmarks with an inserted
 *   bug.
 * Bug: get() waits under the lock until there is an item, unlocks, locks again and takes the item without looking
 *   again. Another consumer can have taken it in between.
 * Depth 2: (consumer 1 finds an item) before (consumer 2 takes its third, the last item), and that before (consumer
 *   1 takes). Nothing comes after the last item, and the end of the items wakes every consumer, so that the two find
 *   each other whichever of them a signal woke. PCT needs consumer 2 below consumer 1 and its change point between
 *   the test and the access.
 * Shows as: a failed assertion in get().
 * FIXED: the lock is held from the test to the access. */
#include "shared.h"
#include <stdbool.h>

enum { CAPACITY = 2, ITEMS = 3 };

struct buffer {
    pthread_mutex_t mutex;
    pthread_cond_t not_full;
    pthread_cond_t not_empty;
    int item[CAPACITY];
    int head;
    int count;
    bool closed; /* nothing will be put any more */
};

static struct buffer buffer = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, { 0 }, 0, 0, false
};

static void put(int item)
{
    pthread_mutex_lock(&buffer.mutex);
    while (buffer.count == CAPACITY)
        pthread_cond_wait(&buffer.not_full, &buffer.mutex);
    buffer.item[(buffer.head + buffer.count) % CAPACITY] = item;
    buffer.count++;
    pthread_cond_signal(&buffer.not_empty);
    pthread_mutex_unlock(&buffer.mutex);
}

static void close_buffer(void)
{
    pthread_mutex_lock(&buffer.mutex);
    buffer.closed = true;
    pthread_cond_broadcast(&buffer.not_empty);
    pthread_mutex_unlock(&buffer.mutex);
}

/* Takes the next item. Returns false at the end of the items. */
static bool get(int *item)
{
    pthread_mutex_lock(&buffer.mutex); /* culprit */
    while (buffer.count == 0 && !buffer.closed)
        pthread_cond_wait(&buffer.not_empty, &buffer.mutex);
    bool found = buffer.count > 0;
#ifndef FIXED
    pthread_mutex_unlock(&buffer.mutex);
    pthread_mutex_lock(&buffer.mutex); /* culprit */
#endif
    if (found) {
        assert(buffer.count > 0);
        *item = buffer.item[buffer.head];
        buffer.head = (buffer.head + 1) % CAPACITY;
        buffer.count--;
        pthread_cond_signal(&buffer.not_full);
    }
    pthread_mutex_unlock(&buffer.mutex);
    return found;
}

static void *consumer(void *result)
{
    int *sum = result;
    int item;
    while (get(&item))
        *sum += item;
    return NULL;
}

int main(void)
{
    int sum[2] = { 0, 0 };
    pthread_t consumer1 = thread_start(consumer, &sum[0]);
    pthread_t consumer2 = thread_start(consumer, &sum[1]);
    int expected = 0;
    for (int item = 1; item <= ITEMS; item++) {
        local_work(10);
        put(item);
        expected += item;
    }
    local_work(10);
    close_buffer();
    thread_join(consumer1);
    thread_join(consumer2);
    assert(sum[0] + sum[1] == expected);
    return 0;
}
