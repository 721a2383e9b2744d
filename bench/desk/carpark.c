/* A car park with one condition variable: drivers wait for a place, the sweeper waits until it is empty.
 *
 * Bug: who leaves signals, and that may wake the sweeper, who waits again, and not the driver.
 * Shows as: a deadlock.
 * FIXED: a broadcast. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int inside, to_come = 3;

static void enter(void)
{
    pthread_mutex_lock(&lock);
    while (inside == 1)
        pthread_cond_wait(&changed, &lock); /* culprit */
    inside++;
    to_come--;
    pthread_mutex_unlock(&lock);
}

static void leave(void)
{
    pthread_mutex_lock(&lock);
    inside--;
#ifdef FIXED
    pthread_cond_broadcast(&changed);
#else
    pthread_cond_signal(&changed); /* culprit */
#endif
    pthread_mutex_unlock(&lock);
}

static void *driver(void *unused)
{
    enter();
    leave();
    return unused;
}

static void *sweeper(void *unused)
{
    pthread_mutex_lock(&lock);
    while (inside || to_come)
        pthread_cond_wait(&changed, &lock); /* culprit */
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, i == 3 ? sweeper : driver, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
