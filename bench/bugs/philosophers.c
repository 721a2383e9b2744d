/* The dining philosophers: everybody takes the left fork first. For the measurements of bench/. Argument: how many
 * philosophers (3).
 *
 * Source: classic (Dijkstra, 1965).
 * Bug: each philosopher locks the fork on the left and then the one on the right. When each has the left one, none
 *   gets the right one.
 * Depth 3, the number of philosophers: for each of them, (the right neighbour takes its left fork) before (this one
 *   asks for its right fork). Each thread must be held back once, so fewer constraints do not do, as the paper says
 *   of deadlocks of n threads (section 2.3.1). PCT may still be lucky with one change point: a thread that is
 *   blocked on its right fork is held back without one.
 * Shows as: a deadlock.
 * FIXED: the last philosopher takes the right fork first, so that all take them in the order of their numbers. */
#include "shared.h"

enum { MAX_PHILOSOPHERS = 64 };

static int philosophers;
static pthread_mutex_t fork_lock[MAX_PHILOSOPHERS] = { [0 ... MAX_PHILOSOPHERS - 1] = PTHREAD_MUTEX_INITIALIZER };
static int seat[MAX_PHILOSOPHERS];
static int meals[MAX_PHILOSOPHERS];

static void *dine(void *argument)
{
    int self = *(int *)argument;
    int first = self;
    int second = (self + 1) % philosophers;
#ifdef FIXED
    if (second < first) {
        first = second;
        second = self;
    }
#endif
    pthread_mutex_lock(&fork_lock[first]);  /* culprit */
    pthread_mutex_lock(&fork_lock[second]); /* culprit */
    meals[self]++;
    pthread_mutex_unlock(&fork_lock[second]);
    pthread_mutex_unlock(&fork_lock[first]);
    return NULL;
}

int main(int argc, char **argv)
{
    philosophers = argument(argc, argv, 1, 3, 2, MAX_PHILOSOPHERS);
    pthread_t thread[MAX_PHILOSOPHERS];
    for (int i = 0; i < philosophers; i++) {
        seat[i] = i;
        thread[i] = thread_start(dine, &seat[i]);
    }
    for (int i = 0; i < philosophers; i++) {
        thread_join(thread[i]);
        assert(meals[i] == 1);
    }
    return 0;
}
