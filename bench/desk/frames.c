/* A sampler fills the back buffer, then swaps; a sender sends the front buffer when there is a new one.
 *
 * Bug: the sender says that it has the new one before it has read it: the sampler may swap and fill it meanwhile.
 * Shows as: a failed assertion: half of what is sent is newer than the rest.
 * FIXED: it says so when it has read. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { CHANNELS = 4, ROUNDS = 4 };

struct frame {
    pthread_mutex_t lock; /* of the values */
    int value[CHANNELS];
};

static struct frame frames[2] = { { .lock = PTHREAD_MUTEX_INITIALIZER }, { .lock = PTHREAD_MUTEX_INITIALIZER } };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int front;
static bool fresh, over;

static void set(struct frame *f, int channel, int value)
{
    pthread_mutex_lock(&f->lock);
    f->value[channel] = value;
    pthread_mutex_unlock(&f->lock);
}

static int get(struct frame *f, int channel)
{
    pthread_mutex_lock(&f->lock);
    int value = f->value[channel];
    pthread_mutex_unlock(&f->lock);
    return value;
}

static void *sampler(void *arg)
{
    (void)arg;
    int back = 1;
    for (int round = 1; round <= ROUNDS; round++) {
        for (int channel = 0; channel < CHANNELS; channel++)
            set(&frames[back], channel, round); /* culprit */
        pthread_mutex_lock(&lock);
        while (fresh)
            pthread_cond_wait(&changed, &lock);
        front = back;
        back = 1 - back;
        fresh = true;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    over = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *sender(void *arg)
{
    int *sent = arg;
    for (;;) {
        pthread_mutex_lock(&lock); /* culprit */
        while (!fresh && !over)
            pthread_cond_wait(&changed, &lock);
        if (!fresh) {
            pthread_mutex_unlock(&lock);
            return NULL;
        }
        struct frame *f = &frames[front];
#ifndef FIXED
        fresh = false;
        pthread_cond_broadcast(&changed);
#endif
        pthread_mutex_unlock(&lock);

        int packet[CHANNELS];
        for (int channel = 0; channel < CHANNELS; channel++)
            packet[channel] = get(f, channel); /* culprit */
        for (int channel = 1; channel < CHANNELS; channel++)
            assert(packet[channel] == packet[0]);
        *sent += 1;
#ifdef FIXED
        pthread_mutex_lock(&lock);
        fresh = false;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
#endif
    }
}

int main(void)
{
    pthread_t threads[2];
    int sent = 0;
    pthread_create(&threads[0], NULL, sampler, NULL);
    pthread_create(&threads[1], NULL, sender, &sent);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d packets\n", sent);
    return 0;
}
