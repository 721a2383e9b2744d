/* The work-stealing queue of Cilk (the THE protocol), with a steal that tests before it claims. For the measurements
 * of bench/. Arguments: stealers and items (1 and 4).
 *
 * Source: the PCT paper, section 5.3; the queue is that of Frigo, Leiserson and Randall, "The implementation of the
 *   Cilk-5 multithreaded language" (1998), and the test program follows the one that the CHESS tool came with.
 * The queue: one victim (here main) pushes and pops at the tail, without the lock unless it meets a stealer;
 *   stealers take from the head, under the lock. Each side must first claim an item (the victim lowers tail, a
 *   stealer raises head) and then look whether the other side has claimed the same.
 * Bug: the stealer looks at tail first, and raises head only if there is something to take: a check-then-act. If the
 *   victim pops the last item in between, its look at head still sees the old value, and both take the item.
 * Depth 2, with S a stealer that finds an item: (S reads tail) before (the victim lowers tail to that item), and
 *   (the victim reads head) before (S raises head). The victim has pushed an item before it starts the stealers, and
 *   the queue is not empty again before the last pops, so that the stealer finds one without a further constraint.
 *   PCT needs the victim below S and its change point in S between the look and the claim.
 * Shows as: a failed assertion: an item taken twice. (That every item is taken is asserted at the end.)
 * FIXED: the stealer raises head first and takes it back if it finds the queue empty, as published. */
#include "shared.h"
#include <stdbool.h>

enum { MAX_STEALERS = 64, MAX_ITEMS = 1024, STEALS = 2 };

/* Positions only grow by pushes and shrink by pops, and at most MAX_ITEMS are pushed: the queue needs no wrapping. */
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER; /* among stealers, and for the victim's slow path */
static struct shared_int head = SHARED_INT(0);                 /* the next position to steal */
static struct shared_int tail = SHARED_INT(0);                 /* the next position to push to */
static int element[MAX_ITEMS];                                 /* written before tail says that it is there */

static struct shared_int taken[MAX_ITEMS] = { [0 ... MAX_ITEMS - 1] = SHARED_INT(0) }; /* by item: how often */

static void take(int item)
{
    int times = shared_add(&taken[item], 1);
    assert(times == 1);
}

static void push(int item)
{
    int position = shared_read(&tail);
    element[position] = item;
    shared_write(&tail, position + 1);
}

/* Claims the last position and looks whether a stealer is there too. Returns its position, or -1. */
static int claim_last(void)
{
    int last = shared_read(&tail) - 1;
    shared_write(&tail, last);
    if (shared_read(&head) <= last)
        return last;
    shared_write(&tail, last + 1);
    return -1;
}

/* The victim takes the last item. Returns false if there is none. */
static bool pop(void)
{
    int last = claim_last();
    if (last < 0) {
        /* Empty, or a stealer claims the same item: it either gives it back or has it by the time that it unlocks. */
        pthread_mutex_lock(&queue_lock);
        last = claim_last();
        pthread_mutex_unlock(&queue_lock);
        if (last < 0)
            return false;
    }
    take(element[last]);
    return true;
}

/* A stealer takes the first item, if there is one. */
static void steal(void)
{
    pthread_mutex_lock(&queue_lock);
    int first = shared_read(&head);
#ifdef FIXED
    shared_write(&head, first + 1);
    bool found = first < shared_read(&tail);
    if (!found)
        shared_write(&head, first);
#else
    bool found = first < shared_read(&tail); /* culprit */
    if (found)
        shared_write(&head, first + 1); /* culprit */
#endif
    int item = found ? element[first] : 0;
    pthread_mutex_unlock(&queue_lock);
    if (found)
        take(item);
}

static void *stealer(void *unused)
{
    (void)unused;
    for (int i = 0; i < STEALS; i++)
        steal();
    return NULL;
}

int main(int argc, char **argv)
{
    int stealers = argument(argc, argv, 1, 1, 1, MAX_STEALERS);
    int items = argument(argc, argv, 2, 4, 1, MAX_ITEMS);
    pthread_t thread[MAX_STEALERS];
    push(0);
    for (int i = 0; i < stealers; i++)
        thread[i] = thread_start(stealer, NULL);
    /* Two pushes, one pop, as in the test program of CHESS; then pops to the end. */
    for (int item = 1; item < items; item++) {
        push(item);
        if (item % 2 == 1)
            pop();
    }
    while (pop()) {
    }
    for (int i = 0; i < stealers; i++)
        thread_join(thread[i]);
    for (int item = 0; item < items; item++) {
        int times = shared_read(&taken[item]);
        assert(times == 1);
    }
    return 0;
}
