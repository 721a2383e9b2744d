/* Workers write log records into a pipe, which the collector reads, and counts. Each record that is too long is
 * reported by the collector with a record of its own.
 *
 * Bug: records are written with the lock of the log held; when the pipe is full the writer waits for the collector,
 * which waits for the lock to write its report.
 * Shows as: a deadlock.
 * FIXED: the collector only counts what is too long, and reports it at the end. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WORKERS = 2, RECORDS = 4, SIZE = 1024, LIMIT = 100 };

struct record {
    int from, length;
    char text[SIZE - 2 * sizeof(int)];
};

static int ends[2];
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int written;

static void log_record(int from, int length)
{
    struct record record = { .from = from, .length = length };
    memset(record.text, '.', sizeof record.text);
    pthread_mutex_lock(&log_lock);                               /* culprit */
    if (write(ends[1], &record, sizeof record) == sizeof record) /* culprit */
        written++;
    pthread_mutex_unlock(&log_lock);
}

static void *work(void *arg)
{
    int id = *(int *)arg;
    for (int i = 0; i < RECORDS; i++)
        log_record(id, i == 1 ? LIMIT + 1 : LIMIT);
    return NULL;
}

static void *collect(void *arg)
{
    struct record record;
    int *count = arg, late = 0;
    while (read(ends[0], &record, sizeof record) == sizeof record) {
        count[record.from]++;
        if (record.length <= LIMIT)
            continue;
#ifdef FIXED
        late++;
#else
        log_record(WORKERS, 0);
#endif
    }
    count[WORKERS] += late;
    return NULL;
}

int main(void)
{
    pthread_t collector, workers[WORKERS];
    int ids[WORKERS], counts[WORKERS + 1] = { 0 };
    if (pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, 4096) < 0)
        return 2;
    pthread_create(&collector, NULL, collect, counts);
    for (int i = 0; i < WORKERS; i++) {
        ids[i] = i;
        pthread_create(&workers[i], NULL, work, &ids[i]);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    pthread_mutex_lock(&log_lock);
    close(ends[1]);
    ends[1] = -1;
    pthread_mutex_unlock(&log_lock);
    pthread_join(collector, NULL);
    for (int i = 0; i <= WORKERS; i++)
        printf("%d: %d records\n", i, counts[i]);
    return 0;
}
