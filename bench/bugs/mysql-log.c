/* The binary log of MySQL: an insert is not logged because the log is being rotated. For the measurements of bench/.
 *
 * Source: the Maple paper, table 2, "MySQL #791" (and "MySQL-LogMiss", another way to miss an entry); MySQL bug 791.
 * Bug: rotation closes the log and opens it again, all under the log's lock. An insert asks without the lock whether
 *   the log is open; if it asks while the log is closed for rotation, it takes logging for switched off and its
 *   entry is lost.
 * Depth 2: (rotation closes the log) before (the insert asks), and (the insert asks) before (rotation opens it
 *   again). PCT needs the client below the rotation and its change point between the close and the open.
 * Shows as: a failed assertion in main: the log has fewer entries than there were inserts.
 * FIXED: the insert asks under the lock. */
#include "shared.h"
#include <stdbool.h>

enum { INSERTS = 2 };
enum { LOG_CLOSED, LOG_OPEN };

struct log {
    pthread_mutex_t lock;
    struct shared_int state;
    int entries; /* under lock */
    int file;    /* under lock: the number of the current file */
};

static struct log binlog = { PTHREAD_MUTEX_INITIALIZER, SHARED_INT(LOG_OPEN), 0, 1 };

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static int rows; /* under table_lock */

static bool log_is_open(struct log *log)
{
    return shared_read(&log->state) == LOG_OPEN;
}

/* MYSQL_LOG::new_file() */
static void log_rotate(struct log *log)
{
    pthread_mutex_lock(&log->lock);
    shared_write(&log->state, LOG_CLOSED); /* culprit */
    log->file++;
    shared_write(&log->state, LOG_OPEN); /* culprit */
    pthread_mutex_unlock(&log->lock);
}

/* MYSQL_LOG::write() */
static void log_write(struct log *log)
{
    pthread_mutex_lock(&log->lock);
    if (log_is_open(log))
        log->entries++;
    pthread_mutex_unlock(&log->lock);
}

/* mysql_insert() */
static void insert(void)
{
    pthread_mutex_lock(&table_lock);
    rows++;
    pthread_mutex_unlock(&table_lock);
#ifndef FIXED
    if (!log_is_open(&binlog)) /* culprit */
        return;
#endif
    log_write(&binlog);
}

static void *rotation(void *unused)
{
    (void)unused;
    log_rotate(&binlog);
    return NULL;
}

static void *client(void *unused)
{
    (void)unused;
    for (int i = 0; i < INSERTS; i++)
        insert();
    return NULL;
}

int main(void)
{
    pthread_t rotating = thread_start(rotation, NULL);
    pthread_t inserting = thread_start(client, NULL);
    thread_join(rotating);
    thread_join(inserting);
    assert(rows == INSERTS);
    assert(binlog.entries == rows);
    return 0;
}
