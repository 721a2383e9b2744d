// A program limits its address space for a while. Places for threads whose stacks would not fit were given back and
// never taken again: pthread_create() failed with the thread behind the 5,119th.
//
// RUN: %p
// RUN: pct run -q -s 1 -t %t/trace -- %p && pct replay -q %t/trace -- %p
// RUN: LD_PRELOAD=$LIBPCT PCT_SEED=1 %p
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { THREADS = 6000, STACK = 16 << 10, LIMIT = 64 << 20, BLOCK = 4 << 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *meet(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    static pthread_t threads[THREADS];
    struct rlimit usual, limit;
    pthread_attr_t attributes;
    assert(!getrlimit(RLIMIT_AS, &usual));
    limit = (struct rlimit){ LIMIT, usual.rlim_max };
    assert(!setrlimit(RLIMIT_AS, &limit));
    void *memory = malloc(BLOCK); /* perhaps where places of threads were */
    assert(memory && !setrlimit(RLIMIT_AS, &usual));
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < THREADS; i++)
        assert(!pthread_create(&threads[i], &attributes, meet, NULL));
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    free(memory);
    return 0;
}
