/* A circular list whose elements change their order: moving one from the front to the back is not atomic. For the
 * measurements of bench/.
 *
 * Source: the Maple paper, table 2, "CircularList" (a synthetic bug of idiom 3). The paper names the program and the
 *   idiom but does not print the code; this is written after them.
 * Bug: threads take jobs in turn: each moves the element at the front to the back. Taking and putting back are each
 *   under the lock, but not together, so two threads can put their elements back in the wrong order.
 * Depth 2: (thread 1 takes) before (thread 2 takes), and (thread 2 puts back) before (thread 1 puts back). Or with
 *   the threads exchanged. PCT needs its change point between thread 1's two calls and thread 2 below it until then.
 * Shows as: a failed assertion in main: the list is no rotation of what it was.
 * FIXED: both are done under one hold of the lock. */
#include "shared.h"

enum { SIZE = 4 };

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static int slot[SIZE] = { 0, 1, 2, 3 }; /* under list_lock: a ring */
static int first;                       /* the slot of the front element */
static int length = SIZE;

/* Both: with list_lock held. */
static int remove_first(void)
{
    int element = slot[first];
    first = (first + 1) % SIZE;
    length--;
    return element;
}

static void add_last(int element)
{
    slot[(first + length) % SIZE] = element;
    length++;
}

static void *rotate(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&list_lock); /* culprit */
    int element = remove_first();
#ifndef FIXED
    pthread_mutex_unlock(&list_lock);
    pthread_mutex_lock(&list_lock); /* culprit */
#endif
    add_last(element);
    pthread_mutex_unlock(&list_lock);
    return NULL;
}

int main(void)
{
    pthread_t thread1 = thread_start(rotate, NULL);
    pthread_t thread2 = thread_start(rotate, NULL);
    thread_join(thread1);
    thread_join(thread2);
    assert(length == SIZE);
    for (int i = 0; i < SIZE; i++)
        assert(slot[(i + 1) % SIZE] == (slot[i] + 1) % SIZE);
    return 0;
}
