/* Two variables that are set one after the other, by n-1 threads, and looked at by one.
 *
 * Source: reorder_N of SCTBench (Thomson, Donaldson, Betts, PPoPP 2014).
 * Bug: the checker relies on both being set or neither. Every setter that is ahead of it hides the bug: no thread may
 *   have set the second.
 * Depth 2: (a store of `first`) before (the checker's load of it), and (its load of `second`) before the first store
 *   of that: in each of the n-1 threads.
 * Shows as: an assertion.
 * FIXED: a lock around both. */
#include "shared.h"

static _Atomic int first, second;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define ENTER() pthread_mutex_lock(&lock)
#define LEAVE() pthread_mutex_unlock(&lock)
#else
#define ENTER() (void)0
#define LEAVE() (void)0
#endif

static void *set(void *unused)
{
    (void)unused;
    ENTER();
    first = 1; /* culprit */
    second = -1;
    LEAVE();
    return NULL;
}

static void *check(void *unused)
{
    (void)unused;
    ENTER();
    int a = first, b = second; /* culprit */
    LEAVE();
    assert((a == 0 && b == 0) || (a == 1 && b == -1));
    return NULL;
}

int main(int argc, char **argv)
{
    run_threads(thread_count(argc, argv), set, check);
    return 0;
}
