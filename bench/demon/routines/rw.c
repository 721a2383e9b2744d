/* Readers and a writer. */
#include "routine.h"
struct rw {
    pthread_mutex_t lock;
    int readers, writer;
};
struct rw rw = { PTHREAD_MUTEX_INITIALIZER, 0, 0 };
/*@demon require none: w.writer = 0 */
NI void enter_read(struct rw *w)
{
    w->readers++;
    assert(!w->writer);
}
/*@demon test rely locked: holds(w.lock) implies unchanged(w.readers) and unchanged(w.writer)
  excl: w.readers = 0 or w.writer = 0 */
NI int read_lock(struct rw *w)
{
    int ok = 0;
    EARLY(&w->lock);
    if (!w->writer) {
        LATE(&w->lock);
        enter_read(w);
        ok = 1;
    } else {
        LATE(&w->lock);
    }
    pthread_mutex_unlock(&w->lock);
    return ok;
}
/*@demon require free: w.readers = 0 and w.writer = 0 ensure mine: w.writer = 1 */
void write_lock(struct rw *w)
{
    pthread_mutex_lock(&w->lock);
    if (!w->readers && !w->writer)
        w->writer = 1;
    pthread_mutex_unlock(&w->lock);
}
int main(void)
{
    return !read_lock(&rw);
}
