/* A log that is opened when somebody first writes to it.
 *
 * Bug: whether it is open is looked at in one section, and it is opened in the next: two writers may both open it, and
 *   what the first one wrote into its buffer is lost.
 * Shows as: a failed assertion on the lines.
 * FIXED: one section. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { WRITERS = 3 };

struct file {
    int lines;
};

static struct log {
    pthread_mutex_t lock;
    struct file *file;
} logger = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int log_is_open(void)
{
    pthread_mutex_lock(&logger.lock); /* culprit */
    int open = logger.file != NULL;
    pthread_mutex_unlock(&logger.lock);
    return open;
}

static struct file *file_new(void)
{
    struct file *file = calloc(1, sizeof *file);
    if (!file)
        exit(3);
    return file;
}

static void log_open(void)
{
    pthread_mutex_lock(&logger.lock); /* culprit */
#ifdef FIXED
    if (!logger.file)
        logger.file = file_new();
#else
    free(logger.file);
    logger.file = file_new();
#endif
    pthread_mutex_unlock(&logger.lock);
}

static void log_write(void)
{
    pthread_mutex_lock(&logger.lock);
    logger.file->lines++;
    pthread_mutex_unlock(&logger.lock);
}

static void *writer(void *unused)
{
    (void)unused;
    if (!log_is_open())
        log_open();
    log_write();
    return NULL;
}

int main(void)
{
    pthread_t writers[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        if (pthread_create(&writers[i], NULL, writer, NULL))
            return 3;
    for (int i = 0; i < WRITERS; i++)
        pthread_join(writers[i], NULL);
    assert(logger.file->lines == WRITERS);
    printf("%d lines\n", logger.file->lines);
    free(logger.file);
    return 0;
}
