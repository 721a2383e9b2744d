/* A program whose threads record what they do in a journal, which is closed when the program ends.
 *
 * Bug: main() waits for the workers to have said that they are done, and returns; they are detached and record one
 *   thing more after that. The journal's lock is destroyed while they may be about to use it, and a record is missing.
 * Shows as: a failed assertion in the journal.
 * FIXED: main() joins them. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 2 };

static struct journal {
    pthread_mutex_t lock;
    int open, records;
} journal;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_done = PTHREAD_COND_INITIALIZER;
static int done;

static void journal_open(void)
{
    pthread_mutex_init(&journal.lock, NULL);
    journal.open = 1;
}

static void journal_record(const char *what)
{
    pthread_mutex_lock(&journal.lock); /* culprit */
    assert(journal.open);
    journal.records += what[0] != '\0';
    pthread_mutex_unlock(&journal.lock);
}

static void journal_close(void)
{
    pthread_mutex_lock(&journal.lock); /* culprit */
    journal.open = 0;
    pthread_mutex_unlock(&journal.lock);
    printf("%d records\n", journal.records);
    pthread_mutex_destroy(&journal.lock); /* culprit */
}

static void *worker(void *unused)
{
    (void)unused;
    journal_record("started");
    pthread_mutex_lock(&lock);
    if (++done == WORKERS)
        pthread_cond_signal(&all_done);
    pthread_mutex_unlock(&lock);
    journal_record("ended"); /* culprit */
    return NULL;
}

int main(void)
{
    pthread_t threads[WORKERS];
    journal_open();
    atexit(journal_close);
    for (int i = 0; i < WORKERS; i++) {
        if (pthread_create(&threads[i], NULL, worker, NULL))
            return 3;
#ifndef FIXED
        pthread_detach(threads[i]);
#endif
    }
    pthread_mutex_lock(&lock);
    while (done < WORKERS)
        pthread_cond_wait(&all_done, &lock);
    pthread_mutex_unlock(&lock);
#ifdef FIXED
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
#endif
    return 0;
}
