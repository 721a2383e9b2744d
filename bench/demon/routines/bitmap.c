/* A bitmap of which a free bit is taken. */
#include "routine.h"
struct map {
    pthread_mutex_t lock;
    unsigned char used[4];
};
struct map map = { PTHREAD_MUTEX_INITIALIZER, { 1, 0, 0, 1 } };
/*@demon require free0: i = 0 implies m.used[0] = 0
  free1: i = 1 implies m.used[1] = 0
  free2: i = 2 implies m.used[2] = 0
  free3: i = 3 implies m.used[3] = 0 */
NI void claim(struct map *m, int i)
{
    assert(!m->used[i]);
    m->used[i] = 1;
}
/*@demon test rely locked: holds(m.lock) implies unchanged(m.used[0]) and unchanged(m.used[1])
      and unchanged(m.used[2]) and unchanged(m.used[3]) */
NI int allocate(struct map *m)
{
    EARLY(&m->lock);
    int i = 0;
    while (i < 4 && m->used[i])
        i++;
    LATE(&m->lock);
    if (i < 4)
        claim(m, i);
    pthread_mutex_unlock(&m->lock);
    return i;
}
/*@demon require free1: m.used[1] = 0
  ensure taken: m.used[1] = 1 */
void take1(struct map *m)
{
    pthread_mutex_lock(&m->lock);
    if (!m->used[1])
        m->used[1] = 1;
    pthread_mutex_unlock(&m->lock);
}
int main(void)
{
    return allocate(&map) != 1;
}
