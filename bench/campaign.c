/* A target for campaigns: three threads make 240 lock operations in all, in 120 critical sections. The prototype that the
 * goals come from ran the same. `abort`: it aborts when main has made its part; a number: main computes so many thousand rounds before
 * (measure.h). */
#include "measure.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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

int main(int argc, char *argv[])
{
    pthread_t threads[2];
    bool aborts = argc > 1 && !strcmp(argv[1], "abort");
    if (argc > 1 && !aborts)
        compute(strtoul(argv[1], NULL, 10));
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    add(NULL);
    if (aborts)
        abort();
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return counter != 120;
}
