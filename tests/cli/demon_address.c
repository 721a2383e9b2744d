/* A queue that is empty if its head leads to itself: looked at before the lock; -DFIXED: behind it, too. */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

struct link {
    struct link *next, *previous;
};
struct queue {
    pthread_mutex_t lock;
    struct link head;
    unsigned kind : 3;
};

static struct link only;
struct queue queue = { .lock = PTHREAD_MUTEX_INITIALIZER, .head = { &only, &only } };

static void remove_first(struct queue *q)
{
    struct link *l = q->head.next;
    l->next->previous = l->previous;
    l->previous->next = l->next;
}

__attribute__((noinline, noclone)) void take(struct queue *q)
{
    assert(q->head.next != &q->head);
    remove_first(q);
}

/* Others. */
void steal(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    if (q->head.next != &q->head)
        remove_first(q);
    pthread_mutex_unlock(&q->lock);
}

__attribute__((noinline, noclone)) void pop(struct queue *q)
{
    if (q->head.next == &q->head)
        return;
    pthread_mutex_lock(&q->lock);
#ifdef FIXED
    if (q->head.next != &q->head)
#endif
        take(q);
    pthread_mutex_unlock(&q->lock);
}

int main(void)
{
    only = (struct link){ &queue.head, &queue.head };
    pop(&queue);
    return 0;
}
