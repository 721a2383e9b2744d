/* An object with a count of references: n-1 threads borrow it, and its owner gives it up.
 *
 * Source: classic; the kref of the Linux kernel warns of it (kref_get_unless_zero).
 * Bug: who borrows looks whether the count is above zero, and then adds one: in between the owner can have made it
 *   zero.
 * Depth 2: (the look) before (the owner's subtraction), and (that) before (the addition); and no other thread may
 *   hold a reference.
 * Shows as: an assertion: the object is used when it is gone.
 * FIXED: both at once, by compare and exchange. */
#include "shared.h"

static _Atomic int references = 1;
static _Atomic bool gone;

static bool borrow(void)
{
#ifdef FIXED
    int old = references;
    while (old > 0)
        if (atomic_compare_exchange_strong(&references, &old, old + 1))
            return true;
    return false;
#else
    if (references <= 0) /* culprit */
        return false;
    references++; /* culprit */
    return true;
#endif
}

static void give_up(void)
{
    if (--references == 0)
        gone = true;
}

static void *use(void *unused)
{
    (void)unused;
    if (!borrow())
        return NULL;
    bool usable = !gone;
    assert(usable);
    give_up();
    return NULL;
}

static void *own(void *unused)
{
    (void)unused;
    give_up();
    return NULL;
}

int main(int argc, char **argv)
{
    run_threads(thread_count(argc, argv), use, own);
    return 0;
}
