/* A work-stealing queue without locks.
 *
 * Source: the queue of the PCT paper, section 5.3, after Chase and Lev.
 * Bug: the owner takes the last item without asking whether a thief has it.
 * Depth 2: (the owner's look at the head) before (the thief's claim), and (the thief's look at the tail) before (the
 *   owner's store of it).
 * Shows as: an assertion: an item was taken twice.
 * Race: none: head, tail and items are atomic.
 * FIXED: the owner claims the last item as a thief does. */
#include "shared.h"

enum { ITEMS = 2 };

static _Atomic int head, tail = ITEMS;
static _Atomic int taken[ITEMS];

static void take(int item)
{
    int times = taken[item]++;
    assert(!times);
}

static void *pop(void *unused)
{
    (void)unused;
    for (;;) {
        int last = tail - 1;
        tail = last;
        int first = head; /* culprit */
        if (first > last) {
            tail = first;
            return NULL;
        }
#ifdef FIXED
        if (first == last) {
            bool mine = atomic_compare_exchange_strong(&head, &first, first + 1);
            tail = last + 1;
            if (mine)
                take(last);
            return NULL;
        }
#endif
        take(last);
    }
}

static void *steal(void *unused)
{
    (void)unused;
    int first = head;
    if (first < tail && atomic_compare_exchange_strong(&head, &first, first + 1)) /* culprit */
        take(first);
    return NULL;
}

int main(void)
{
    run_both(pop, steal);
    return 0;
}
