/* `pct replay --with` of a token with functions: they were looked for in the command that stands before the program.
 *
 * RUN: pct run -s 1 --functions=work -- %p > %t/said 2>&1;
 *     pct replay -q --with env "$(grep -o "pct1:[^' ]*" %t/said | tail -n 1)" -- %p > %t/again 2>&1; [ $? != 2 ] &&
 *     ! grep 'no function of' %t/again
 */
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) void *work(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    work(NULL);
    return pthread_join(thread, NULL);
}
