/* Transactions commit in groups: the first of those that wait becomes the leader, writes the log for all that are
 * queued by then, and wakes them; the others wait until theirs is written.
 *
 * Bug: the leader signals once, which wakes one, where a whole group may wait.
 * Shows as: a deadlock: a transaction waits that is written.
 * FIXED: it is a broadcast. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { TRANSACTIONS = 4 };

struct transaction {
    int number;
    bool written;
    struct transaction *next;
};

static pthread_mutex_t group_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t group_written = PTHREAD_COND_INITIALIZER;
static struct transaction *queue;
static bool leading;

static pthread_mutex_t disk_lock = PTHREAD_MUTEX_INITIALIZER;
static int on_disk;

static void write_log(struct transaction *group)
{
    pthread_mutex_lock(&disk_lock);
    for (; group; group = group->next)
        on_disk++;
    pthread_mutex_unlock(&disk_lock);
}

static void lead(void)
{
    leading = true;
    while (queue) {
        struct transaction *group = queue;
        queue = NULL;
        pthread_mutex_unlock(&group_lock);
        write_log(group);
        pthread_mutex_lock(&group_lock);
        for (struct transaction *t = group; t; t = t->next)
            t->written = true;
    }
    leading = false;
#ifdef FIXED
    pthread_cond_broadcast(&group_written);
#else
    pthread_cond_signal(&group_written); /* culprit */
#endif
}

static void commit(struct transaction *transaction)
{
    pthread_mutex_lock(&group_lock);
    transaction->next = queue;
    queue = transaction;
    if (!leading)
        lead(); /* culprit */
    while (!transaction->written)
        pthread_cond_wait(&group_written, &group_lock); /* culprit */
    pthread_mutex_unlock(&group_lock);
}

static void *run_transaction(void *arg)
{
    commit(arg);
    return NULL;
}

int main(void)
{
    pthread_t threads[TRANSACTIONS];
    struct transaction transactions[TRANSACTIONS];
    for (int i = 0; i < TRANSACTIONS; i++) {
        transactions[i] = (struct transaction){ .number = i };
        pthread_create(&threads[i], NULL, run_transaction, &transactions[i]);
    }
    for (int i = 0; i < TRANSACTIONS; i++)
        pthread_join(threads[i], NULL);
    printf("%d on disk\n", on_disk);
    return 0;
}
