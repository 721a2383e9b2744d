// A pool of connections, and a thread that closes those that have been idle.
//
// Bug: the reaper chooses a connection in one section, and takes it off the pool in another: it may be in use by then.
// Shows as: a failed assertion: a connection that is in use is closed.
// FIXED: both in one section.
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>

enum { SIZE = 2 };

struct connection {
    bool open, used;
    int queries;
};

static struct {
    pthread_mutex_t lock;
    struct connection all[SIZE];
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

static struct connection *pool_get(void)
{
    struct connection *found = 0;
    pthread_mutex_lock(&pool.lock); // culprit
    for (int i = 0; i < SIZE && !found; i++)
        if (!pool.all[i].used) {
            found = &pool.all[i];
            found->open = found->used = true;
        }
    pthread_mutex_unlock(&pool.lock);
    return found;
}

static void pool_put(struct connection *connection)
{
    pthread_mutex_lock(&pool.lock);
    connection->used = false;
    pthread_mutex_unlock(&pool.lock);
}

static int find_idle(void)
{
    int idle = -1;
    for (int i = 0; i < SIZE; i++)
        if (pool.all[i].open && !pool.all[i].used)
            idle = i;
    return idle;
}

static void *reap(void *argument)
{
    (void)argument;
    for (int round = 0; round < 2; round++) {
        pthread_mutex_lock(&pool.lock); // culprit
        int idle = find_idle();
#ifndef FIXED
        pthread_mutex_unlock(&pool.lock);
        if (idle < 0)
            continue;
        pthread_mutex_lock(&pool.lock); // culprit
#endif
        if (idle >= 0)
            pool.all[idle].open = false;
        pthread_mutex_unlock(&pool.lock);
    }
    return 0;
}

static void query(struct connection *connection)
{
    pthread_mutex_lock(&pool.lock);
    assert(connection->open);
    connection->queries++;
    pthread_mutex_unlock(&pool.lock);
}

static void *client(void *argument)
{
    (void)argument;
    for (int i = 0; i < 2; i++) {
        struct connection *connection = pool_get();
        query(connection);
        pool_put(connection);
    }
    return 0;
}

int main(void)
{
    pthread_t reaper, clients[2];
    pthread_create(&reaper, 0, reap, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&clients[i], 0, client, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(clients[i], 0);
    pthread_join(reaper, 0);
    return 0;
}
