/* A lost wake-up: the signal comes between the test and the wait. For the measurements of bench/.
 *
 * Source: classic.
 * Bug: the waiter tests a flag under the mutex and waits until it is set. The setter sets the flag and signals
 *   without the mutex, so that both can happen between the waiter's test and its wait; then nobody wakes it.
 * Depth 2: (the waiter tests the flag) before (the setter sets it), and (the setter signals) before (the waiter
 *   begins to wait). PCT needs the setter below the waiter and its change point between the test and the wait.
 * Shows as: a deadlock: the waiter waits for ever, and main waits for it.
 * FIXED: the setter sets the flag with the mutex held. */
#include "shared.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct shared_int ready = SHARED_INT(0);

static void *waiter(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    while (!shared_read(&ready))             /* culprit */
        pthread_cond_wait(&changed, &mutex); /* culprit */
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *setter(void *unused)
{
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&mutex);
#endif
    shared_write(&ready, 1);
#ifdef FIXED
    pthread_mutex_unlock(&mutex);
#endif
    pthread_cond_signal(&changed);
    return NULL;
}

int main(void)
{
    pthread_t waiting = thread_start(waiter, NULL);
    pthread_t setting = thread_start(setter, NULL);
    thread_join(waiting);
    thread_join(setting);
    return 0;
}
