/* Of 31 threads that take a mutex, one begins with a function of its own. It is the first one in one run of 31 if all
 * are alike to the strategy, and far more often where that one counts for as much as the 30.
 *
 * RUN: for strategy in surw-one,object=1,n=2 ${FULL:+surw,object=1,n=2} hold,object=1,kind=1;
 *     do { pct run -g -n 200 -s 1 --state none -S $strategy -- %p 2>&1 || :; } | grep -E ': ([3-9].|1..) failed' ||
 *     exit 1; done
 * RUN: for strategy in surw-one,object=1,n=2 ${FULL:+surw,object=1,n=2} hold,object=1,kind=1;
 *     do { pct run -g -n 200 -s 1 --state none -S $strategy -- %p alike 2>&1 || :; } | grep -E ': 1?. failed' ||
 *     exit 1; done
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { THREADS = 30 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int taken;

static void *take(void *check)
{
    pthread_mutex_lock(&mutex);
    assert(!check || taken);
    taken++;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *look(void *check)
{
    return take(check);
}

int main(int argc, char **argv)
{
    (void)argv;
    static bool check = true;
    pthread_t threads[THREADS + 1];
    for (int i = 0; i <= THREADS; i++)
        pthread_create(&threads[i], NULL, i == THREADS && argc == 1 ? look : take, i == THREADS ? &check : NULL);
    for (int i = 0; i <= THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
