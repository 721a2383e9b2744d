/* A write-ahead log with group commit: who comes first writes what all have appended, the others wait for it.
 *
 * Bug: behind the write the leader reads how much has been appended again: what came meanwhile counts as written.
 * Shows as: a failed assertion: a commit returns whose record is not on the disk.
 * FIXED: it remembers how much it has written. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { CLIENTS = 3, COMMITS = 2, ROOM = 64 };

struct log {
    pthread_mutex_t lock;
    pthread_cond_t flushed;
    int records[ROOM];
    unsigned appended; /* records in memory */
    unsigned durable;  /* records that count as written */
    bool leading;
    unsigned rounds;
};

struct disk {
    pthread_mutex_t lock;
    int records[ROOM];
    unsigned count;
};

static struct log wal = { .lock = PTHREAD_MUTEX_INITIALIZER, .flushed = PTHREAD_COND_INITIALIZER };
static struct disk disk = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void disk_write(const int *records, unsigned from, unsigned to)
{
    pthread_mutex_lock(&disk.lock);
    memcpy(disk.records + from, records + from, (to - from) * sizeof *records);
    if (to > disk.count)
        disk.count = to;
    pthread_mutex_unlock(&disk.lock);
}

static bool disk_has(unsigned position, int record)
{
    pthread_mutex_lock(&disk.lock);
    bool has = position < disk.count && disk.records[position] == record;
    pthread_mutex_unlock(&disk.lock);
    return has;
}

/* Called with the lock, which it gives up while it writes. */
static void lead(void)
{
    unsigned from = wal.durable, to = wal.appended;
    int copy[ROOM];
    memcpy(copy, wal.records, sizeof copy);
    wal.leading = true;
    pthread_mutex_unlock(&wal.lock);
    disk_write(copy, from, to);
    pthread_mutex_lock(&wal.lock); /* culprit */
#ifdef FIXED
    wal.durable = to;
#else
    wal.durable = wal.appended;
#endif
    wal.leading = false;
    wal.rounds++;
    pthread_cond_broadcast(&wal.flushed);
}

static unsigned commit(int record)
{
    pthread_mutex_lock(&wal.lock); /* culprit */
    unsigned position = wal.appended++;
    wal.records[position] = record;
    while (wal.durable <= position) {
        if (wal.leading)
            pthread_cond_wait(&wal.flushed, &wal.lock);
        else
            lead(); /* culprit */
    }
    pthread_mutex_unlock(&wal.lock);
    return position;
}

static void *client(void *argument)
{
    int number = *(int *)argument;
    for (int i = 0; i < COMMITS; i++) {
        int record = 100 * number + i;
        unsigned position = commit(record);
        assert(disk_has(position, record));
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[CLIENTS];
    int numbers[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        numbers[i] = i + 1;
        if (pthread_create(&threads[i], NULL, client, &numbers[i]))
            return 3;
    }
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    printf("%u records in %u rounds\n", wal.durable, wal.rounds);
    return 0;
}
