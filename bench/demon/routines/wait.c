/* A queue that is waited for, from which others steal. */
#include "routine.h"
struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    int count;
};
struct queue queue = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
/*@demon require some: q.count > 0 */
NI void pop(struct queue *q)
{
    assert(q->count > 0);
    q->count--;
}
/*@demon test
  rely locked: holds(q.lock) implies unchanged(q.count)
  wait filled: q.count > 0 */
NI void get(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
#ifdef BUG
    if (q->count == 0)
#else
    while (q->count == 0)
#endif
        pthread_cond_wait(&q->filled, &q->lock);
    pop(q);
    pthread_mutex_unlock(&q->lock);
}
/*@demon ensure more: q.count = old q.count + 1 */
void push(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->count++;
    pthread_cond_broadcast(&q->filled);
    pthread_mutex_unlock(&q->lock);
}
/*@demon require some: q.count > 0
   ensure less: q.count = old q.count - 1 */
void steal(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    if (q->count > 0)
        q->count--;
    pthread_mutex_unlock(&q->lock);
}
int main(void)
{
    get(&queue);
    return 0;
}
