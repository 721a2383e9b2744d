// With --aslr each run has addresses of its own, and forked ones those of their server: what was explored is verified
// if nothing depends on them, and a campaign goes on. This program fails in one of 64 layouts.
//
// RUN: { pct explore --aslr -- %p 2>&1 || :; } |
//     grep -e 'if .*nothing depends on the addresses' -e 'failed' -e 'found:'
// RUN: { pct run --aslr -n 20 --state none -- %p 2>&1 || :; } | grep -e '20 runs in' -e 'failed'
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_mutex_t mutex[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static int place;

static void *take(void *which)
{
    pthread_mutex_lock(&mutex[which != NULL]);
    pthread_mutex_unlock(&mutex[which != NULL]);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, take, &place);
    take(NULL);
    pthread_join(thread, NULL);
    if (((uintptr_t)&place >> 12 & 63) == 17)
        abort();
    return 0;
}
