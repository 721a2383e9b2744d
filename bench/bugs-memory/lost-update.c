/* A counter without a lock.
 *
 * Source: classic.
 * Bug: two threads count by reading, adding and writing; what one writes between the other's read and write is lost.
 * Depth 2: one thread's write before the other's read is what both need not to happen: (first's read) before (second's
 *   write), and (second's read) before (first's write).
 * Shows as: an assertion: the counter is 1.
 * Race: on the counter.
 * FIXED: an atomic addition. */
#include "shared.h"

#ifdef FIXED
static _Atomic int counter;
#else
static int counter;
#endif

static void *count(void *unused)
{
    (void)unused;
    counter++; /* culprit */
    return NULL;
}

int main(void)
{
    run_both(count, count);
    int sum = counter;
    assert(sum == 2);
    return 0;
}
