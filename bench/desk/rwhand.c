// A lock for readers and writers, made of a mutex and a condition, around a table of routes. Who reads lets a writer
// that waits go first.
//
// Bug: whoever leaves signals one of those who wait; a reader that is woken while a writer waits waits again, and the
// writer is not woken.
// Shows as: a deadlock: somebody waits for the lock, which nobody has.
// FIXED: it is a broadcast.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { ROUTES = 4, READERS = 2, WRITERS = 2, ROUNDS = 2 };

struct rw_lock {
    pthread_mutex_t mutex;
    pthread_cond_t free;
    int readers, writers_waiting;
    bool writer;
};

static struct rw_lock lock = { .mutex = PTHREAD_MUTEX_INITIALIZER, .free = PTHREAD_COND_INITIALIZER };
static int routes[ROUTES];
static pthread_mutex_t statistics = PTHREAD_MUTEX_INITIALIZER;
static int lookups;

static void wake(struct rw_lock *l)
{
#ifdef FIXED
    pthread_cond_broadcast(&l->free);
#else
    pthread_cond_signal(&l->free); // culprit
#endif
}

static void read_lock(struct rw_lock *l)
{
    pthread_mutex_lock(&l->mutex);
    while (l->writer || l->writers_waiting)
        pthread_cond_wait(&l->free, &l->mutex); // culprit
    l->readers++;
    pthread_mutex_unlock(&l->mutex);
}

static void read_unlock(struct rw_lock *l)
{
    pthread_mutex_lock(&l->mutex);
    if (--l->readers == 0)
        wake(l); // culprit
    pthread_mutex_unlock(&l->mutex);
}

static void write_lock(struct rw_lock *l)
{
    pthread_mutex_lock(&l->mutex);
    l->writers_waiting++;
    while (l->writer || l->readers)
        pthread_cond_wait(&l->free, &l->mutex); // culprit
    l->writers_waiting--;
    l->writer = true;
    pthread_mutex_unlock(&l->mutex);
}

static void write_unlock(struct rw_lock *l)
{
    pthread_mutex_lock(&l->mutex);
    l->writer = false;
    wake(l); // culprit
    pthread_mutex_unlock(&l->mutex);
}

static int find_route(int to)
{
    read_lock(&lock);
    int route = routes[to];
    pthread_mutex_lock(&statistics);
    lookups++;
    pthread_mutex_unlock(&statistics);
    read_unlock(&lock);
    return route;
}

static void *look(void *arg)
{
    for (int i = 0; i < ROUNDS; i++)
        find_route(i % ROUTES);
    return arg;
}

static void *update(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        write_lock(&lock);
        for (int r = 0; r < ROUTES; r++)
            routes[r]++;
        pthread_mutex_lock(&statistics);
        lookups = 0;
        pthread_mutex_unlock(&statistics);
        write_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t readers[READERS], writers[WRITERS];
    for (int i = 0; i < READERS; i++)
        pthread_create(&readers[i], NULL, look, NULL);
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&writers[i], NULL, update, NULL);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    printf("route 0 changed %d times\n", routes[0]);
    return 0;
}
