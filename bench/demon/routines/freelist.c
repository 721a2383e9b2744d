/* A free list. */
#include "routine.h"
struct node {
    struct node *next;
    int used;
};
struct list {
    pthread_mutex_t lock;
    struct node *head;
    int length;
};
static struct node n2, n1 = { &n2, 0 };
struct list list = { PTHREAD_MUTEX_INITIALIZER, &n1, 2 };
/*@demon require there: n.used = 0 and l.head = n */
NI struct node *unlink_first(struct list *l, struct node *n)
{
    assert(!n->used && l->head == n);
    n->used = 1;
    l->head = n->next;
    l->length--;
    return n;
}
/*@demon test rely locked: holds(l.lock) implies unchanged(l.head) and unchanged(l.head.used) and unchanged(l.length) */
NI struct node *get(struct list *l)
{
    EARLY(&l->lock);
    struct node *n = l->head;
    LATE(&l->lock);
    if (n)
        unlink_first(l, n);
    pthread_mutex_unlock(&l->lock);
    return n;
}
/*@demon require some: l.head != null
  ensure next: l.head = old l.head.next and l.length = old l.length - 1
  modifies l.head.used */
void drop_first(struct list *l)
{
    pthread_mutex_lock(&l->lock);
    if (l->head) {
        l->head->used = 1;
        l->head = l->head->next;
        l->length--;
    }
    pthread_mutex_unlock(&l->lock);
}
int main(void)
{
    return !get(&list);
}
