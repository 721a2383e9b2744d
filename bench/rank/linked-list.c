/* Two builders append to one list. Stands for: LinkedList (ConTest).
 * Bug: an append reads the tail and writes it back without a lock.
 * Shows as: an assertion: a node is lost. FIXED: a lock. */
#include "shared.h"

enum { BUILDERS = 2 };
static struct node {
    struct node *next;
} head, node[BUILDERS], *tail = &head;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *builder(void *number)
{
    struct node *mine = &node[(intptr_t)number];
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    tail->next = mine; /* culprit */
    tail = mine;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

int main(void)
{
    (void)lock;
    run_threads(BUILDERS, builder);
    int length = 0;
    for (const struct node *n = head.next; n && length <= BUILDERS; n = n->next)
        length++;
    assert(length == BUILDERS);
    return 0;
}
