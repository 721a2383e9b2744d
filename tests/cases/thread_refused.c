// A pthread_create() that fails counted in n, and the bound was weaker than what the theorem gives.
//
// RUN: pct run -s 1 -n 100 -S pct --state none -- %p > %t/out 2>&1; grep 'pct: n = 2 threads, ' %t/out
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

static void *run(void *unused)
{
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    assert(!pthread_attr_setstacksize(&huge, (size_t)1 << 46));
    for (int i = 0; i < 3; i++)
        assert(pthread_create(&thread, &huge, run, NULL));
    assert(!pthread_create(&thread, NULL, run, NULL) && !pthread_join(thread, NULL));
    return 0;
}
