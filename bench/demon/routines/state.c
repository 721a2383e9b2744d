/* A state machine. */
#include "routine.h"
enum state { IDLE, BUSY, CLOSED };
struct conn {
    enum state state;
    pthread_mutex_t lock;
    short errors;
};
static struct conn conn = { IDLE, PTHREAD_MUTEX_INITIALIZER, 0 };
/*@demon require idle: c.state = 0
  ensure busy: c.state = 1 */
NI void enter(struct conn *c)
{
    if (c->state != IDLE)
        abort();
    c->state = BUSY;
}
/*@demon test rely locked: holds(c.lock) implies unchanged(c.state) */
NI int start(struct conn *c)
{
    int done = 0;
    EARLY(&c->lock);
    if (c->state == IDLE) {
        LATE(&c->lock);
        enter(c);
        done = 1;
    } else {
        LATE(&c->lock);
    }
    pthread_mutex_unlock(&c->lock);
    return done;
}
/*@demon ensure closed: c.state = 2 */
void hangup(struct conn *c)
{
    pthread_mutex_lock(&c->lock);
    c->state = CLOSED;
    pthread_mutex_unlock(&c->lock);
}
int main(void)
{
    return !start(&conn);
}
