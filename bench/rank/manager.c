/* A manager gives blocks of memory back for others. Stands for: Manager (ConTest).
 * Bug: whether there is anything to give back is looked at outside the lock.
 * Shows as: an assertion: more is given back than was requested. FIXED: inside. */
#include "shared.h"

enum { MANAGERS = 3 };
static int waiting = 2;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *manage(void *unused)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
    bool some = waiting > 0;
#else
    bool some = waiting > 0; /* culprit */
    pthread_mutex_lock(&lock);
#endif
    if (some)
        waiting--;
    assert(waiting >= 0);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    run_threads(MANAGERS, manage);
    return 0;
}
