/* A thread made by libc's own pthread_create, as an allocator makes its background thread, waits in a condition
 * variable: the signal of a thread of the schedule wakes it.
 *
 * RUN: pct run -q -s 1 -n 20 --timeout 20 -- %p
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int go, ready;

static void *wait_to_go(void *unused)
{
    pthread_mutex_lock(&mutex);
    ready = 1;
    while (!go)
        pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        dlsym(dlopen("libc.so.6", RTLD_NOW), "pthread_create");
    pthread_t thread;
    int waits;
    create(&thread, NULL, wait_to_go, NULL);
    do {
        usleep(1000);
        pthread_mutex_lock(&mutex);
        waits = ready;
        pthread_mutex_unlock(&mutex);
    } while (!waits);
    usleep(5000);
    pthread_mutex_lock(&mutex);
    go = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&mutex);
    return pthread_join(thread, NULL);
}
