/* A schedule's file can be read, and tells a terminal nothing, whatever the program's functions are called. A name of
 * two lines ended its line too early: `pct replay` refused what `pct minimize` had just written.
 *
 * BUILD: gcc -O1 -pthread -o %p %s && LC_ALL=C sed -i 's/both_of_them/both\nof\x1bthem/g' %p
 * RUN: pct run -n 200 -s 1 -t %t/trace -- %p > %t/out 2>&1; [ -s %t/trace ] &&
 *     pct minimize --no-depth -q -o %t/schedule %t/trace -- %p && ! grep -q $'\x1b' %t/schedule &&
 *     grep -q '^function .* main$' %t/schedule && { pct replay -q %t/schedule -- %p; [ $? = 120 ]; }
 */
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void *both_of_them(void *second)
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
    pthread_create(&threads[0], NULL, both_of_them, NULL);
    pthread_create(&threads[1], NULL, both_of_them, &threads);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
