/* MySQL 4.0.12, bug 791 (log.cc: new_file): whether the log is open is asked outside of its lock, and another thread
 * closes it for a moment to begin a new file. */
#include <assert.h>
#include <pthread.h>

struct log {
    pthread_mutex_t mutex;
    int open;
};

static void write_entry(struct log *log)
{
    assert(log->open);
}

static void log_query(struct log *log)
{
#ifdef FIXED
    pthread_mutex_lock(&log->mutex);
#endif
    if (log->open)
        write_entry(log);
#ifdef FIXED
    pthread_mutex_unlock(&log->mutex);
#endif
}

/* Others. */
__attribute__((used)) static void log_close(struct log *log)
{
    pthread_mutex_lock(&log->mutex);
    log->open = 0;
    pthread_mutex_unlock(&log->mutex);
}

#ifdef THREADS
static void *others(void *log)
{
    log_close(log);
    return NULL;
}
#endif

int main(void)
{
    static struct log log = { .mutex = PTHREAD_MUTEX_INITIALIZER, .open = 1 };
#ifdef THREADS
    pthread_t thread;
    pthread_create(&thread, NULL, others, &log);
#endif
    log_query(&log);
#ifdef THREADS
    pthread_join(thread, NULL);
#endif
    return 0;
}
