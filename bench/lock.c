/* An uncontended lock and unlock, in a process with several threads. Prints ns a pair, the median of nine.
 *     lock [PAIRS [runnable]]
 * The others wait, for the gate; or, if they are to stay runnable, they may not have come so far: then pct sees a
 * thread that does the same over and over while others could run, and asks every few steps whether it polls. */
#include "measure.h"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

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
    if (argc <= 2)
        usleep(10000); /* until they wait */
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
