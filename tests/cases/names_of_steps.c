/* The objects of the steps that a report shows have their names, also those that no thread waits for at the end. Only
 * what somebody waited for had one: of a deadlock on a condition variable the mutex was a number.
 *
 * RUN: pct run -s 1 -- %p > %t/out 2>&1; grep -F 'objects: mutex 1 `lock`; condition variable 2 `never`' %t/out
 */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

int main(void)
{
    pthread_mutex_lock(&lock);
    for (;;)
        pthread_cond_wait(&never, &lock);
}
