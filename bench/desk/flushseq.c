// A journal: writers append records and wait until theirs is on the disk; one thread writes what there is.
//
// Bug: behind each round the flusher signals one writer, though all of a round may be done.
// Shows as: a deadlock: a writer waits for a record that is on the disk.
// FIXED: a broadcast.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static struct {
    pthread_mutex_t lock;
    pthread_cond_t appended, flushed;
    unsigned long last, done;
    bool closed;
} journal = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, false };

static unsigned long disk;
static pthread_mutex_t disk_lock = PTHREAD_MUTEX_INITIALIZER;

static void disk_write(unsigned long up_to)
{
    pthread_mutex_lock(&disk_lock);
    disk = up_to;
    pthread_mutex_unlock(&disk_lock);
}

static void journal_append(void)
{
    pthread_mutex_lock(&journal.lock);
    unsigned long mine = ++journal.last;
    pthread_cond_signal(&journal.appended);
    while (journal.done < mine)
        pthread_cond_wait(&journal.flushed, &journal.lock); // culprit
    pthread_mutex_unlock(&journal.lock);
}

static void *flush(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&journal.lock);
    for (;;) {
        while (journal.done == journal.last && !journal.closed)
            pthread_cond_wait(&journal.appended, &journal.lock);
        if (journal.done == journal.last)
            break;
        unsigned long up_to = journal.last;
        pthread_mutex_unlock(&journal.lock);
        disk_write(up_to);
        pthread_mutex_lock(&journal.lock);
        journal.done = up_to;
#ifdef FIXED
        pthread_cond_broadcast(&journal.flushed);
#else
        pthread_cond_signal(&journal.flushed); // culprit
#endif
    }
    pthread_mutex_unlock(&journal.lock);
    return NULL;
}

static void *writer(void *argument)
{
    (void)argument;
    for (int i = 0; i < 2; i++)
        journal_append();
    return NULL;
}

int main(void)
{
    pthread_t flusher, writers[3];
    pthread_create(&flusher, NULL, flush, NULL);
    for (int i = 0; i < 3; i++)
        pthread_create(&writers[i], NULL, writer, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(writers[i], NULL);
    pthread_mutex_lock(&journal.lock);
    journal.closed = true;
    pthread_cond_signal(&journal.appended);
    pthread_mutex_unlock(&journal.lock);
    pthread_join(flusher, NULL);
    printf("%lu\n", disk);
    return 0;
}
