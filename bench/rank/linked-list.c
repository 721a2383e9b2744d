/* Two builders append to one list. Stands for: LinkedList (ConTest).
 * Bug: an append reads the tail and writes it back without a lock.
 * Shows as: an assertion: a node is lost. FIXED: a lock. */
#include "shared.h"

enum { BUILDERS = 2 };
static struct node {
    struct node *next;
} head, node[BUILDERS], *tail = &head;

static void *builder(void *number)
{
    struct node *mine = &node[(intptr_t)number];
    fix_lock();
    tail->next = mine; /* culprit */
    tail = mine;
    fix_unlock();
    return NULL;
}

int main(void)
{
    run_threads(BUILDERS, builder);
    int length = 0;
    for (const struct node *n = head.next; n && length <= BUILDERS; n = n->next)
        length++;
    assert(length == BUILDERS);
    return 0;
}
