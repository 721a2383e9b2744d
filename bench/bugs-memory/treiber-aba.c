/* A stack without locks, whose nodes are used again.
 *
 * Source: Treiber's stack, with the problem known as ABA.
 * Bug: a pop has read the top node and its successor when another thread pops both and pushes the first one back: the
 *   top is the same, the successor is not, and the compare and exchange succeeds.
 * Depth 2: (the load of the successor) before (the other's pops), and (the other's push) before (the exchange).
 * Shows as: an assertion: a node that somebody owns is on the stack.
 * Race: none: all accesses are atomic.
 * FIXED: the top has a count beside it, which each change makes another. */
#include "shared.h"

enum { NODES = 3 }; /* 1 and 2; 0 is the end */

static _Atomic unsigned top; /* the node, and with FIXED, 256 times the number of changes */
static _Atomic int next[NODES], owned[NODES];

static unsigned changed(unsigned old, int node)
{
#ifdef FIXED
    return ((old & ~255u) + 256) | (unsigned)node;
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
        next[node] = (int)(old & 255);
    while (!atomic_compare_exchange_strong(&top, &old, changed(old, node)));
}

static int pop(void)
{
    unsigned old = top;
    int node;
    do {
        node = (int)(old & 255);
        if (!node)
            return 0;
    } while (!atomic_compare_exchange_strong(&top, &old, changed(old, next[node]))); /* culprit */
    int owners = owned[node]++;
    assert(!owners);
    return node;
}

static void *pop_one(void *unused)
{
    (void)unused;
    pop();
    return NULL;
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

int main(void)
{
    push(2);
    push(1);
    run_both(pop_one, pop_two);
    pop();
    pop();
    return 0;
}
