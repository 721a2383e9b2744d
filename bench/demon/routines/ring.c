/* A ring of four places. */
#include "routine.h"
struct ring {
    pthread_mutex_t lock;
    unsigned head, tail;
    int slot[4];
};
struct ring ring = { .lock = PTHREAD_MUTEX_INITIALIZER, .head = 3, .tail = 0 };
/*@demon
  require room: r.head - r.tail < 4 */
NI void put(struct ring *r, int value)
{
    assert(r->head - r->tail < 4);
    r->slot[r->head++ % 4] = value;
}
/*@demon test
  rely locked: holds(r.lock) implies unchanged(r.head) and unchanged(r.tail)
  invariant fits: r.head - r.tail <= 4 */
NI int push(struct ring *r, int value)
{
    EARLY(&r->lock);
    int room = r->head - r->tail < 4;
    LATE(&r->lock);
    if (room)
        put(r, value);
    pthread_mutex_unlock(&r->lock);
    return room;
}
/*@demon
  require room: r.head - r.tail < 4
  ensure more: r.head = old r.head + 1 */
void offer(struct ring *r)
{
    pthread_mutex_lock(&r->lock);
    if (r->head - r->tail < 4)
        r->slot[r->head++ % 4] = 0;
    pthread_mutex_unlock(&r->lock);
}
/*@demon
  require some: r.head != r.tail
  ensure more: r.tail = old r.tail + 1 */
void poll(struct ring *r)
{
    pthread_mutex_lock(&r->lock);
    if (r->head != r->tail)
        r->tail++;
    pthread_mutex_unlock(&r->lock);
}
int main(void)
{
    push(&ring, 5);
    return 0;
}
