/* What is created once. */
#include "routine.h"
struct service {
    pthread_mutex_t lock;
    int ready, inits;
} service = { .lock = PTHREAD_MUTEX_INITIALIZER };
/*@demon require first: s.ready = 0
   ensure ready: s.ready = 1 */
NI void init(struct service *s)
{
    assert(!s->inits++);
    s->ready = 1;
}
/*@demon test rely locked: holds(s.lock) implies unchanged(s.ready) and unchanged(s.inits) */
NI void get(struct service *s)
{
    EARLY(&s->lock);
    if (!s->ready) {
        LATE(&s->lock);
        init(s);
    } else {
        LATE(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}
/*@demon require needed: s.ready = 0
   ensure ready: s.ready = 1 and s.inits = old s.inits + 1 */
void other_get(struct service *s)
{
    pthread_mutex_lock(&s->lock);
    if (!s->ready)
        init(s);
    pthread_mutex_unlock(&s->lock);
}
int main(void)
{
    get(&service);
    return 0;
}
