/* A resource that two threads take.
 *
 * Source: classic (check, then act).
 * Bug: a thread looks whether the resource is free and then takes it; both may find it free.
 * Depth 2: (first's check) before (second's act), and (second's check) before (first's act).
 * Shows as: an assertion: it was taken twice.
 * Race: on the owner.
 * FIXED: compare and exchange. */
#include "shared.h"

#ifdef FIXED
static _Atomic int owner;
#else
static int owner;
#endif
static _Atomic int taken; /* what the assertion counts by is not to lose anything */

static void *take(void *unused)
{
    (void)unused;
#ifdef FIXED
    int nobody = 0;
    if (atomic_compare_exchange_strong(&owner, &nobody, 1))
        taken++;
#else
    if (!owner) {  /* culprit */
        owner = 1; /* culprit */
        taken++;
    }
#endif
    int times = taken;
    assert(times < 2);
    return NULL;
}

int main(void)
{
    run_both(take, take);
    return 0;
}
