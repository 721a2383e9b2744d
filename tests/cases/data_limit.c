// A program limits its data (RLIMIT_DATA), which private memory counts in that nobody has touched: what pct keeps for
// 32,767 threads, 50 MB, left no room for the stacks of four, and pthread_create() failed.
//
// RUN: %p
// RUN: pct run -q -s 1 -- %p && pct run -q -s 2 -n 3 -S pos -- %p && LD_PRELOAD=$LIBPCT PCT_SEED=1 %p
#include <assert.h>
#include <pthread.h>
#include <sys/resource.h>

enum { THREADS = 4, MB = 1 << 20 };

static pthread_barrier_t barrier;

static void *meet(void *unused)
{
    pthread_barrier_wait(&barrier);
    return unused;
}

int main(void)
{
    const struct rlimit limit = { 40 * MB, 40 * MB };
    pthread_t threads[THREADS];
    pthread_attr_t attributes;
    assert(!setrlimit(RLIMIT_DATA, &limit));
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 4 * MB);
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert(!pthread_create(&threads[i], &attributes, meet, NULL));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
