// As finalwait.c, with another operation of the handler behind the one that tears down: the final wait alone hides it.
//
// RUN 134: pct run -q -s 1 -n 1000 --state none -- %p
// RUN 134: token=$(pct run -s 1 -n 1000 --state none -- %p 2>&1 | grep -o "pct1:[^']*" | head -1);
//     pct replay -q "$token" -- %p
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int destroyed;

static void tear_down(void)
{
    pthread_mutex_lock(&mutex);
    destroyed = 1;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
}

static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < 5; i++) {
        pthread_mutex_lock(&mutex);
        if (destroyed)
            abort();
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread;
    atexit(tear_down);
    pthread_create(&thread, NULL, work, NULL);
    pthread_detach(thread);
    return 0;
}
