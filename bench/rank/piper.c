/* Passengers take one seat after the other. Stands for: Piper (ConTest).
 * Bug: who waits for a passenger looks once, not again behind the wait.
 * Shows as: an assertion: a passenger is taken off an empty plane. FIXED: it looks again. */
#include "shared.h"

static int aboard, landed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *get_off(void *unused)
{
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (!aboard)
#else
    if (!aboard) /* culprit */
#endif
        pthread_cond_wait(&changed, &lock);
    assert(aboard > 0);
    aboard--;
    landed++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *get_on(void *unused)
{
    pthread_mutex_lock(&lock);
    aboard++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = thread_start(i % 2 ? get_on : get_off, i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert(landed == 2);
    return 0;
}
