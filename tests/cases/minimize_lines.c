/* A schedule's file can be read whose command has an argument of several lines.
 *
 * RUN: pct run -n 200 -s 1 -t %t/trace -- %p $'one\ntwo' > %t/out 2>&1; [ -s %t/trace ] &&
 *     pct minimize --no-depth -q -o %t/schedule %t/trace -- %p $'one\ntwo' &&
 *     { pct replay -q %t/schedule -- %p $'one\ntwo'; [ $? = 120 ]; } && grep -q '^# two' %t/schedule
 */
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *both(void *second)
{
    pthread_mutex_lock(second ? &b : &a);
    pthread_mutex_lock(second ? &a : &b);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, both, NULL);
    pthread_create(&threads[1], NULL, both, &threads);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
