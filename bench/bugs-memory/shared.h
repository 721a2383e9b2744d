/* What the programs of this directory have in common: two threads, and an end that says that something was wrong with
 * them. Included by each program here, and by those of bench/maple.
 *
 * A failed assertion means that the program's bug has shown, and only that. */
#ifndef PCT_BENCH_BUGS_MEMORY_SHARED_H
#define PCT_BENCH_BUGS_MEMORY_SHARED_H

#ifdef NDEBUG
#error "the assertions are how these programs fail: do not compile them out"
#endif

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

enum { SETUP_FAILED = 3 };

/* Run both to their end. */
static inline void run_both(void *(*first)(void *), void *(*second)(void *))
{
    pthread_t threads[2];
    if (pthread_create(&threads[0], NULL, first, NULL) || pthread_create(&threads[1], NULL, second, NULL))
        exit(SETUP_FAILED);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

#endif
