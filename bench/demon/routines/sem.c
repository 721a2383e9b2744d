/* A buffer that a semaphore counts, and that others may drain. */
#include "routine.h"
#include <semaphore.h>
struct box {
    sem_t full;
    pthread_mutex_t lock;
    int items;
};
struct box box;
/*@demon require some: b.items > 0 */
NI void take_one(struct box *b)
{
    assert(b->items > 0);
    b->items--;
}
/*@demon test
  rely locked: holds(b.lock) implies unchanged(b.items)
  wait filled: b.items > 0 */
NI void consume(struct box *b)
{
    sem_wait(&b->full);
    pthread_mutex_lock(&b->lock);
#ifndef BUG
    if (b->items > 0)
#endif
        take_one(b);
    pthread_mutex_unlock(&b->lock);
}
/*@demon ensure more: b.items = old b.items + 1 */
void produce(struct box *b)
{
    pthread_mutex_lock(&b->lock);
    b->items++;
    pthread_mutex_unlock(&b->lock);
    sem_post(&b->full);
}
/*@demon ensure none: b.items = 0 */
void drain(struct box *b)
{
    pthread_mutex_lock(&b->lock);
    b->items = 0;
    pthread_mutex_unlock(&b->lock);
}
int main(void)
{
    sem_init(&box.full, 0, 0);
    pthread_mutex_init(&box.lock, 0);
    consume(&box);
    return 0;
}
