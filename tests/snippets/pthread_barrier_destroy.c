/* pthread_barrier_destroy: by the serial thread, while the others may still be on their way out; then the memory is
 * gone. */
/* ops: BARRIER_DESTROY */
#define _GNU_SOURCE
#include "check.h"
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 6 };

static int destroyed;

static void *meet_and_free(void *barrier)
{
    if (pthread_barrier_wait(barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
        CHECK_OK(pthread_barrier_destroy(barrier));
        memset(barrier, 0xa5, sizeof(pthread_barrier_t));
        free(barrier);
        destroyed++;
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_t unused;
    CHECK_OK(pthread_barrier_init(&unused, NULL, 3));
    CHECK_OK(pthread_barrier_destroy(&unused));
    for (int round = 1; round <= ROUNDS; round++) {
        pthread_barrier_t *barrier = malloc(sizeof(*barrier));
        CHECK(barrier != NULL);
        CHECK_OK(pthread_barrier_init(barrier, NULL, THREADS));
        for (int i = 0; i < THREADS; i++)
            threads[i] = check_spawn(meet_and_free, barrier);
        for (int i = 0; i < THREADS; i++)
            check_join(threads[i]);
        CHECK_EQ(destroyed, round);
    }
    return 0;
}
