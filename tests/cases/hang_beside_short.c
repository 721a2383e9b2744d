/* A thread that never ends, beside one that is soon done: whether that one has begun, or has ended, when the steps of
 * the run are used up, makes no finding of its own.
 *
 * BUILD: gcc -O1 -g -pthread -o %p %s
 * RUN: pct campaign -n 24 -s 1 -S pct,depth=1 --max-steps 60 --db %t/db -- %p > %t/out 2>&1; test $? = 1 &&
 *     grep ' 24 failed, 1 finding;' %t/out
 */
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *go_on(void *unused)
{
    for (;;) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *end(void *unused)
{
    return unused;
}

int main(void)
{
    pthread_t endless, soon;
    pthread_create(&endless, NULL, go_on, NULL);
    pthread_create(&soon, NULL, end, NULL);
    pthread_join(soon, NULL);
    pthread_join(endless, NULL);
    return 0;
}
