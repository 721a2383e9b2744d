/* A pool of connections: clients take one and give it back; an administrator waits until all are back, to drain it.
 *
 * Bug: both wait on one condition, and giving back signals it. The signal may wake the administrator, who has to wait
 *   on, while a client stays asleep though a connection is free.
 * Shows as: deadlock.
 * FIXED: broadcast. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONNECTIONS = 1, CLIENTS = 3, REQUESTS = 2 };

struct connection {
    int number, used;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct connection *idle[CONNECTIONS], all[CONNECTIONS];
    int idle_count, draining, clients;
};

static void pool_init(struct pool *p)
{
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    for (int i = 0; i < CONNECTIONS; i++) {
        p->all[i] = (struct connection){ .number = i };
        p->idle[p->idle_count++] = &p->all[i];
    }
    p->clients = CLIENTS;
}

static struct connection *pool_get(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    while (p->idle_count == 0)
        pthread_cond_wait(&p->changed, &p->lock); /* culprit */
    struct connection *c = p->idle[--p->idle_count];
    pthread_mutex_unlock(&p->lock);
    return c;
}

static void pool_put(struct pool *p, struct connection *c)
{
    pthread_mutex_lock(&p->lock);
    p->idle[p->idle_count++] = c;
#ifdef FIXED
    pthread_cond_broadcast(&p->changed);
#else
    pthread_cond_signal(&p->changed); /* culprit */
#endif
    pthread_mutex_unlock(&p->lock);
}

static void pool_leave(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    if (--p->clients == 0)
        pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static void pool_drain(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->draining = 1;
    while (p->idle_count < CONNECTIONS || p->clients > 0)
        pthread_cond_wait(&p->changed, &p->lock); /* culprit */
    pthread_mutex_unlock(&p->lock);
}

static struct pool pool;

static void *client(void *unused)
{
    (void)unused;
    for (int i = 0; i < REQUESTS; i++) {
        struct connection *c = pool_get(&pool);
        c->used++;
        pool_put(&pool, c);
    }
    pool_leave(&pool);
    return NULL;
}

int main(void)
{
    pthread_t threads[CLIENTS];
    int used = 0;
    pool_init(&pool);
    for (int i = 0; i < CLIENTS; i++)
        if (pthread_create(&threads[i], NULL, client, NULL))
            return 3;
    pool_drain(&pool);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < CONNECTIONS; i++)
        used += pool.all[i].used;
    printf("%d requests\n", used);
    return 0;
}
