/* Interference where no function begins: between two critical sections, or (-DACCESSES) between two accesses. */
#include <assert.h>
#include <pthread.h>

#ifndef ACCESSES
struct stack {
    int size;
    pthread_mutex_t lock;
};

static void pop(struct stack *s)
{
    assert(s->size > 0);
    s->size--;
}

/* Others. */
__attribute__((used)) static void clear(struct stack *s)
{
    pthread_mutex_lock(&s->lock);
    s->size = 0;
    pthread_mutex_unlock(&s->lock);
}

static void take(struct stack *s)
{
    pthread_mutex_lock(&s->lock);
    int some = s->size > 0;
#ifndef FIXED
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_lock(&s->lock);
#endif
    if (some)
        pop(s);
    pthread_mutex_unlock(&s->lock);
}

int main(void)
{
    static struct stack s = { 1, PTHREAD_MUTEX_INITIALIZER };
    take(&s);
    return 0;
}
#else
struct room {
    int owner, guests;
};

static void use(struct room *r)
{
    assert(r->guests == 0);
}

/* Others. */
__attribute__((used)) static void enter(struct room *r)
{
    int nobody = 0;
    if (__atomic_compare_exchange_n(&r->owner, &nobody, 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        r->guests++;
}

static void visit(struct room *r)
{
#ifdef FIXED
    int nobody = 0;
    if (__atomic_compare_exchange_n(&r->owner, &nobody, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        use(r);
#else
    if (r->owner == 0) {
        r->owner = 1;
        use(r);
    }
#endif
}

int main(void)
{
    static struct room r;
    visit(&r);
    return 0;
}
#endif
