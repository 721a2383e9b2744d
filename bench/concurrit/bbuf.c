/* A bounded buffer whose consumers take it for granted that a wake-up means an item.
 *
 * Source: the Concurrit paper, table 1, "bbuf": the bounded buffer of the Inspect benchmarks with an inserted bug; which,
 *   the paper does not say. Here it is the classic one.
 * Bug: get() waits in an `if`. What the producer put may be taken by another consumer before the one that it woke has
 *   the lock again.
 * Shows as: a failed assertion in get().
 * FIXED: a `while`. */
#include "../bugs/shared.h"

enum { CAPACITY = 2 };

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
#ifdef FIXED
    while (!count)
#else
    if (!count)
#endif
        pthread_cond_wait(&not_empty, &lock);
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
    put(1);
    return unused;
}

static void *consumer(void *unused)
{
    assert(get() == 1);
    return unused;
}

int main(void)
{
    pthread_t thread[] = { thread_start(consumer, NULL), thread_start(consumer, NULL), thread_start(producer, NULL),
                           thread_start(producer, NULL) };
    for (size_t i = 0; i < sizeof thread / sizeof *thread; i++)
        thread_join(thread[i]);
    return 0;
}
