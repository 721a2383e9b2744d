/* A bounded queue with one condition variable for "not empty" and "not full", and a signal where a broadcast is needed.
 * The cause is the signal that woke a waiter of the wrong kind; a signal to nobody, early in the run, was named.
 *
 * RUN: pct run -q --state none -n 500 -s 1 -- %p > %t/log 2>&1; [ $? = 120 ] &&
 *     grep -q '^cause: the signal woke the wrong waiter' %t/log
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { CAP = 1, PRODUCERS = 2, CONSUMERS = 2, ITEMS = 3 };

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int items[CAP];
    unsigned head, count;
};
static struct queue q = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, { 0 }, 0, 0 };

static void put(struct queue *q, int x)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == CAP)
        pthread_cond_wait(&q->changed, &q->lock);
    q->items[(q->head + q->count++) % CAP] = x;
    pthread_cond_signal(&q->changed); /* BUG: may wake another producer */
    pthread_mutex_unlock(&q->lock);
}
static int get(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->count == 0)
        pthread_cond_wait(&q->changed, &q->lock);
    int x = q->items[q->head];
    q->head = (q->head + 1) % CAP;
    q->count--;
    pthread_cond_signal(&q->changed); /* BUG: may wake another consumer */
    pthread_mutex_unlock(&q->lock);
    return x;
}
static void *producer(void *arg)
{
    for (int i = 0; i < ITEMS; i++)
        put(&q, (int)(long)arg * 100 + i);
    return NULL;
}
static void *consumer(void *unused)
{
    long sum = 0;
    for (int i = 0; i < ITEMS * PRODUCERS / CONSUMERS; i++)
        sum += get(&q);
    (void)unused;
    return (void *)sum;
}
int main(void)
{
    pthread_t p[PRODUCERS], c[CONSUMERS];
    for (long i = 0; i < PRODUCERS; i++)
        pthread_create(&p[i], NULL, producer, (void *)i);
    for (long i = 0; i < CONSUMERS; i++)
        pthread_create(&c[i], NULL, consumer, NULL);
    for (int i = 0; i < PRODUCERS; i++)
        pthread_join(p[i], NULL);
    long total = 0;
    for (int i = 0; i < CONSUMERS; i++) {
        void *r;
        pthread_join(c[i], &r);
        total += (long)r;
    }
    printf("total %ld\n", total);
    return 0;
}
