/* A timer wheel: slots of timers, a thread that turns it, and timers that may be deleted.
 *
 * Bug: who deletes one that has been taken out to be called does not wait for that call. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define SLOTS 4
#define TURNS 8

struct timer {
    void (*fire)(void *);
    void *data;
    int slot;
    bool armed;
    struct timer *next;
};

struct wheel {
    pthread_mutex_t lock;
    struct timer *slots[SLOTS];
    int now;
    int fired;
    struct timer *calling; /* with -DFIXED */
    pthread_cond_t called;
};

struct connection {
    pthread_mutex_t lock;
    struct timer timeout;
    int state; /* 1: open */
    int timeouts;
};

static struct wheel wheel = { .lock = PTHREAD_MUTEX_INITIALIZER, .called = PTHREAD_COND_INITIALIZER };

static void timer_add(struct wheel *w, struct timer *t, int ticks)
{
    pthread_mutex_lock(&w->lock);
    t->slot = (w->now + ticks) % SLOTS;
    t->next = w->slots[t->slot];
    w->slots[t->slot] = t;
    t->armed = true;
    pthread_mutex_unlock(&w->lock);
}

static void timer_del(struct wheel *w, struct timer *t)
{
    pthread_mutex_lock(&w->lock); /* culprit */
#ifdef FIXED
    while (w->calling == t)
        pthread_cond_wait(&w->called, &w->lock);
#endif
    if (t->armed) {
        struct timer **p = &w->slots[t->slot];

        while (*p != t)
            p = &(*p)->next;
        *p = t->next;
        t->armed = false;
    }
    pthread_mutex_unlock(&w->lock);
}

static struct timer *next_expired(struct wheel *w)
{
    struct timer *t;

    pthread_mutex_lock(&w->lock); /* culprit */
    t = w->slots[w->now];
    if (t != NULL) {
        w->calling = t;
        w->slots[w->now] = t->next;
        t->armed = false;
        w->fired++;
    } else {
        w->now = (w->now + 1) % SLOTS;
    }
    pthread_mutex_unlock(&w->lock);
    return t;
}

static void *turn(void *arg)
{
    struct wheel *w = arg;

    for (int i = 0; i < TURNS; i++) {
        struct timer *t = next_expired(w);

        if (t != NULL)
            t->fire(t->data);
#ifdef FIXED
        pthread_mutex_lock(&w->lock);
        w->calling = NULL;
        pthread_cond_broadcast(&w->called);
        pthread_mutex_unlock(&w->lock);
#endif
    }
    return NULL;
}

static void connection_timeout(void *data)
{
    struct connection *c = data;

    pthread_mutex_lock(&c->lock); /* culprit */
    if (c->state != 1) {
        fprintf(stderr, "timeout of a connection that is closed\n");
        abort();
    }
    c->timeouts++;
    pthread_mutex_unlock(&c->lock);
}

static void connection_open(struct connection *c, int ticks)
{
    pthread_mutex_init(&c->lock, NULL);
    c->timeouts = 0;
    c->state = 1;
    c->timeout.fire = connection_timeout;
    c->timeout.data = c;
    timer_add(&wheel, &c->timeout, ticks);
}

static void connection_close(struct connection *c)
{
    timer_del(&wheel, &c->timeout);
    pthread_mutex_lock(&c->lock); /* culprit */
    c->state = 0;
    pthread_mutex_unlock(&c->lock);
}

static struct connection connections[2];

static void *client(void *arg)
{
    struct connection *c = arg;

    connection_open(c, 2);
    pthread_mutex_lock(&c->lock);
    c->timeouts += 0;
    pthread_mutex_unlock(&c->lock);
    connection_close(c);
    return NULL;
}

int main(void)
{
    pthread_t t, c[2];

    pthread_create(&t, NULL, turn, &wheel);
    for (int i = 0; i < 2; i++)
        pthread_create(&c[i], NULL, client, &connections[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(c[i], NULL);
    pthread_join(t, NULL);
    printf("%d fired\n", wheel.fired);
    return 0;
}
