/* An object that two threads let go of.
 *
 * Source: classic (reference count).
 * Bug: the count is lowered by reading, subtracting and writing, so that none of the two may see that it was the last,
 * or both.
 * Depth 2: (first's read) before (second's write), and (second's read) before (first's write).
 * Shows as: an assertion: the object was not destroyed exactly once.
 * Race: on the count.
 * FIXED: an atomic subtraction. */
#include "shared.h"

#ifdef FIXED
static _Atomic int references = 2;
#else
static int references = 2;
#endif
static _Atomic int destroyed;

static void *release(void *unused)
{
    (void)unused;
    int left = --references; /* culprit */
    if (!left)
        destroyed++;
    return NULL;
}

int main(void)
{
    run_both(release, release);
    int times = destroyed;
    assert(times == 1);
    return 0;
}
