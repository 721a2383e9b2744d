/* A sort that starts a thread for half of the array while its budget of threads lasts. Stands for: Merge Sort
 * (ConTest).
 * Bug: the budget is looked at and taken in two critical sections.
 * Shows as: an assertion: the budget is overdrawn. FIXED: one critical section. */
#include "shared.h"

static int budget = 3;
static int item[4] = { 4, 3, 2, 1 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool take_thread(void)
{
    pthread_mutex_lock(&lock);
    bool some = budget > 0;
#ifndef FIXED
    pthread_mutex_unlock(&lock); /* culprit */
    pthread_mutex_lock(&lock);
#endif
    budget -= some;
    assert(budget >= 0);
    pthread_mutex_unlock(&lock);
    return some;
}

static void merge(int *from, int count)
{
    for (int i = 1; i < count; i++)
        for (int k = i; k && from[k - 1] > from[k]; k--) {
            int high = from[k - 1];
            from[k - 1] = from[k];
            from[k] = high;
        }
}

static void *half(void *from);

static void sort(int from, int count)
{
    pthread_t threads[2];
    bool started[2] = { false, false };
    for (int i = 0; i < 2 && count > 1; i++) {
        intptr_t part = (from + i * count / 2) * 16 + count / 2;
        started[i] = take_thread();
        if (started[i])
            threads[i] = thread_start(half, part);
        else
            half((void *)part);
    }
    for (int i = 0; i < 2; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
    merge(item + from, count);
}

static void *half(void *part)
{
    sort((int)((intptr_t)part / 16), (int)((intptr_t)part % 16));
    return NULL;
}

int main(void)
{
    sort(0, 4);
    for (int i = 0; i < 3; i++)
        assert(item[i] <= item[i + 1]);
    return 0;
}
