/* An object that is made when it is first asked for, by one of n threads.
 *
 * Source: classic: double-checked locking (Meyers, Alexandrescu, "C++ and the Perils of Double-Checked Locking", 2004).
 * Bug: it is said to be there before it is filled.
 * Depth 2: (the store of `made`) before (another thread's load of it), and (its load of the value) before (the store
 *   of that).
 * Shows as: an assertion. Each thread can show it.
 * FIXED: filled, and then said. */
#include "shared.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic bool made;
static _Atomic int value;

static void make(void)
{
    pthread_mutex_lock(&lock);
    if (!made) {
#ifdef FIXED
        value = 42;
        made = true;
#else
        made = true; /* culprit */
        value = 42;
#endif
    }
    pthread_mutex_unlock(&lock);
}

static void *use(void *unused)
{
    (void)unused;
    if (!made)
        make();
    int seen = value;
    assert(seen == 42);
    return NULL;
}

int main(int argc, char **argv)
{
    run_threads(thread_count(argc, argv), use, use);
    return 0;
}
