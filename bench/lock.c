/* An uncontended lock and unlock, in a process with several threads. Prints ns a pair, the median of nine. */
#include "measure.h"
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_end(void *argument)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return argument;
}

int main(int argc, char **argv)
{
    long pairs = argc > 1 ? atol(argv[1]) : 300000;
    pthread_t threads[2];
    double ns[9];
    pthread_mutex_lock(&gate);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, wait_for_end, NULL);
    for (int round = 0; round < 9; round++) {
        double start = real_ns();
        for (long i = 0; i < pairs; i++) {
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
        }
        ns[round] = (real_ns() - start) / (double)pairs;
    }
    printf("%.3f\n", median(ns, 9));
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
