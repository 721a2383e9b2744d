/* A gate that is waited for, and may be shut again. The twin looks once, not until it is open. */
#include "routine.h"
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int open;
};
struct gate gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
/*@demon require open: g.open = 1 */
NI void pass(struct gate *g)
{
    assert(g->open == 1);
}
/*@demon test
  rely locked: holds(g.lock) implies unchanged(g.open)
  wait open: g.open = 1 */
NI void go(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
#ifdef BUG
    if (!g->open)
        pthread_cond_wait(&g->changed, &g->lock);
#else
    while (!g->open)
        pthread_cond_wait(&g->changed, &g->lock);
#endif
    pass(g);
    pthread_mutex_unlock(&g->lock);
}
/*@demon ensure open: g.open = 1 */
void open_it(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->open = 1;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}
/*@demon ensure shut: g.open = 0 */
void shut(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->open = 0;
    pthread_mutex_unlock(&g->lock);
}
int main(void)
{
    go(&gate);
    return 0;
}
