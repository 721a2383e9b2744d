/* A consumer that looks once (with -DFIXED: again) whether there is something, before and behind its wait. */
#include <assert.h>
#include <pthread.h>

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    int count;
};

__attribute__((noinline, noclone)) void pop(struct queue *q)
{
    assert(q->count > 0);
    q->count--;
}

__attribute__((noinline, noclone)) void get(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
#ifdef FIXED
    while (q->count == 0)
#else
    if (q->count == 0)
#endif
        pthread_cond_wait(&q->filled, &q->lock);
    pop(q);
    pthread_mutex_unlock(&q->lock);
}

/* Others. */
void push(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->count++;
    pthread_cond_broadcast(&q->filled);
    pthread_mutex_unlock(&q->lock);
}

void steal(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->count -= q->count > 0;
    pthread_mutex_unlock(&q->lock);
}

int main(void)
{
    static struct queue queue = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
    get(&queue);
    return 0;
}
