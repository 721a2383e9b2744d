/* A thread for each pass over an array. Stands for: BubbleSort (ConTest).
 * Bug: main looks at the array without waiting for the last pass.
 * Shows as: an assertion: it is not sorted. FIXED: it waits. */
#include "shared.h"

enum { ITEMS = 3 };
static int item[ITEMS] = { 3, 2, 1 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *pass(void *unused)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i + 1 < ITEMS; i++)
        if (item[i] > item[i + 1]) {
            int high = item[i];
            item[i] = item[i + 1];
            item[i + 1] = high;
        }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[ITEMS - 1];
    for (int i = 0; i + 1 < ITEMS; i++)
        threads[i] = thread_start(pass, i);
    for (int i = 0; i + 1 < ITEMS; i++)
#ifndef FIXED
        if (i + 2 < ITEMS) /* culprit */
#endif
            pthread_join(threads[i], NULL);
    pthread_mutex_lock(&lock);
    for (int i = 0; i + 1 < ITEMS; i++)
        assert(item[i] <= item[i + 1]);
    pthread_mutex_unlock(&lock);
    return 0;
}
