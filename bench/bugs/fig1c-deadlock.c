/* A deadlock: two threads take the same two locks in opposite orders. For the measurements of bench/.
 *
 * Source: the PCT paper, figures 1(c) and 6(c).
 * Bug: thread 1 locks a and then b, thread 2 locks b and then a. When each has its first lock, neither gets its
 *   second.
 * Depth 2: (thread 1 locks a) before (thread 2 asks for a), and (thread 2 locks b) before (thread 1 asks for b).
 *   Each thread must be held back once, and PCT holds one back by the initial priorities and the other by a change
 *   point. The second lock of each is then never passed: its constraint is met in that it stays pending (README.md,
 *   "Depth").
 * Shows as: a deadlock of the two threads, and of main, which waits for them.
 * FIXED: both threads lock a first. */
#include "shared.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static int total; /* under both locks */

static void update(pthread_mutex_t *first, pthread_mutex_t *second)
{
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    total++;
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *thread1(void *unused)
{
    (void)unused;
    update(&a, &b); /* culprit */
    return NULL;
}

static void *thread2(void *unused)
{
    (void)unused;
#ifdef FIXED
    update(&a, &b);
#else
    update(&b, &a); /* culprit */
#endif
    return NULL;
}

int main(void)
{
    pthread_t first = thread_start(thread1, NULL);
    pthread_t second = thread_start(thread2, NULL);
    thread_join(first);
    thread_join(second);
    assert(total == 2);
    return 0;
}
