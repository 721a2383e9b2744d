/* MySQL 3.23.56, bug 169 (sql_delete.cc): a table changes under one lock, the log is written under another, so the log
 * may have the changes in another order. `changes` and `logged` stand for the orders. */
#include <assert.h>
#include <pthread.h>

struct table {
    pthread_mutex_t data, log;
    int changes, logged;
};

static void write_log(struct table *table, int change)
{
    pthread_mutex_lock(&table->log);
    assert(table->logged == change - 1);
    table->logged = change;
    pthread_mutex_unlock(&table->log);
}

static int change_rows(struct table *table)
{
    return ++table->changes;
}

static void delete_all(struct table *table)
{
    pthread_mutex_lock(&table->data);
    int change = change_rows(table);
#ifndef FIXED
    pthread_mutex_unlock(&table->data);
#endif
    write_log(table, change);
#ifdef FIXED
    pthread_mutex_unlock(&table->data);
#endif
}

/* Others. */
__attribute__((used)) static void insert_row(struct table *table)
{
    pthread_mutex_lock(&table->data);
    int change = ++table->changes;
    pthread_mutex_lock(&table->log);
    table->logged = change;
    pthread_mutex_unlock(&table->log);
    pthread_mutex_unlock(&table->data);
}

#ifdef THREADS
static void *others(void *table)
{
    insert_row(table);
    return NULL;
}
#endif

int main(void)
{
    static struct table table = { .data = PTHREAD_MUTEX_INITIALIZER, .log = PTHREAD_MUTEX_INITIALIZER };
#ifdef THREADS
    pthread_t thread;
    pthread_create(&thread, NULL, others, &table);
#endif
    delete_all(&table);
#ifdef THREADS
    pthread_join(thread, NULL);
#endif
    return 0;
}
