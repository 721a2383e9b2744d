/* Who waits for a condition looks twice at what it waits for, and others change that between: so it is to be. Where a
 * run failed for something else, that was said to be an atomicity violation.
 *
 * RUN: pct run -n 1000 -s 1 --state none -- %p > %t/said 2>&1; status=$?; cat %t/said;
 *     ! grep 'atomicity violation' %t/said && test $status = 1
 */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready, first;

static void *work(void *number)
{
    pthread_mutex_lock(&mutex);
    if (!first)
        first = (int)(long)number;
    ready++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    pthread_t thread[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, work, (void *)(i + 1));
    pthread_mutex_lock(&mutex);
    while (ready < 3)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    if (first == 3)
        fprintf(stderr, "the third came first\n");
    return first == 3;
}
