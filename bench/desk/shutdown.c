/* A server whose workers write to a log thread, by a short queue.
 *
 * Bug: the log thread is stopped before the workers: one that finds the queue full waits for somebody who has gone.
 * Shows as: a deadlock.
 * FIXED: the log is stopped last. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { PLACES = 2, WORKERS = 2, REQUESTS = 2 };

static struct log {
    pthread_mutex_t lock;
    pthread_cond_t not_empty, not_full;
    const char *line[PLACES];
    int lines, written;
    bool stopping;
    pthread_t thread;
} logger = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .not_empty = PTHREAD_COND_INITIALIZER,
    .not_full = PTHREAD_COND_INITIALIZER,
};

static pthread_t workers[WORKERS];

static void log_write(const char *line)
{
    pthread_mutex_lock(&logger.lock);
    while (logger.lines == PLACES)
        pthread_cond_wait(&logger.not_full, &logger.lock); /* culprit */
    logger.line[logger.lines++] = line;
    pthread_cond_signal(&logger.not_empty);
    pthread_mutex_unlock(&logger.lock);
}

static void *log_thread(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&logger.lock);
    for (;;) {
        while (logger.lines == 0 && !logger.stopping)
            pthread_cond_wait(&logger.not_empty, &logger.lock);
        if (logger.lines == 0)
            break;
        logger.written += logger.lines;
        logger.lines = 0;
        pthread_cond_broadcast(&logger.not_full); /* culprit */
    }
    pthread_mutex_unlock(&logger.lock); /* culprit */
    return NULL;
}

static void log_stop(void)
{
    pthread_mutex_lock(&logger.lock);
    logger.stopping = true;                 /* culprit */
    pthread_cond_signal(&logger.not_empty); /* culprit */
    pthread_mutex_unlock(&logger.lock);
    pthread_join(logger.thread, NULL); /* culprit */
}

static void *worker(void *unused)
{
    (void)unused;
    for (int i = 0; i < REQUESTS; i++) {
        log_write("request");
        log_write("answer");
    }
    return NULL;
}

static void workers_stop(void)
{
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL); /* culprit */
}

int main(void)
{
    if (pthread_create(&logger.thread, NULL, log_thread, NULL))
        return 3;
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&workers[i], NULL, worker, NULL))
            return 3;
#ifdef FIXED
    workers_stop();
    log_stop();
#else
    log_stop();     /* culprit */
    workers_stop(); /* culprit */
#endif
    printf("%d lines\n", logger.written);
    return 0;
}
