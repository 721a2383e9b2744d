/* `pct run --explore -t FILE --no-environment`: the exploration did not hear of the last, and wrote the values of the
 * environment into the trace.
 *
 * RUN: export SECRET=sesame-%t; pct run -q --explore --no-environment -t %t/trace -- %p; [ $? = 1 ] &&
 *     ! grep -q sesame %t/trace && grep -q SECRET=xxx %t/trace
 * RUN: export SECRET=sesame-%t; pct run -q --explore -t %t/trace -- %p; [ $? = 1 ] && grep -q sesame %t/trace
 */
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void *take(void *swapped)
{
    pthread_mutex_lock(swapped ? &b : &a);
    pthread_mutex_lock(swapped ? &a : &b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return swapped;
}

int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, take, NULL);
    pthread_create(&other, NULL, take, &a);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
