/* A slot that is looked at in one critical section, and taken in the next. */
#include "routine.h"
struct slot {
    pthread_mutex_t lock;
    int owner;
} slot = { PTHREAD_MUTEX_INITIALIZER, 0 };
/*@demon require free: s.owner = 0 */
NI void own(struct slot *s, int id)
{
    assert(!s->owner);
    s->owner = id;
}
/*@demon test rely locked: holds(s.lock) implies unchanged(s.owner) */
NI int grab(struct slot *s, int id)
{
    pthread_mutex_lock(&s->lock);
    int is_free = !s->owner;
#ifdef BUG
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_lock(&s->lock);
#endif
    if (is_free)
        own(s, id);
    pthread_mutex_unlock(&s->lock);
    return is_free;
}
/*@demon require free: s.owner = 0 and id > 0
  ensure taken: s.owner = id */
void rival(struct slot *s, int id)
{
    pthread_mutex_lock(&s->lock);
    if (!s->owner)
        s->owner = id;
    pthread_mutex_unlock(&s->lock);
}
int main(void)
{
    return !grab(&slot, 1);
}
