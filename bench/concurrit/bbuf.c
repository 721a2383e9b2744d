/* A bounded buffer that gives its lock back between the wait and the take.
 *
 * Source: the Concurrit paper, table 1, "bbuf": the bounded buffer of the Inspect benchmarks; what was put into it
 *   stands in the sources that the paper refers to (bench/bbuf).
 * Bug: get() waits until there is an item, unlocks, locks, and takes it; meanwhile another consumer has taken it.
 * Shows as: a failed assertion in get().
 * FIXED: the lock is kept. */
#include "../bugs/shared.h"

enum { CAPACITY = 2, ITEMS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int items[CAPACITY], head, count;

static void put(int item)
{
    pthread_mutex_lock(&lock);
    while (count == CAPACITY)
        pthread_cond_wait(&not_full, &lock);
    items[(head + count++) % CAPACITY] = item;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
}

static int get(void)
{
    pthread_mutex_lock(&lock);
    while (!count)
        pthread_cond_wait(&not_empty, &lock);
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    assert(count > 0);
    int item = items[head];
    head = (head + 1) % CAPACITY;
    count--;
    pthread_cond_signal(&not_full);
    pthread_mutex_unlock(&lock);
    return item;
}

static void *producer(void *unused)
{
    for (int i = 0; i < ITEMS; i++)
        put(1);
    return unused;
}

static void *consumer(void *unused)
{
    for (int i = 0; i < ITEMS; i++)
        assert(get() == 1);
    return unused;
}

int main(void)
{
    pthread_t thread[] = { thread_start(producer, NULL), thread_start(producer, NULL), thread_start(consumer, NULL),
                           thread_start(consumer, NULL) };
    for (size_t i = 0; i < sizeof thread / sizeof *thread; i++)
        thread_join(thread[i]);
    return 0;
}
