/* Reads and writes of an array, built with and without memory events. Prints ns an access, the median of 101 short
 * rounds: a loaded machine interrupts some of them.
 *     access alone     one thread
 *     access own       two threads, of which one waits: the array is the other's own
 *     access shared    the same, and both have touched the array: each access is a scheduling point */
#include "measure.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 512, ROUNDS = 20, MEASURED = 101 };

static volatile int array[WORDS]; /* volatile: each access is made */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *touch_and_wait(void *shared)
{
    for (int i = 0; shared && i < WORDS; i++)
        array[i] = 1;
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "alone";
    pthread_t thread;
    double ns[MEASURED];
    pthread_mutex_lock(&gate);
    if (strcmp(mode, "alone")) {
        pthread_create(&thread, NULL, touch_and_wait, strcmp(mode, "own") ? (void *)argv : NULL);
        struct timespec moment = { .tv_nsec = 20000000 }; /* it goes first */
        nanosleep(&moment, NULL);
    }
    for (int round = 0; round < MEASURED; round++) {
        double start = real_ns();
        for (int i = 0; i < ROUNDS; i++)
            for (int word = 0; word < WORDS; word++)
                array[word] += i;
        ns[round] = (real_ns() - start) / (2.0 * ROUNDS * WORDS);
    }
    printf("%.3f\n", median(ns, MEASURED));
    pthread_mutex_unlock(&gate);
    if (strcmp(mode, "alone"))
        pthread_join(thread, NULL);
    return 0;
}
