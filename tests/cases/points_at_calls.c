/* A bug between two calls in a program built with pct-cc: hundreds of accesses to shared memory before and after dilute
 * chance, so one run in three, from the 17th on, has scheduling points at calls only. Its token says so, and it does
 * not count for the guarantee. (With --sites, no run is directed: such a one finds it before.) Threads that call
 * nothing have none of these runs.
 *
 * BUILD: pct-cc -O1 -g -pthread -o %p %s
 * RUN 134: pct run -q -s 1 -n 400 --state none -- %p
 * RUN: pct run --sites -s 1 -n 400 --state none -- %p > %t/out 2>&1; grep 'pct replay .*,memory-points=off' %t/out
 * RUN: pct run -s 1 -n 60 --state none -- %p fixed > %t/out 2>&1;
 *     grep 'pct: [0-9]* of these runs had other scheduling points than the rest, and do not count for the guarantee'
 *     %t/out
 * RUN: pct run -s 1 -n 60 --state none --memory-points=shared -- %p fixed > %t/out 2>&1;
 *     ! grep 'other scheduling points' %t/out
 * RUN: pct run -s 1 -n 60 --state none --strategy=pct -- %p fixed > %t/out 2>&1;
 *     ! grep 'other scheduling points' %t/out
 * RUN: pct run -s 1 -n 16 --state none -- %p fixed > %t/out 2>&1; ! grep 'other scheduling points' %t/out
 * RUN: pct run -s 1 -n 60 --explore=0 --state none -- %p no calls > %t/out 2>&1;
 *     ! grep 'other scheduling points' %t/out
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int work;
static int stock = 1, sold;

static void compute(void)
{
    for (int i = 0; i < 400; i++)
        work++;
}

/* Looks under the lock, and takes under the lock, but not under the same. */
static void *sell(void *fixed)
{
    compute();
    pthread_mutex_lock(&lock);
    int there = stock;
    if (!fixed) {
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
    }
    if (there) {
        stock--;
        sold++;
    }
    pthread_mutex_unlock(&lock);
    compute();
    return NULL;
}

static void *call_nothing(void *unused)
{
    compute();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    const bool calls = argc < 3;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, calls ? sell : call_nothing, argc > 1 ? argv : NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(sold == calls);
    return 0;
}
