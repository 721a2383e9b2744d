/* A logger with two buffers: threads append to one, a flusher swaps them and writes the other.
 *
 * Bug: an appender reserves its place under the lock, fills it without, and says so under the lock. The flusher swaps
 *   without waiting for places that are reserved and not filled.
 * Shows as: a failed assertion: an empty record is written.
 * FIXED: the flusher waits until all reserved ones are filled. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { RECORDS = 16, WRITERS = 2, LINES = 2 };

struct buffer {
    char record[RECORDS][32];
    int reserved, filled;
};

static struct log {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct buffer buffers[2], *front;
    int written;
} logger = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .filled = PTHREAD_COND_INITIALIZER,
    .front = &logger.buffers[0],
};

static void log_append(const char *text)
{
    pthread_mutex_lock(&logger.lock);
    struct buffer *b = logger.front; /* culprit */
    int place = b->reserved++;
    pthread_mutex_unlock(&logger.lock); /* culprit */

    strncpy(b->record[place], text, sizeof b->record[place] - 1); /* culprit */

    pthread_mutex_lock(&logger.lock); /* culprit */
    b->filled++;
    pthread_cond_signal(&logger.filled);
    pthread_mutex_unlock(&logger.lock);
}

static void log_flush(void)
{
    pthread_mutex_lock(&logger.lock); /* culprit */
    struct buffer *b = logger.front;
    logger.front = b == &logger.buffers[0] ? &logger.buffers[1] : &logger.buffers[0]; /* culprit */
#ifdef FIXED
    while (b->filled < b->reserved)
        pthread_cond_wait(&logger.filled, &logger.lock);
#endif
    pthread_mutex_unlock(&logger.lock);
    for (int i = 0; i < b->reserved; i++) {
        assert(b->record[i][0] != '\0');
        logger.written++;
    }
    memset(b, 0, sizeof *b);
}

static void *writer(void *argument)
{
    char text[32];
    for (int i = 0; i < LINES; i++) {
        snprintf(text, sizeof text, "writer %d, line %d", *(int *)argument, i);
        log_append(text);
    }
    return NULL;
}

static void *flusher(void *unused)
{
    (void)unused;
    log_flush();
    return NULL;
}

int main(void)
{
    pthread_t writers[WRITERS], flushing;
    int number[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        number[i] = i;
        if (pthread_create(&writers[i], NULL, writer, &number[i]))
            return 3;
    }
    if (pthread_create(&flushing, NULL, flusher, NULL))
        return 3;
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    pthread_join(flushing, NULL);
    log_flush();
    log_flush();
    printf("%d lines\n", logger.written);
    return 0;
}
