/* What the programs of this directory have in common: threads that are started and joined. Included by each program
 * here, and by nothing else. A failed assertion, a deadlock or a crash means that the program's bug has shown, and only
 * that. */
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
#ifdef FIXED
static pthread_mutex_t fix = PTHREAD_MUTEX_INITIALIZER;
#endif

static inline pthread_t thread_start(void *(*routine)(void *), intptr_t argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, routine, (void *)argument))
        exit(SETUP_FAILED);
    return thread;
}

/* What FIXED programs do as one. */
static inline void fix_lock(void)
{
#ifdef FIXED
    pthread_mutex_lock(&fix);
#endif
}

static inline void fix_unlock(void)
{
#ifdef FIXED
    pthread_mutex_unlock(&fix);
#endif
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
