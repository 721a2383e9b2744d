/* Two threads wait for different things on one condition variable, and a signal wakes one of them: if that is the one
 * whose thing has not happened, both wait for ever. Only the choice of the waiter decides it. Compiled by
 * minimize.bats. */
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, ready = PTHREAD_COND_INITIALIZER;
static unsigned waiting;
static bool there[2];

static void *waiter(void *thing)
{
    pthread_mutex_lock(&lock);
    waiting++;
    pthread_cond_signal(&ready);
    while (!*(bool *)thing)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t waiters[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&waiters[i], NULL, waiter, &there[i]);
    pthread_mutex_lock(&lock);
    while (waiting < 2)
        pthread_cond_wait(&ready, &lock);
    there[0] = true;
    pthread_cond_signal(&changed); /* culprit */
    pthread_mutex_unlock(&lock);
    pthread_join(waiters[0], NULL);
    pthread_mutex_lock(&lock);
    there[1] = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(waiters[1], NULL);
    return 0;
}
