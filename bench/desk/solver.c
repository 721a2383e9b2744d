/* A solver in steps: all threads meet at a barrier after each, until what they have is good enough.
 *
 * Bug: each thread decides for itself, by a value that others still change, whether to go on: one leaves, and the
 * others wait at the barrier.
 * Shows as: a deadlock.
 * FIXED: they meet once more between looking and changing. */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, ENOUGH = 6 };

static pthread_barrier_t met;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int progress;

static void add(int amount)
{
    pthread_mutex_lock(&lock); /* culprit */
    progress += amount;
    pthread_mutex_unlock(&lock);
}

static int reached(void)
{
    pthread_mutex_lock(&lock); /* culprit */
    int now = progress;
    pthread_mutex_unlock(&lock);
    return now >= ENOUGH;
}

static void *worker(void *unused)
{
    (void)unused;
    do {
        add(1);
        pthread_barrier_wait(&met); /* culprit */
        if (reached())
            break;
#ifdef FIXED
        pthread_barrier_wait(&met);
#endif
    } while (1);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&met, NULL, THREADS);
    progress = 1;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&met);
    printf("%d\n", progress);
    return 0;
}
