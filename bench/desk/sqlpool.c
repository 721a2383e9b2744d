/* A pool of database connections: who finds none that is idle opens a new one, as long as the server allows more.
 *
 * Bug: a connection is counted when it is open, not when it is decided to open it; two who see one place left both
 * take it.
 * Shows as: an assertion of the server's: too many sessions.
 * FIXED: the place is taken under the lock by which it was seen. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 2, CLIENTS = 3, QUERIES = 2 };

/* --- The server --- */

static pthread_mutex_t server_lock = PTHREAD_MUTEX_INITIALIZER;
static int sessions, executed;

static void server_accept(void)
{
    pthread_mutex_lock(&server_lock);
    sessions++;
    assert(sessions <= MOST);
    pthread_mutex_unlock(&server_lock);
}

static void server_execute(void)
{
    pthread_mutex_lock(&server_lock);
    executed++;
    pthread_mutex_unlock(&server_lock);
}

static void server_drop(void)
{
    pthread_mutex_lock(&server_lock);
    sessions--;
    pthread_mutex_unlock(&server_lock);
}

/* --- The pool --- */

struct connection {
    struct connection *next;
    int served;
};

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t idle_again;
    struct connection *idle;
    int open;
    bool closing;
};

static struct connection *connect_to_server(void)
{
    struct connection *c = calloc(1, sizeof *c);
    if (c)
        server_accept();
    return c;
}

static struct connection *pool_get(struct pool *p)
{
    struct connection *c = NULL;
    pthread_mutex_lock(&p->lock); /* culprit */
    for (;;) {
        if ((c = p->idle)) {
            p->idle = c->next;
            break;
        }
        if (p->open < MOST) {
#ifdef FIXED
            p->open++;
            pthread_mutex_unlock(&p->lock);
            c = connect_to_server();
            return c;
#else
            pthread_mutex_unlock(&p->lock); /* culprit */
            c = connect_to_server();        /* culprit */
            pthread_mutex_lock(&p->lock);   /* culprit */
            p->open++;
            break;
#endif
        }
        pthread_cond_wait(&p->idle_again, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return c;
}

static void pool_put(struct pool *p, struct connection *c)
{
    pthread_mutex_lock(&p->lock);
    c->served++;
    c->next = p->idle;
    p->idle = c;
    pthread_cond_signal(&p->idle_again);
    pthread_mutex_unlock(&p->lock);
}

static int pool_close(struct pool *p)
{
    int served = 0;
    pthread_mutex_lock(&p->lock);
    while (p->idle) {
        struct connection *c = p->idle;
        p->idle = c->next;
        served += c->served;
        p->open--;
        server_drop();
        free(c);
    }
    pthread_mutex_unlock(&p->lock);
    return served;
}

static struct pool pool = { .lock = PTHREAD_MUTEX_INITIALIZER, .idle_again = PTHREAD_COND_INITIALIZER };

static void *client(void *arg)
{
    for (int i = 0; i < QUERIES; i++) {
        struct connection *c = pool_get(&pool);
        server_execute();
        pool_put(&pool, c);
    }
    return arg;
}

int main(void)
{
    pthread_t clients[CLIENTS];
    for (int i = 0; i < CLIENTS; i++)
        pthread_create(&clients[i], NULL, client, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    printf("%d queries, %d served\n", executed, pool_close(&pool));
    return executed != CLIENTS * QUERIES;
}
