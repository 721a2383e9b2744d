/* An account that is drawn on. */
#include "routine.h"
struct account {
    pthread_mutex_t lock;
    long balance;
};
struct account acc = { PTHREAD_MUTEX_INITIALIZER, 100 };
/*@demon
  require covered: a.balance >= n
  ensure less: a.balance = old a.balance - n */
NI void subtract(struct account *a, long n)
{
    assert(a->balance >= n);
    a->balance -= n;
}
/*@demon test
  rely locked: holds(a.lock) implies unchanged(a.balance) */
NI bool withdraw(struct account *a, long n)
{
    EARLY(&a->lock);
    bool fine = a->balance >= n;
    LATE(&a->lock);
    if (fine)
        subtract(a, n);
    pthread_mutex_unlock(&a->lock);
    return fine;
}
/*@demon
  require some: n > 0
  ensure spent: (old a.balance >= n and a.balance = old a.balance - n) or (old a.balance < n
      and a.balance = old a.balance) */
void spend(struct account *a, long n)
{
    pthread_mutex_lock(&a->lock);
    if (a->balance >= n)
        a->balance -= n;
    pthread_mutex_unlock(&a->lock);
}
int main(void)
{
    withdraw(&acc, 60);
    return 0;
}
