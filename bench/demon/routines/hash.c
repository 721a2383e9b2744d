/* A hash table with intrusive lists. */
#include "routine.h"
struct hnode {
    struct hnode *next;
};
struct item {
    unsigned key;
    struct hnode node;
    int dead;
};
struct hash {
    pthread_mutex_t lock;
    struct hnode *bucket[8];
};
static struct item a = { .key = 3 }, b = { .key = 11 };
struct hash hash = { .lock = PTHREAD_MUTEX_INITIALIZER };
/*@demon require alive: i.dead = 0 */
NI unsigned touch(struct item *i)
{
    assert(!i->dead);
    return i->key;
}
static struct item *item_of(struct hnode *n)
{
    return (struct item *)((char *)n - offsetof(struct item, node));
}
/*@demon test
 object container_of(h.bucket[0], struct item, node)
 rely locked: holds(h.lock) implies unchanged(h.bucket[3]) and unchanged(container_of(h.bucket[3], item, node).dead)
   and unchanged(h.bucket[3].next) and unchanged(container_of(h.bucket[3].next, item, node).dead) */
NI int find(struct hash *h, unsigned key)
{
    int found = 0;
    EARLY(&h->lock);
    struct hnode *n = h->bucket[key % 8];
    while (n && item_of(n)->key != key)
        n = n->next;
    if (n && !item_of(n)->dead) {
        LATE(&h->lock);
        touch(item_of(n));
        found = 1;
    } else {
        LATE(&h->lock);
    }
    pthread_mutex_unlock(&h->lock);
    return found;
}
/*@demon object container_of(i.node.next, item, node) ensure dead: i.dead = 1 */
void kill_item(struct item *i)
{
    pthread_mutex_lock(&hash.lock);
    i->dead = 1;
    pthread_mutex_unlock(&hash.lock);
}
int main(void)
{
    hash.bucket[3] = &a.node;
    a.node.next = &b.node;
    return !find(&hash, 11);
}
