/* A routing table that is replaced while requests read it: readers count themselves, and who replaces it waits until
 * there are none before it frees the old one.
 *
 * Bug: a reader fetches the pointer before it counts itself.
 * Shows as: a failed assertion.
 * FIXED: behind that. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUTES 4
struct table {
    int version;
    int port[ROUTES];
};

static _Atomic(struct table *) current;
static atomic_int readers;

static struct table *table_new(int version)
{
    struct table *t = malloc(sizeof *t);
    t->version = version;
    for (int i = 0; i < ROUTES; i++)
        t->port[i] = 1000 * version + i;
    return t;
}

static void table_free(struct table *t)
{
    t->version = -1;
    for (int i = 0; i < ROUTES; i++)
        t->port[i] = -1;
    free(t);
}

static int route(int client)
{
#ifdef FIXED
    atomic_fetch_add(&readers, 1);
    struct table *t = atomic_load(&current);
#else
    struct table *t = atomic_load(&current); /* culprit */
    atomic_fetch_add(&readers, 1);           /* culprit */
#endif
    int version = t->version;
    int port = t->port[client % ROUTES];
    atomic_fetch_sub(&readers, 1);
    assert(version > 0 && port / 1000 == version);
    return port;
}

static void reload(int version)
{
    struct table *fresh = table_new(version);
    struct table *old = atomic_exchange(&current, fresh);
    while (atomic_load(&readers) != 0)
        sched_yield();
    table_free(old); /* culprit */
}

static void *client(void *argument)
{
    int id = *(int *)argument;
    long sum = 0;
    for (int i = 0; i < 3; i++)
        sum += route(id + i);
    return (void *)sum;
}

int main(void)
{
    atomic_store(&current, table_new(1));
    pthread_t t[2];
    int id[2] = { 0, 1 };
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, client, &id[i]);
    reload(2);
    reload(3);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    puts("routed");
    return 0;
}
