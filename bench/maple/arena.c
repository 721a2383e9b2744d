/* An allocator that looks at its arena before it has the lock.
 *
 * Source: the Maple paper, table 2, bug 13 ("Glibc", 2.5; not known before): an assertion in free() failed when an
 *   iRoot of idiom 1 was forced. Its cause was not found, so this is not that bug, but one of its kind, where an
 *   allocator checks what it knows: free() looks at what is left.
 * Bug: the check is made before the lock of the arena is taken.
 * Idiom 1: (the allocation takes the rest off its list) right before (free() loads the size of that).
 * Shows as: an assertion in free().
 * FIXED: the check is made under the lock. */
#include "../bugs-memory/shared.h"

enum { SIZE = 64, BLOCK = 16 };

static struct {
    pthread_mutex_t lock;
    _Atomic int left; /* the size of the rest; 0: it is on no list */
    int free;         /* under the lock */
} arena = { PTHREAD_MUTEX_INITIALIZER, SIZE - BLOCK, 0 };

static void check(void)
{
    const int left = arena.left; /* culprit */
    assert(left);
}

static void *give_back(void *unused)
{
#ifndef FIXED
    check();
#endif
    pthread_mutex_lock(&arena.lock);
#ifdef FIXED
    check();
#endif
    arena.free++;
    pthread_mutex_unlock(&arena.lock);
    return unused;
}

static void *allocate(void *unused)
{
    pthread_mutex_lock(&arena.lock);
    const int left = arena.left;
    arena.left = 0; /* culprit */
    arena.left = left - BLOCK;
    pthread_mutex_unlock(&arena.lock);
    return unused;
}

int main(void)
{
    run_both(allocate, give_back);
    return 0;
}
