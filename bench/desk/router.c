/* A table of routes that readers use without a lock, while they count themselves; the writer waits until nobody reads.
 *
 * Bug: a reader takes the table's address first and counts itself then: the writer may have looked in between.
 * Shows as: a failed assertion: a table that has been given back is read.
 * FIXED: it counts itself first. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sched.h>
#include <stdio.h>

enum { READERS = 2, LOOKUPS = 3, UPDATES = 2, ROUTES = 4, ALIVE = 0x600d, DEAD = 0xdead };

struct table {
    atomic_int state;
    int next_hop[ROUTES];
};

static struct table pool[UPDATES + 1];
static struct table *_Atomic current;
static atomic_int readers;
static pthread_mutex_t statistics = PTHREAD_MUTEX_INITIALIZER;
static unsigned looked_up;

static struct table *make_table(int version)
{
    struct table *table = &pool[version];
    for (int i = 0; i < ROUTES; i++)
        table->next_hop[i] = version * 10 + i;
    atomic_store(&table->state, ALIVE);
    return table;
}

static void give_back(struct table *table)
{
    atomic_store(&table->state, DEAD); /* culprit */
}

static struct table *enter(void)
{
#ifdef FIXED
    atomic_fetch_add(&readers, 1);
    return atomic_load(&current);
#else
    struct table *table = atomic_load(&current); /* culprit */
    atomic_fetch_add(&readers, 1);               /* culprit */
    return table;
#endif
}

static void leave(void)
{
    atomic_fetch_sub(&readers, 1);
}

static int route(int destination)
{
    struct table *table = enter();
    assert(atomic_load(&table->state) == ALIVE); /* culprit */
    int hop = table->next_hop[destination % ROUTES];
    leave();
    return hop;
}

static void update(int version)
{
    struct table *old = atomic_exchange(&current, make_table(version)); /* culprit */
    while (atomic_load(&readers))                                       /* culprit */
        sched_yield();
    give_back(old);
}

static void *reader(void *unused)
{
    (void)unused;
    for (int i = 0; i < LOOKUPS; i++) {
        int hop = route(i);
        pthread_mutex_lock(&statistics);
        looked_up += hop >= 0;
        pthread_mutex_unlock(&statistics);
    }
    return NULL;
}

static void *writer(void *unused)
{
    (void)unused;
    for (int version = 1; version <= UPDATES; version++)
        update(version);
    return NULL;
}

int main(void)
{
    pthread_t threads[READERS + 1];
    atomic_store(&current, make_table(0));
    for (int i = 0; i <= READERS; i++)
        if (pthread_create(&threads[i], NULL, i < READERS ? reader : writer, NULL))
            return 3;
    for (int i = 0; i <= READERS; i++)
        pthread_join(threads[i], NULL);
    printf("%u looked up\n", looked_up);
    return 0;
}
