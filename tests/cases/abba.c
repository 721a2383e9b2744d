// Two locks, taken in both orders: a deadlock that a short campaign finds.
//
// RUN 120: pct run -q -s 1 -n 300 -- %p
//
// A bare LD_PRELOAD knows no k, and draws its scale: it finds the deadlock, too, if less often.
//
// RUN 120: for ((s = 1; s <= 300; s++)); do PCT_LOG=quiet PCT_SEED=$s LD_PRELOAD=$LIBPCT %p; [ $? != 120 ] || exit 120;
//     done
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER, o = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void pad(int k)
{
    for (int i = 0; i < k; i++) {
        pthread_mutex_lock(&o);
        n++;
        pthread_mutex_unlock(&o);
    }
}
static void *f(void *x)
{
    pad(10);
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    n++;
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return x;
}
static void *g(void *x)
{
    pad(10);
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    n++;
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return x;
}
int main(void)
{
    pthread_t t, u;
    pthread_create(&t, 0, f, 0);
    pthread_create(&u, 0, g, 0);
    pthread_join(t, 0);
    pthread_join(u, 0);
    puts("ok");
    return 0;
}
