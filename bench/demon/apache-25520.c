/* Apache 2.0.48, bug 25520 (mod_log_config.c: ap_buffered_log_writer): a line is appended to a buffer that others fill,
 * too, without a lock. */
#include <assert.h>
#include <pthread.h>
#include <string.h>

enum { BUFFER = 64 };

struct buffered_log {
    pthread_mutex_t mutex;
    unsigned outcnt;
    char outbuf[BUFFER];
};

static void flush(struct buffered_log *log)
{
    log->outcnt = 0;
}

static void append(struct buffered_log *log, unsigned len)
{
    assert(log->outcnt + len <= BUFFER);
    memset(log->outbuf + log->outcnt, 'x', len);
    log->outcnt += len;
}

static void log_line(struct buffered_log *log, unsigned len)
{
    if (len + log->outcnt > BUFFER)
        flush(log);
    append(log, len);
}

static void log_writer(struct buffered_log *log, unsigned len)
{
#ifdef FIXED
    pthread_mutex_lock(&log->mutex);
#endif
    log_line(log, len);
#ifdef FIXED
    pthread_mutex_unlock(&log->mutex);
#endif
}

/* Others: a line that fits. */
__attribute__((used)) static void other_writer(struct buffered_log *log, unsigned len)
{
#ifdef FIXED
    pthread_mutex_lock(&log->mutex);
#endif
    if (log->outcnt + len <= BUFFER)
        log->outcnt += len;
#ifdef FIXED
    pthread_mutex_unlock(&log->mutex);
#endif
}

#ifdef THREADS
static void *others(void *log)
{
    other_writer(log, 42);
    return NULL;
}
#endif

int main(void)
{
    static struct buffered_log log = { .mutex = PTHREAD_MUTEX_INITIALIZER, .outcnt = 10 };
#ifdef THREADS
    pthread_t thread;
    pthread_create(&thread, NULL, others, &log);
#endif
    log_writer(&log, 20);
#ifdef THREADS
    pthread_join(thread, NULL);
#endif
    return 0;
}
