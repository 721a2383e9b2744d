/* A pair of numbers that a reader sees half of.
 *
 * Source: classic (torn publication).
 * Bug: the two halves of a value are stored one after the other, and read one after the other.
 * Depth 2: (the first half's store) before (its load), and (the second half's load) before (its store).
 * Shows as: an assertion: the halves differ.
 * Race: on both halves.
 * FIXED: under a mutex. */
#include "shared.h"

static struct {
    int low, high;
} pair;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define LOCK() pthread_mutex_lock(&lock)
#define UNLOCK() pthread_mutex_unlock(&lock)
#else
#define LOCK() ((void)0)
#define UNLOCK() ((void)0)
#endif

static void *change(void *unused)
{
    (void)unused;
    LOCK();
    pair.low = 1;
    pair.high = 1; /* culprit */
    UNLOCK();
    return NULL;
}

static void *look(void *unused)
{
    (void)unused;
    LOCK();
    int low = pair.low, high = pair.high; /* culprit */
    UNLOCK();
    assert(low == high);
    return NULL;
}

int main(void)
{
    run_both(change, look);
    return 0;
}
