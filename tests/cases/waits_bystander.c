/* A thread waits for a signal with a lock that another one needs: that is the cause where this one, or who waits for
 * it, would signal; where who would has ended, it is only what came of it.
 *
 * RUN: pct run -n 500 -s 1 -t %t/trace -- %p > %t/out 2>&1; [ -s %t/trace ] &&
 *     pct explain --seconds 60 %t/trace -- %p > %t/out 2>&1; grep -q '^cause: ' %t/out &&
 *     ! grep -q '^cause: waits with a lock held' %t/out
 * RUN: pct run -n 500 -s 1 -t %t/trace -- %p nested > %t/out 2>&1; [ -s %t/trace ] &&
 *     pct explain --seconds 60 %t/trace -- %p nested > %t/out 2>&1;
 *     grep -q '^cause: waits with a lock held' %t/out
 */
#include <pthread.h>
#include <stdbool.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static bool nested, waiting, ready;
static int uses;

static void *consumer(void *unused)
{
    pthread_mutex_lock(&outer);
    pthread_mutex_lock(&queue);
    waiting = true;
    while (!ready)
        pthread_cond_wait(&filled, &queue);
    pthread_mutex_unlock(&queue);
    pthread_mutex_unlock(&outer);
    return unused;
}

static void *producer(void *unused)
{
    if (nested)
        pthread_mutex_lock(&outer);
    pthread_mutex_lock(&queue);
    bool wake = waiting || nested;
    pthread_mutex_unlock(&queue);
    pthread_mutex_lock(&queue);
    ready = true;
    if (wake)
        pthread_cond_signal(&filled);
    pthread_mutex_unlock(&queue);
    if (nested)
        pthread_mutex_unlock(&outer);
    return unused;
}

static void *bystander(void *unused)
{
    pthread_mutex_lock(&outer);
    uses++;
    pthread_mutex_unlock(&outer);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[3];
    (void)argv;
    nested = argc > 1;
    pthread_create(&threads[0], NULL, consumer, NULL);
    pthread_create(&threads[1], NULL, producer, NULL);
    pthread_create(&threads[2], NULL, bystander, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
