/* A function of the program's own that is called as one of libc's, with which each thread begins, belongs to a stack:
 * it was left out, and a thread that was in no other had a stack that "cannot be unwound".
 *
 * RUN: pct run -q -n 300 -s 1 -- %p > %t/said 2>&1; [ $? = 120 ] && ! grep -q 'cannot be unwound' %t/said &&
 *     grep -q '#0 *start_thread  at .*own_start.c:' %t/said
 */
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) void *start_thread(void *swapped)
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
    pthread_create(&one, NULL, start_thread, NULL);
    pthread_create(&other, NULL, start_thread, &a);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}
