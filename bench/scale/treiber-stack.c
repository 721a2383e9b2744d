/* A stack without locks: n-1 threads push a node each, one pops.
 *
 * Source: R. K. Treiber's stack (IBM RJ 5118, 1986), with a frequent mistake.
 * Bug: a node is put on the stack before it knows what is below it.
 * Depth 2: (the exchange that puts a node on the stack) before (the pop), and (the pop's look at what is below)
 *   before (the store of it), while there is something below.
 * Shows as: an assertion: nodes are lost.
 * FIXED: what is below is stored before the exchange. */
#include "shared.h"

enum { END = -1 };
static _Atomic int top = 0, next[MOST_THREADS + 1] = { END };
static int popped;

static void *push(void *number)
{
    int node = (int)(ptrdiff_t)number + 1;
#ifdef FIXED
    int old = top;
    do
        next[node] = old;
    while (!atomic_compare_exchange_strong(&top, &old, node));
#else
    next[node] = END;
    int old = atomic_exchange(&top, node); /* culprit */
    next[node] = old;                      /* culprit */
#endif
    return NULL;
}

static bool pop(void)
{
    int node = top;
    while (node != END && !atomic_compare_exchange_strong(&top, &node, next[node])) {
    }
    return node != END;
}

static void *pop_one(void *unused)
{
    (void)unused;
    popped += pop();
    return NULL;
}

int main(int argc, char **argv)
{
    int count = thread_count(argc, argv);
    run_threads(count, push, pop_one);
    while (pop())
        popped++;
    assert(popped == count); /* those of the threads, and the one that was there */
    return 0;
}
