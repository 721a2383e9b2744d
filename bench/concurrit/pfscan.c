/* A parallel file scanner whose queue gives its lock back between the look and the take.
 *
 * Source: the Concurrit paper, table 1, "pfscan": pqueue_get() of the Inspect benchmarks; what was put into it stands
 *   in the sources that the paper refers to (bench/pfscan).
 * Bug: pqueue_get() sees that there is a file, unlocks, locks, and takes it; meanwhile another worker has taken it.
 * Shows as: a failed assertion in pqueue_get().
 * FIXED: the lock is kept. */
#include "../bugs/shared.h"
#include <pct/script.h>

enum { WORKERS = 2, FILES = 3 };

static pthread_mutex_t mtx = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static int buf[FILES], nextin, nextout, occupied, closed;

static void pqueue_put(int item)
{
    pthread_mutex_lock(&mtx);
    buf[nextin++] = item;
    occupied++;
    pthread_mutex_unlock(&mtx);
    pthread_cond_signal(&more);
}

static void pqueue_close(void)
{
    pthread_mutex_lock(&mtx);
    closed = 1;
    pthread_mutex_unlock(&mtx);
    pthread_cond_broadcast(&more);
}

static int pqueue_get(int *item)
{
    int got = 0;
    pthread_mutex_lock(&mtx);
    while (occupied <= 0 && !closed)
        pthread_cond_wait(&more, &mtx);
    if (occupied > 0) {
#ifndef FIXED
        pthread_mutex_unlock(&mtx);
        pct_point("seen");
        pthread_mutex_lock(&mtx);
        assert(occupied > 0);
#endif
        *item = buf[nextout++];
        occupied--;
        got = 1;
    }
    pthread_mutex_unlock(&mtx);
    return got;
}

static void *worker(void *unused)
{
    int file;
    do
        pct_point("get");
    while (pqueue_get(&file));
    return unused;
}

int main(void)
{
    pthread_t thread[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        thread[i] = thread_start(worker, NULL);
    for (int i = 0; i < FILES; i++)
        pqueue_put(i);
    pqueue_close();
    for (int i = 0; i < WORKERS; i++)
        thread_join(thread[i]);
    return 0;
}
