/* What the programs of this directory have in common: how many threads there are, and how they are started and
 * joined. Included by each program here, and by nothing else.
 *
 * A failed assertion or a deadlock means that the program's bug has shown, and only that; a wrong argument ends it
 * with USAGE_ERROR, a machine out of threads with SETUP_FAILED. */
#ifndef PCT_BENCH_SCALE_SHARED_H
#define PCT_BENCH_SCALE_SHARED_H

#ifdef NDEBUG
#error "the assertions are how these programs fail: do not compile them out"
#endif

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

enum { USAGE_ERROR = 2, SETUP_FAILED = 3, MOST_THREADS = 1000 };

/* The threads of this run besides main: argv[1], 3 if it is not given. */
static inline int thread_count(int argc, char **argv)
{
    char *end = NULL;
    long count = argc > 1 ? strtol(argv[1], &end, 10) : 3;
    if (count < 2 || count > MOST_THREADS || (end && *end))
        exit(USAGE_ERROR);
    return (int)count;
}

/* Starts `count` threads and waits for their ends: the last one does `last`, the others `first`. Each gets its number
 * from 0, as a pointer. */
static inline void run_threads(int count, void *(*first)(void *), void *(*last)(void *))
{
    static pthread_t threads[MOST_THREADS];
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, i + 1 < count ? first : last, (void *)(ptrdiff_t)i)) /* NOLINT */
            exit(SETUP_FAILED);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

#endif
