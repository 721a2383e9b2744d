/* A stack without locks, whose nodes are used again: n threads that pop two and push the first one back.
 *
 * Source: the problem known as ABA.
 * Bug: a pop has read the top node and its successor when another thread pops both and pushes the first one back: the
 *   top is the same, the successor is not, and the compare and exchange succeeds.
 * Depth 2: (the load of the successor) before (the other's pops), and (the other's push) before (the exchange).
 * Shows as: an assertion: a node that somebody owns is on the stack.
 * FIXED: the top has a count beside it, which each change makes another. */
#include "shared.h"

enum { NODES = 2 * MOST_THREADS + 1, COUNT = 1 << 12 }; /* nodes from 1; 0 is the end */

static _Atomic unsigned top; /* the node, and with FIXED, COUNT times the number of changes */
static _Atomic int next[NODES], owned[NODES];

static unsigned changed(unsigned old, int node)
{
#ifdef FIXED
    return (old / COUNT + 1) * COUNT + (unsigned)node;
#else
    (void)old;
    return (unsigned)node;
#endif
}

static void push(int node)
{
    owned[node] = 0;
    unsigned old = top;
    do
        next[node] = (int)(old % COUNT);
    while (!atomic_compare_exchange_strong(&top, &old, changed(old, node)));
}

static int pop(void)
{
    unsigned old = top;
    int node;
    do {
        node = (int)(old % COUNT);
        if (!node)
            return 0;
    } while (!atomic_compare_exchange_strong(&top, &old, changed(old, next[node]))); /* culprit */
    int owners = owned[node]++;
    assert(!owners);
    return node;
}

static void *pop_two(void *unused)
{
    (void)unused;
    int node = pop();
    pop();
    if (node)
        push(node);
    return NULL;
}

int main(int argc, char **argv)
{
    int count = thread_count(argc, argv);
    for (int node = 2 * count; node; node--)
        push(node);
    run_threads(count, pop_two, pop_two);
    while (pop()) {
    }
    return 0;
}
