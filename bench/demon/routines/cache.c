/* A cache whose entries others make invalid. */
#include "routine.h"
struct entry {
    unsigned char valid;
    int value;
};
struct cache {
    pthread_mutex_t lock;
    struct entry entry[3];
};
struct cache cache = { PTHREAD_MUTEX_INITIALIZER, { { 1, 5 }, { 1, 6 }, { 0, 0 } } };
/*@demon require valid: e.valid = 1 */
NI int read_entry(struct entry *e)
{
    assert(e->valid);
    return e->value;
}
/*@demon test rely locked: holds(c.lock) implies unchanged(c.entry[0].valid) and unchanged(c.entry[1].valid)
      and unchanged(c.entry[2].valid) */
NI int lookup(struct cache *c, int i)
{
    int value = -1;
    EARLY(&c->lock);
    bool valid = c->entry[i].valid;
    LATE(&c->lock);
    if (valid)
        value = read_entry(&c->entry[i]);
    pthread_mutex_unlock(&c->lock);
    return value;
}
/*@demon ensure gone: c.entry[1].valid = 0 */
void invalidate(struct cache *c)
{
    pthread_mutex_lock(&c->lock);
    c->entry[1].valid = 0;
    pthread_mutex_unlock(&c->lock);
}
int main(void)
{
    return lookup(&cache, 1) != 6;
}
