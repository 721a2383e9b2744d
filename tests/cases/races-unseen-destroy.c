/* A mutex is destroyed when an atomic says that nobody is in it any more. Of a program that tells of no access, that
 * atomic is not seen; a race of the lock and the destroy was reported, and failed the run.
 *
 * RUN: pct run -q -s 1 -n 100 --races=fail -- %p
 * RUN: pct run -q -s 1 -n 100 --memory=all --races=fail -- %p
 * RUN: pct run -q -s 1 -n 100 --memory=atomics --races=fail -- %p
 * RUN: pct run -s 1 -n 40 --races=report -- %p 2>&1 | { ! grep 'data race '; }
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int done;

static void *work(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    atomic_store_explicit(&done, 1, memory_order_release);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    while (!atomic_load_explicit(&done, memory_order_acquire))
        sched_yield();
    pthread_mutex_destroy(&mutex);
    return pthread_join(thread, NULL);
}
