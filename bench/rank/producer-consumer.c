/* A consumer waits for the producer's word. Stands for: Producer Consumer (ConTest).
 * Bug: it waits without looking whether that was given already.
 * Shows as: a deadlock. FIXED: it looks. */
#include "shared.h"

static bool ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given = PTHREAD_COND_INITIALIZER;

static void *consume(void *unused)
{
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (!ready)
#endif
        pthread_cond_wait(&given, &lock); /* culprit */
    assert(ready);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *produce(void *unused)
{
    pthread_mutex_lock(&lock);
    ready = true;
    pthread_cond_signal(&given);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t consumer = thread_start(consume, 0), producer = thread_start(produce, 0);
    pthread_join(consumer, NULL);
    pthread_join(producer, NULL);
    return 0;
}
