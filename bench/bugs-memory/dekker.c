/* Mutual exclusion by two flags.
 *
 * Source: Dekker's entry, without the part that waits: who finds the other's flag up gives way.
 * Bug: a thread looks at the other's flag before it raises its own.
 * Depth 3: (first's look) before (second's raise), (second's entry) before (first's raise), and (first's entry) before
 *   (second has left).
 * Shows as: an assertion: both are inside.
 * Race: none: all accesses are atomic and sequentially consistent; it is the order that is wrong.
 * FIXED: the own flag first. */
#include "shared.h"

static _Atomic int flag[2], inside;

static void *enter(int self)
{
#ifdef FIXED
    flag[self] = 1;
    int free = !flag[!self];
#else
    int free = !flag[!self]; /* culprit */
    flag[self] = 1;          /* culprit */
#endif
    if (free) {
        int others = inside++;
        assert(!others);
        inside--;
    }
    flag[self] = 0;
    return NULL;
}

static void *first(void *unused)
{
    (void)unused;
    return enter(0);
}

static void *second(void *unused)
{
    (void)unused;
    return enter(1);
}

int main(void)
{
    run_both(first, second);
    return 0;
}
