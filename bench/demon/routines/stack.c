/* A stack in an array. */
#include "routine.h"
struct stack {
    pthread_mutex_t *lock;
    long top;
    void *item[8];
};
static pthread_mutex_t stack_lock = PTHREAD_MUTEX_INITIALIZER;
struct stack stack = { &stack_lock, 1, { &stack } };
/*@demon require some: s.top > 0
 ensure less: s.top = old s.top - 1 */
NI void *unsafe_pop(struct stack *s)
{
    assert(s->top > 0);
    return s->item[--s->top];
}
/*@demon test rely locked: holds(s.lock) implies unchanged(s.top) */
NI void *pop(struct stack *s)
{
    void *p = NULL;
    EARLY(s->lock);
    if (s->top) {
        LATE(s->lock);
        p = unsafe_pop(s);
    } else {
        LATE(s->lock);
    }
    pthread_mutex_unlock(s->lock);
    return p;
}
/*@demon require some: s.top > 0
 ensure none: s.top = 0 */
void clear(struct stack *s)
{
    pthread_mutex_lock(s->lock);
    s->top = 0;
    pthread_mutex_unlock(s->lock);
}
int main(void)
{
    return !pop(&stack);
}
