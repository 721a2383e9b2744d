/* A work-stealing queue without locks: one owner, n-1 thieves, n items.
 *
 * Source: the queue of the PCT paper, section 5.3, after Chase and Lev.
 * Bug: the owner takes the last item without asking whether a thief has it.
 * Depth 2: (the owner's look at the head) before (the thief's claim), and (the thief's look at the tail) before (the
 *   owner's store of it).
 * Shows as: an assertion: an item was taken twice.
 * FIXED: the owner claims the last item as a thief does. */
#include "shared.h"

static _Atomic int head, tail;
static _Atomic int taken[MOST_THREADS];

static void take(int item)
{
    int times = taken[item]++;
    assert(!times);
}

static void *own(void *unused)
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

int main(int argc, char **argv)
{
    int count = thread_count(argc, argv);
    tail = count;
    run_threads(count, steal, own);
    return 0;
}
