/* The cost of a memory access in unmodified code: run natively, and under pct with PCT_MEMORY. Prints ns an access, the
 * median of 101 short rounds: a loaded machine interrupts some of them.
 *     patched atomic|polling    an increment with lock
 *     patched global|heap       a load of a global variable; a load through a pointer
 *     patched shared|looks      a store through a pointer; three loads to each store, of which each is counted
 *     patched xchg|cas          an exchange; a compare and exchange that succeeds
 * The place is the calling thread's alone, while another thread exists; in the cases of the third row both have touched
 * it. That thread waits; with `polling` it could run, so that pct takes the loop for one that waits for it. */
#include "measure.h"
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 20000, MEASURED = 101, FAR = 64 }; /* so far, the instruction is long enough to be patched anywhere */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static volatile int global;
static volatile int *heap;

static void *wait_for_end(void *shared)
{
    for (int i = 0; shared && i < 3; i++)
        heap[FAR + i] = 1;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void work(char what)
{
    volatile int *place = heap;
    if (what == 'a' || what == 'p')
        for (int i = 0; i < ROUNDS; i++)
            __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED);
    else if (what == 'g')
        for (int i = 0; i < ROUNDS; i++)
            (void)global;
    else if (what == 'h')
        for (int i = 0; i < ROUNDS; i++)
            (void)*place;
    else if (what == 'x')
        for (int i = 0; i < ROUNDS; i++)
            __atomic_exchange_n(&counter, i, __ATOMIC_RELAXED);
    else if (what == 'c')
        for (int i = 0, seen = counter; i < ROUNDS; i++)
            seen += __atomic_compare_exchange_n(&counter, &seen, seen + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    else if (what == 'l')
        for (int i = 0; i < ROUNDS; i += 4) {
            (void)place[FAR];
            (void)place[FAR + 1];
            place[FAR + 2] = i;
            (void)place[FAR];
        }
    else
        for (int i = 0; i < ROUNDS; i++)
            place[FAR] = i;
}

int main(int argc, char **argv)
{
    const char what = argc > 1 ? argv[1][0] : 'g';
    double ns[MEASURED];
    pthread_t thread;
    heap = calloc(FAR + 3, sizeof *heap);
    if (!heap)
        return 1;
    pthread_mutex_lock(&mutex);
    if (pthread_create(&thread, NULL, wait_for_end, what == 's' || what == 'l' ? argv : NULL))
        return 1;
    if (what != 'p') { /* it goes first */
        struct timespec moment = { .tv_nsec = 20000000 };
        nanosleep(&moment, NULL);
    }
    for (int round = 0; round < MEASURED; round++) {
        double start = real_ns();
        work(what);
        ns[round] = (real_ns() - start) / ROUNDS;
    }
    printf("%.3f\n", median(ns, MEASURED));
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    return 0;
}
