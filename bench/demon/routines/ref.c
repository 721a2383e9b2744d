/* An object with a count of references. */
#include "routine.h"
struct object {
    pthread_mutex_t lock;
    unsigned refs;
    char *data;
};
struct object object = { PTHREAD_MUTEX_INITIALIZER, 1, NULL };
struct table {
    struct object *current;
} table = { &object };
/*@demon
  require alive: o.refs > 0 and o.data != null */
NI char peek(struct object *o)
{
    return *o->data;
}
/*@demon test
  rely locked: holds(t.current.lock) implies unchanged(t.current.refs) and unchanged(t.current.data)
       same: unchanged(t.current) */
NI char use(struct table *t)
{
    char c = 0;
    EARLY(&t->current->lock);
    bool alive = t->current->refs > 0;
    LATE(&t->current->lock);
    if (alive)
        c = peek(t->current);
    pthread_mutex_unlock(&t->current->lock);
    return c;
}
/*@demon
  require last: o.refs = 1
  ensure gone: o.refs = 0 and o.data = null */
void drop(struct object *o)
{
    pthread_mutex_lock(&o->lock);
    if (!--o->refs) {
        free(o->data);
        o->data = NULL;
    }
    pthread_mutex_unlock(&o->lock);
}
int main(void)
{
    object.data = strdup("x");
    use(&table);
    return 0;
}
