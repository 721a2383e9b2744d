/* A wheel of timers, each of which runs its callback in a thread of its own when it is due; a tick fires them.
 *
 * Bug: wheel_stop() holds the wheel's lock while it joins the callbacks' threads. A callback that has to arm its timer
 *   again needs the lock.
 * Shows as: deadlock.
 * FIXED: the threads are taken out under the lock, and joined without. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

enum { SLOTS = 4, TICKS = 4 };

struct timer {
    int slot, period, runs, running;
    pthread_t thread;
};

static struct wheel {
    pthread_mutex_t lock;
    struct timer *slot[SLOTS];
    int now, stopping;
} wheel = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void arm(struct timer *t)
{
    t->slot = (wheel.now + t->period) % SLOTS;
    wheel.slot[t->slot] = t;
}

static void *callback(void *argument)
{
    struct timer *t = argument;
    t->runs++;
    pthread_mutex_lock(&wheel.lock); /* culprit */
    if (!wheel.stopping)
        arm(t);
    pthread_mutex_unlock(&wheel.lock);
    return NULL;
}

static void wheel_tick(void)
{
    pthread_mutex_lock(&wheel.lock);
    wheel.now = (wheel.now + 1) % SLOTS;
    struct timer *t = wheel.slot[wheel.now];
    wheel.slot[wheel.now] = NULL;
    if (t) {
        if (t->running)
            pthread_join(t->thread, NULL); /* it armed itself as the last thing that it did with the lock */
        t->running = pthread_create(&t->thread, NULL, callback, t) == 0;
    }
    pthread_mutex_unlock(&wheel.lock);
}

static void wheel_stop(struct timer *timers, int count)
{
    pthread_t threads[8];
    int running = 0;
    pthread_mutex_lock(&wheel.lock); /* culprit */
    wheel.stopping = 1;
    for (int i = 0; i < count; i++) {
        if (!timers[i].running)
            continue;
        timers[i].running = 0;
        threads[running++] = timers[i].thread;
#ifndef FIXED
        pthread_join(timers[i].thread, NULL); /* culprit */
#endif
    }
    pthread_mutex_unlock(&wheel.lock);
#ifdef FIXED
    for (int i = 0; i < running; i++)
        pthread_join(threads[i], NULL);
#else
    (void)threads;
#endif
}

int main(void)
{
    struct timer timers[2] = { { .period = 1 }, { .period = 2 } };
    pthread_mutex_lock(&wheel.lock);
    for (int i = 0; i < 2; i++)
        arm(&timers[i]);
    pthread_mutex_unlock(&wheel.lock);
    for (int i = 0; i < TICKS; i++)
        wheel_tick();
    wheel_stop(timers, 2);
    printf("%d and %d runs\n", timers[0].runs, timers[1].runs);
    return 0;
}
