// A thread pool whose workers each take a slice of a range: how many workers there are decides how long a slice is.
//
// Bug: the number of workers is stored behind the loop that starts them: a worker may read it before.
// Shows as: a wrong sum.
// FIXED: it is stored before.
#include <assert.h>
#include <pthread.h>

enum { WORKERS = 2, VALUES = 12 };

static struct pool {
    pthread_mutex_t lock;
    int workers, next, sum;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int values[VALUES];

static int pool_size(void)
{
    pthread_mutex_lock(&pool.lock); // culprit
    int workers = pool.workers;
    pthread_mutex_unlock(&pool.lock);
    return workers;
}

static void pool_set_size(int workers)
{
    pthread_mutex_lock(&pool.lock); // culprit
    pool.workers = workers;
    pthread_mutex_unlock(&pool.lock);
}

static int pool_number(void)
{
    pthread_mutex_lock(&pool.lock);
    int number = pool.next++;
    pthread_mutex_unlock(&pool.lock);
    return number;
}

static void pool_add(int sum)
{
    pthread_mutex_lock(&pool.lock);
    pool.sum += sum;
    pthread_mutex_unlock(&pool.lock);
}

static void *work(void *argument)
{
    (void)argument;
    int number = pool_number(), workers = pool_size(), sum = 0;
    int length = workers ? VALUES / workers : 0;
    for (int i = 0; i < length; i++)
        sum += values[number * length + i];
    pool_add(sum);
    return 0;
}

int main(void)
{
    pthread_t thread[WORKERS];
    for (int i = 0; i < VALUES; i++)
        values[i] = i;
#ifdef FIXED
    pool_set_size(WORKERS);
#endif
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&thread[i], 0, work, 0);
#ifndef FIXED
    pool_set_size(WORKERS);
#endif
    for (int i = 0; i < WORKERS; i++)
        pthread_join(thread[i], 0);
    assert(pool.sum == VALUES * (VALUES - 1) / 2);
    return 0;
}
