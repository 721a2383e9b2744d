/* What the programs of this directory have in common: threads that are started and joined. Included by each program here, and by nothing
 * else. A failed assertion, a deadlock or a crash means that the program's bug has shown, and only that. */
#ifndef PCT_BENCH_RANK_SHARED_H
#define PCT_BENCH_RANK_SHARED_H

#ifdef NDEBUG
#error "the assertions are how these programs fail: do not compile them out"
#endif

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { SETUP_FAILED = 3 };

static inline pthread_t thread_start(void *(*routine)(void *), intptr_t argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, routine, (void *)argument))
        exit(SETUP_FAILED);
    return thread;
}

static inline void run_threads(int count, void *(*routine)(void *))
{
    pthread_t threads[16];
    for (int i = 0; i < count; i++)
        threads[i] = thread_start(routine, i);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

#endif
