/* What the targets of campaigns do: three threads make 240 lock operations in all, in 120 critical sections. The
 * prototype that the goals come from ran the same. */
#ifndef PCT_BENCH_THREE_H
#define PCT_BENCH_THREE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *add(void *unused)
{
    for (int i = 0; i < 40; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

/* Whether the sum is right. aborts: it does not come so far. */
static bool run_three(bool aborts)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    add(NULL);
    if (aborts)
        abort();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return counter == 120;
}

#endif
