/* A product of matrices, built with and without memory events: what the prototypes of the handlers were measured by.
 * Prints ns an access that compiled code tells of, the median of 101 products; what is left when the plain program's
 * are taken away is an event.
 *     matrix alone     one thread
 *     matrix own       two threads, of which one waits: the matrices are the other's own */
#include "measure.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SIDE = 48, MEASURED = 101 };

static double left[SIDE][SIDE], right[SIDE][SIDE], product[SIDE][SIDE];
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

/* Two reads in the innermost loop, a write in the one around it. */
static __attribute__((noinline)) void multiply(void)
{
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            double sum = 0;
            for (int i = 0; i < SIDE; i++)
                sum += left[row][i] * right[i][column];
            product[row][column] = sum;
        }
}

static void *wait_at_gate(void *unused)
{
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return unused;
}

int main(int argc, char **argv)
{
    bool own = argc > 1 && !strcmp(argv[1], "own");
    pthread_t thread;
    double ns[MEASURED], sum = 0;
    pthread_mutex_lock(&gate);
    if (own) {
        pthread_create(&thread, NULL, wait_at_gate, NULL);
        struct timespec moment = { .tv_nsec = 20000000 }; /* it goes first */
        nanosleep(&moment, NULL);
    }
    for (int row = 0; row < SIDE; row++)
        for (int column = 0; column < SIDE; column++) {
            left[row][column] = row;
            right[row][column] = column;
        }
    for (int round = 0; round < MEASURED; round++) {
        double start = real_ns();
        multiply();
        ns[round] = (real_ns() - start) / ((2.0 * SIDE + 1) * SIDE * SIDE);
        sum += product[round % SIDE][1];
    }
    printf("%.3f\n", median(ns, MEASURED));
    pthread_mutex_unlock(&gate);
    if (own)
        pthread_join(thread, NULL);
    return sum < 0;
}
