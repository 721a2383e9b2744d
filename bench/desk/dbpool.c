/* A pool of connections to a data base: broken ones are closed when they are given back.
 *
 * Bug: a place is free then, too, and who waits for one is not told. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CONN 2
#define CLIENTS 3
#define REQUESTS 3

struct conn {
    int id;
    int uses;
    bool broken;
    struct conn *next;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t available;
    struct conn *idle;
    int open;
    int max;
    int next_id;
    int discarded;
};

static struct pool pool = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, 0, MAX_CONN, 1, 0 };

static struct conn *conn_open(int id)
{
    struct conn *c = calloc(1, sizeof(*c));

    if (c == NULL)
        abort();
    c->id = id;
    return c;
}

static void conn_close(struct conn *c)
{
    memset(c, 0x5a, sizeof(*c));
    free(c);
}

/* Every third request on a connection breaks it, as servers do that recycle. */
static int conn_query(struct conn *c, int n)
{
    c->uses++;
    if (c->uses % 3 == 0)
        c->broken = true;
    return n * 2;
}

static struct conn *pool_acquire(struct pool *p)
{
    struct conn *c;

    pthread_mutex_lock(&p->lock);
    while (p->idle == NULL && p->open >= p->max)
        pthread_cond_wait(&p->available, &p->lock); /* culprit */
    if (p->idle != NULL) {
        c = p->idle;
        p->idle = c->next;
        c->next = NULL;
    } else {
        int id = p->next_id++;

        p->open++;
        c = conn_open(id);
    }
    pthread_mutex_unlock(&p->lock);
    return c;
}

static void pool_discard(struct pool *p, struct conn *c)
{
    pthread_mutex_lock(&p->lock); /* culprit */
    p->open--;
    p->discarded++;
#ifdef FIXED
    pthread_cond_signal(&p->available);
#endif
    pthread_mutex_unlock(&p->lock);
    conn_close(c);
}

static void pool_release(struct pool *p, struct conn *c)
{
    if (c->broken) {
        pool_discard(p, c);
        return;
    }
    pthread_mutex_lock(&p->lock);
    c->next = p->idle;
    p->idle = c;
    pthread_cond_signal(&p->available);
    pthread_mutex_unlock(&p->lock);
}

static void *client(void *arg)
{
    long me = (long)arg;

    for (int i = 0; i < REQUESTS; i++) {
        struct conn *c = pool_acquire(&pool);
        int r = conn_query(c, (int)me * 10 + i);

        assert(r == ((int)me * 10 + i) * 2);
        pool_release(&pool, c);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[CLIENTS];

    for (long i = 0; i < CLIENTS; i++)
        pthread_create(&t[i], NULL, client, (void *)i);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(t[i], NULL);
    printf("%d opened, %d discarded\n", pool.next_id - 1, pool.discarded);
    return 0;
}
