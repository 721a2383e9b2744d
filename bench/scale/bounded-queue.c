/* A queue of bounded length without locks: n-1 producers of an item each, and one consumer that takes what is there.
 *
 * Source: classic; the bounded buffer of the Concurrit paper (table 1) with many producers.
 * Bug: a producer claims its slot by moving the tail, and fills it afterwards; the consumer takes all slots before
 *   the tail to be filled.
 * Depth 2: (a producer's move of the tail) before (the consumer's look at it), and (its look at that slot) before
 *   (the filling).
 * Shows as: an assertion: an empty slot was taken. Each producer can show it.
 * FIXED: the consumer stops at a slot that is not filled yet. */
#include "shared.h"

static _Atomic int tail;
static _Atomic bool filled[MOST_THREADS];
static int length;

static void *produce(void *unused)
{
    (void)unused;
    int slot = tail++; /* culprit */
    if (slot < length)
        filled[slot] = true; /* culprit */
    return NULL;
}

static void *consume(void *unused)
{
    (void)unused;
    for (int slot = 0; slot < tail && slot < length; slot++) {
        bool there = filled[slot];
#ifdef FIXED
        if (!there)
            break;
#endif
        assert(there);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int count = thread_count(argc, argv);
    length = count - 1;
    run_threads(count, produce, consume);
    return 0;
}
