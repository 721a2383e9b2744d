/* A pool of connections. */
#include "routine.h"
struct pool {
    pthread_mutex_t lock;
    signed char free;
    unsigned char users;
};
struct pool pool = { PTHREAD_MUTEX_INITIALIZER, 1, 2 };
/*@demon require some: p.free >= 1 */
NI void take(struct pool *p)
{
    p->free--;
    assert(p->free >= 0);
    p->users++;
}
/*@demon test rely locked: holds(p.lock) implies unchanged(p.free) and unchanged(p.users)
   invariant sane: p.free >= 0 */
NI int acquire(struct pool *p)
{
    int got = 0;
    EARLY(&p->lock);
    if (p->free > 0) {
        LATE(&p->lock);
        take(p);
        got = 1;
    } else {
        LATE(&p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return got;
}
/*@demon require some: p.free > 0 ensure taken: p.free = old p.free - 1 and p.users = old p.users + 1 */
void other(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    if (p->free > 0) {
        p->free--;
        p->users++;
    }
    pthread_mutex_unlock(&p->lock);
}
int main(void)
{
    return !acquire(&pool);
}
