// A handler of exit tears down what a detached thread still uses. Nothing comes between its last operation and the end
// of the process but the point behind the handlers.
//
// RUN 134: pct run -q -s 1 -n 1000 --state none -- %p
// RUN 134: token=$(pct run -s 1 -n 1000 --state none -- %p 2>&1 | grep -o "pct1:[^']*" | head -1);
//     pct replay -q "$token" -- %p
// RUN: ! pct run -q -g -S pct,end=before -s 1 -n 200 --state none -- %p 2>&1 | grep failed
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int destroyed;

static void tear_down(void)
{
    pthread_mutex_lock(&mutex);
    destroyed = 1;
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
