/* Writers fill a buffer, and a checker compares it with their count. Stands for: BufWriter (ConTest).
 * Bug: the count is raised in a critical section of its own, behind that of the buffer.
 * Shows as: an assertion: the checker finds more in the buffer than was counted. FIXED: one critical section. */
#include "shared.h"

enum { WRITERS = 2 };
static int filled, counted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *writer(void *unused)
{
    pthread_mutex_lock(&lock);
    filled++;
#ifndef FIXED
    pthread_mutex_unlock(&lock); /* culprit */
    pthread_mutex_lock(&lock);
#endif
    counted++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *checker(void *unused)
{
    pthread_mutex_lock(&lock);
    assert(filled == counted);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t check = thread_start(checker, 0);
    run_threads(WRITERS, writer);
    pthread_join(check, NULL);
    return 0;
}
