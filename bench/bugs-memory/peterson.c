/* Mutual exclusion by two flags and a turn, with waiting.
 *
 * Source: Peterson's algorithm.
 * Bug: a thread gives the turn away before it raises its flag.
 * Depth 3: (first's turn) before (second's turn), (second's look at first's flag) before (first's raise), and (first's
 *   look) before (second has left).
 * Shows as: an assertion: both are inside.
 * Race: none: all accesses are atomic and sequentially consistent; it is the order that is wrong.
 * FIXED: the flag first. */
#include "shared.h"

static _Atomic int flag[2], turn, inside;

static void *enter(int self)
{
    int other = !self;
#ifdef FIXED
    flag[self] = 1;
    turn = other;
#else
    turn = other;
    flag[self] = 1; /* culprit */
#endif
    while (flag[other] && turn == other)
        ;
    int others = inside++;
    assert(!others);
    inside--;
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
