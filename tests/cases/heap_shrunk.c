/* A program that gives back heap from before main, and takes as much again: a process that restores runs took that for
 * the heap that it watches, and the next run found there what this one had left.
 *
 * RUN: PCT_WATCHDOG=off pct run -n 8 -s 1 -j 1 --explore=0 --engine=restore -- %p > %t/out 2>&1; status=$?;
 *     cat %t/out; [ $status = 0 ] && ! grep differed %t/out
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 64, SIZE = 16 << 10 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char *block[BLOCKS], *later[2 * BLOCKS];

__attribute__((constructor)) static void fill(void)
{
    for (int i = 0; i < BLOCKS; i++) {
        assert((block[i] = malloc(SIZE)));
        memset(block[i], i + 1, SIZE);
    }
}

static void *work(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < BLOCKS; i++)
        assert(block[i][SIZE / 2] == i + 1);
    for (int i = 0; i < BLOCKS; i++)
        free(block[i]);
    for (int i = 0; i < 2 * BLOCKS; i++) {
        assert((later[i] = malloc(SIZE)));
        memset(later[i], 99, SIZE);
    }
    for (int i = 0; i < 2; i++)
        assert(!pthread_create(&threads[i], NULL, work, NULL));
    for (int i = 0; i < 2; i++)
        assert(!pthread_join(threads[i], NULL));
    return 0;
}
