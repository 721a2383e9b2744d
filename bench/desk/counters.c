/* Counters of each thread, in a table that grows.
 *
 * Bug: each thread keeps a pointer to its counter. When another one registers, the table may move, and what the first
 *   counts from then on is lost.
 * Shows as: a failed assertion on the total.
 * FIXED: each keeps the number of its counter. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, COUNTS = 2 };

struct counter {
    char *name;
    long value;
    char padding[200];
};

static struct {
    pthread_mutex_t lock;
    struct counter *counter;
    int counters, room;
} table = { .lock = PTHREAD_MUTEX_INITIALIZER };

#ifdef FIXED
static __thread int mine;
#else
static __thread struct counter *mine;
#endif

static void table_grow(void)
{
    table.room = table.room ? 2 * table.room : 1;
    table.counter = realloc(table.counter, table.room * sizeof *table.counter);
    if (!table.counter)
        exit(3);
}

static void counter_register(const char *name)
{
    pthread_mutex_lock(&table.lock); /* culprit */
    if (table.counters == table.room)
        table_grow(); /* culprit */
    struct counter *c = &table.counter[table.counters++];
    *c = (struct counter){ .name = strdup(name) };
#ifdef FIXED
    mine = table.counters - 1;
#else
    mine = c;
#endif
    pthread_mutex_unlock(&table.lock);
}

static void counter_add(long n)
{
    pthread_mutex_lock(&table.lock); /* culprit */
#ifdef FIXED
    table.counter[mine].value += n;
#else
    mine->value += n;
#endif
    pthread_mutex_unlock(&table.lock);
}

static void *worker(void *argument)
{
    counter_register(argument);
    for (int i = 0; i < COUNTS; i++)
        counter_add(1);
    return NULL;
}

static long table_total(void)
{
    long total = 0;
    pthread_mutex_lock(&table.lock);
    for (int i = 0; i < table.counters; i++) {
        total += table.counter[i].value;
        free(table.counter[i].name);
    }
    free(table.counter);
    pthread_mutex_unlock(&table.lock);
    return total;
}

int main(void)
{
    static char names[THREADS][8] = { "read", "write", "sync" };
    pthread_t workers[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&workers[i], NULL, worker, names[i]))
            return 3;
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i], NULL);
    assert(table_total() == THREADS * COUNTS);
    printf("all counted\n");
    return 0;
}
