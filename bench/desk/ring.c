/* A ring of the latest messages: when it is full, the oldest is dropped.
 *
 * Bug: the reader looks at the oldest message, handles it, and takes it out in another section: if it was dropped in
 *   between, it takes out one that nobody handled.
 * Shows as: a failed assertion: a message was neither handled nor dropped.
 * FIXED: the message is taken out before it is handled. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { PLACES = 2, MESSAGES = 4 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t not_empty;
    int message[PLACES];
    unsigned head, tail;
    bool ended;
} ring = { .lock = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER };

static struct {
    pthread_mutex_t lock;
    int handled[MESSAGES], dropped[MESSAGES];
} counts = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void count(int *which)
{
    pthread_mutex_lock(&counts.lock);
    ++*which;
    pthread_mutex_unlock(&counts.lock);
}

static void ring_push(int message)
{
    pthread_mutex_lock(&ring.lock); /* culprit */
    if (ring.tail - ring.head == PLACES)
        count(&counts.dropped[ring.message[ring.head++ % PLACES]]); /* culprit */
    ring.message[ring.tail++ % PLACES] = message;
    pthread_cond_signal(&ring.not_empty);
    pthread_mutex_unlock(&ring.lock);
}

static void ring_end(void)
{
    pthread_mutex_lock(&ring.lock);
    ring.ended = true;
    pthread_cond_signal(&ring.not_empty);
    pthread_mutex_unlock(&ring.lock);
}

/* Returns the oldest message, or -1 behind the last one. */
static int ring_front(void)
{
    pthread_mutex_lock(&ring.lock); /* culprit */
    while (ring.head == ring.tail && !ring.ended)
        pthread_cond_wait(&ring.not_empty, &ring.lock); /* culprit */
    int message = ring.head == ring.tail ? -1 : ring.message[ring.head % PLACES];
#ifdef FIXED
    if (message >= 0)
        ring.head++;
#endif
    pthread_mutex_unlock(&ring.lock);
    return message;
}

static void ring_pop(void)
{
#ifndef FIXED
    pthread_mutex_lock(&ring.lock); /* culprit */
    if (ring.head != ring.tail)
        ring.head++;
    pthread_mutex_unlock(&ring.lock);
#endif
}

static void *reader(void *unused)
{
    (void)unused;
    for (int message = ring_front(); message >= 0; message = ring_front()) {
        count(&counts.handled[message]);
        ring_pop(); /* culprit */
    }
    return NULL;
}

int main(void)
{
    pthread_t reading;
    if (pthread_create(&reading, NULL, reader, NULL))
        return 3;
    for (int i = 0; i < MESSAGES; i++)
        ring_push(i);
    ring_end();
    pthread_join(reading, NULL);
    for (int i = 0; i < MESSAGES; i++)
        assert(counts.handled[i] || counts.dropped[i]);
    printf("done\n");
    return 0;
}
