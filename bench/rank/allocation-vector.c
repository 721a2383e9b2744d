/* Blocks of a vector are found free, and then marked. Stands for: Allocation Vector (ConTest).
 * Bug: to find and to mark are two critical sections ("two-stage access").
 * Shows as: an assertion: a block is given to two. FIXED: one critical section. */
#include "shared.h"

enum { BLOCKS = 3, THREADS = 2, ROUNDS = 2 };
static bool used[BLOCKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int find_free(void)
{
    int i = 0;
    while (i < BLOCKS && used[i])
        i++;
    return i < BLOCKS ? i : -1;
}

static int allocate(void)
{
    pthread_mutex_lock(&lock);
    int block = find_free();
#ifndef FIXED
    pthread_mutex_unlock(&lock); /* culprit */
    pthread_mutex_lock(&lock);
#endif
    if (block >= 0) {
        assert(!used[block]);
        used[block] = true;
    }
    pthread_mutex_unlock(&lock);
    return block;
}

static void *use(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        int block = allocate();
        if (block < 0)
            continue;
        pthread_mutex_lock(&lock);
        used[block] = false;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    run_threads(THREADS, use);
    return 0;
}
