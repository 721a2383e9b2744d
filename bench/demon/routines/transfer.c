/* A transfer between accounts. The twin loses one, and keeps the sum that the contract asks for. */
#include "routine.h"
struct bank {
    pthread_mutex_t lock;
    int a, b;
} bank = { PTHREAD_MUTEX_INITIALIZER, 50, 50 };
/*@demon require total: k.a + k.b = 100 */
NI void audit(struct bank *k)
{
    assert(k->a + k->b == 100);
}
/*@demon test rely locked: holds(k.lock) implies unchanged(k.a) and unchanged(k.b) */
NI void transfer(struct bank *k, int n)
{
    EARLY(&k->lock);
    int a = k->a, b = k->b;
    LATE(&k->lock);
    k->a = a - n;
    k->b = b + n;
    audit(k);
    pthread_mutex_unlock(&k->lock);
}
/*@demon require some: n >= 0 and n < 50
  ensure moved: k.a = old k.a + n and k.b = old k.b - n */
void back(struct bank *k, int n)
{
    pthread_mutex_lock(&k->lock);
    k->a += n;
    k->b -= n;
    pthread_mutex_unlock(&k->lock);
}
int main(void)
{
    transfer(&bank, 10);
    return 0;
}
