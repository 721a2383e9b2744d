/* GLIBC: a lock with a deadline that is none takes a mutex that is free, and else fails with EINVAL: it never waits. It
 * did if another thread took the mutex at its scheduling point, and that was said to be a deadlock.
 * RUN: pct run -q -n 40 -s 1 -S urw -- %p
 */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int error;

static void *lock_it(void *unused)
{
    const struct timespec none = { .tv_nsec = -1 };
    error = pthread_mutex_timedlock(&mutex, &none);
    if (!error)
        pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, lock_it, NULL);
    pthread_mutex_lock(&mutex);
    if (pthread_mutex_unlock(&mutex) || pthread_mutex_lock(&mutex))
        return 1;
    pthread_join(thread, NULL);
    pthread_mutex_unlock(&mutex);
    return error && error != EINVAL;
}
