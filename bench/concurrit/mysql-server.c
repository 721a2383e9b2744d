/* A binary log that an insert finds closed, while it is being rotated.
 *
 * Source: the Concurrit paper, table 1 and appendix A, "mysql-server": RADBench's bug 15, MySQL's 791: two rotations
 *   (MYSQL_LOG::new_file()) and an insert (mysql_insert()). Debian has MariaDB, which is mended.
 * Bug: a rotation closes the log and opens it again under its lock; an insert asks without it whether the log is open.
 * Shows as: a failed assertion: the insert is not in the log.
 * FIXED: it asks under the lock. */
#include "../bugs/shared.h"
#include <pct/script.h>

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int is_open = 1;
static int rows, entries, files = 1;

static void new_file(void)
{
    pthread_mutex_lock(&log_lock);
    pct_point("close");
    is_open = 0;
    files++;
    pct_point("open");
    is_open = 1;
    pthread_mutex_unlock(&log_lock);
}

static void mysql_insert(void)
{
    rows++;
    pct_point("ask");
#ifdef FIXED
    pthread_mutex_lock(&log_lock);
    int open = is_open;
    pthread_mutex_unlock(&log_lock);
#else
    int open = is_open;
#endif
    if (!open)
        return;
    pthread_mutex_lock(&log_lock);
    entries++;
    pthread_mutex_unlock(&log_lock);
}

static void *rotation(void *unused)
{
    new_file();
    return unused;
}

static void *client(void *unused)
{
    mysql_insert();
    return unused;
}

int main(void)
{
    pthread_t thread[] = { thread_start(rotation, NULL), thread_start(rotation, NULL), thread_start(client, NULL) };
    for (size_t i = 0; i < sizeof thread / sizeof *thread; i++)
        thread_join(thread[i]);
    assert(entries == rows);
    return 0;
}
