/* The cost of a memory access in unmodified code, in ns: run natively, and under pct with PCT_MEMORY.
 *     patched atomic|global|heap     an increment with lock; a load of a global variable; a load through a pointer
 * The place is the calling thread's alone, while another thread exists (which waits). */
#include "measure.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 10000000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static volatile int global;

static void *wait_for_end(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    volatile int *heap = calloc(1, sizeof *heap);
    pthread_t thread;
    if (!heap)
        return 1;
    pthread_mutex_lock(&mutex);
    if (pthread_create(&thread, NULL, wait_for_end, NULL))
        return 1;
    double start = real_ns();
    if (!strcmp(what, "atomic"))
        for (int i = 0; i < ROUNDS; i++)
            __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
    else if (!strcmp(what, "global"))
        for (int i = 0; i < ROUNDS; i++)
            (void)global;
    else
        for (int i = 0; i < ROUNDS; i++)
            (void)*heap;
    printf("%.3f\n", (real_ns() - start) / ROUNDS);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return 0;
}
