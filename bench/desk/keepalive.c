/* Connections with keepalive timers: one timer thread takes due entries out of a list and calls them.
 *
 * Bug: a timer that has been taken out of the list is called behind the close of its connection. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct connection {
    pthread_mutex_t lock;
    bool open;
    int pings;
};

struct timer {
    struct timer *next;
    struct connection *conn;
    int due; /* tick */
};

static pthread_mutex_t timers_lock = PTHREAD_MUTEX_INITIALIZER;
static struct timer *timers;

static void timer_add(struct connection *c, int due)
{
    struct timer *t = malloc(sizeof *t);
    if (t == NULL)
        abort();
    t->conn = c;
    t->due = due;
    pthread_mutex_lock(&timers_lock);
    t->next = timers;
    timers = t;
    pthread_mutex_unlock(&timers_lock);
}

static void timer_cancel(struct connection *c)
{
    pthread_mutex_lock(&timers_lock);
    for (struct timer **p = &timers; *p != NULL;) {
        struct timer *t = *p;
        if (t->conn == c) {
            *p = t->next;
            free(t);
        } else {
            p = &t->next;
        }
    }
    pthread_mutex_unlock(&timers_lock);
}

static struct timer *take_due(int now)
{
    struct timer *t = NULL;
    pthread_mutex_lock(&timers_lock); /* culprit */
    for (struct timer **p = &timers; *p != NULL; p = &(*p)->next)
        if ((*p)->due <= now) {
            t = *p;
            *p = t->next;
            break;
        }
    pthread_mutex_unlock(&timers_lock);
    return t;
}

static void ping(struct connection *c)
{
    pthread_mutex_lock(&c->lock); /* culprit */
#ifndef FIXED
    assert(c->open);
#endif
    if (c->open)
        c->pings++;
    pthread_mutex_unlock(&c->lock);
}

static void *timer_loop(void *arg)
{
    (void)arg;
    for (int now = 0; now < 4; now++) {
        struct timer *t;
        while ((t = take_due(now)) != NULL) {
            ping(t->conn);
            free(t);
        }
        usleep(1000);
    }
    return NULL;
}

static void connection_close(struct connection *c)
{
    timer_cancel(c);
    pthread_mutex_lock(&c->lock); /* culprit */
    c->open = false;
    pthread_mutex_unlock(&c->lock);
}

static struct connection conns[2];

static void *serve(void *arg)
{
    struct connection *c = arg;
    pthread_mutex_lock(&c->lock);
    c->open = true;
    pthread_mutex_unlock(&c->lock);
    timer_add(c, 1);
    usleep(1000);
    connection_close(c);
    return NULL;
}

int main(void)
{
    pthread_t loop, s[2];
    for (int i = 0; i < 2; i++)
        pthread_mutex_init(&conns[i].lock, NULL);
    pthread_create(&loop, NULL, timer_loop, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&s[i], NULL, serve, &conns[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(s[i], NULL);
    pthread_join(loop, NULL);
    puts("done");
    return 0;
}
