/* Threads that wait for a robust mutex which is left broken are all turned away, as POSIX has it. Natively, with glibc
 * 2.36, one of two that wait sleeps for ever: docs/CONTROL.md.
 *
 * RUN: pct run -q -s 1 -n 20 --timeout 20 -- %p
 * RUN: pct run -q -s 1 -n 20 --timeout 20 --strategy=random-walk -- %p
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>

enum { WAITERS = 5 };

static pthread_mutex_t mutex;
static int wrong;

static void *die_holding(void *unused)
{
    pthread_mutex_lock(&mutex);
    return unused;
}

static void *be_turned_away(void *unused)
{
    if (pthread_mutex_lock(&mutex) != ENOTRECOVERABLE)
        wrong = 1;
    return unused;
}

int main(void)
{
    pthread_mutexattr_t attr;
    pthread_t threads[WAITERS];
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attr);
    pthread_create(&threads[0], NULL, die_holding, NULL);
    pthread_join(threads[0], NULL);
    if (pthread_mutex_lock(&mutex) != EOWNERDEAD)
        return 1;
    for (int i = 0; i < WAITERS; i++)
        pthread_create(&threads[i], NULL, be_turned_away, NULL);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < WAITERS; i++)
        pthread_join(threads[i], NULL);
    return wrong;
}
