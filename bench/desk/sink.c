/* A metrics sink: threads add lines to a buffer, a flusher writes it to a file, main tears all down at the end.
 *
 * Bug: the file is closed before the flusher, which may have lines left, is waited for. */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sink {
    pthread_mutex_t lock;
    pthread_cond_t dirty;
    char *buffer;
    size_t used, size;
    bool stop;
    int fd;
    pthread_t flusher;
};

static void die(const char *what)
{
    fprintf(stderr, "sink: %s: %s\n", what, strerror(errno));
    abort();
}

static void *flush_loop(void *arg)
{
    struct sink *s = arg;
    char local[256];
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (s->used == 0 && !s->stop)
            pthread_cond_wait(&s->dirty, &s->lock);
        if (s->used == 0)
            break;
        size_t n = s->used;
        memcpy(local, s->buffer, n);
        s->used = 0;
        pthread_mutex_unlock(&s->lock);
        if (write(s->fd, local, n) != (ssize_t)n) /* culprit */
            die("write");
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void sink_open(struct sink *s)
{
    memset(s, 0, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->dirty, NULL);
    s->size = 256;
    s->buffer = malloc(s->size);
    char name[] = "/tmp/sinkXXXXXX";
    s->fd = mkstemp(name);
    if (s->buffer == NULL || s->fd < 0)
        die("open");
    unlink(name);
    pthread_create(&s->flusher, NULL, flush_loop, s);
}

static void sink_add(struct sink *s, const char *line)
{
    size_t n = strlen(line);
    pthread_mutex_lock(&s->lock);
    if (s->used + n <= s->size) {
        memcpy(s->buffer + s->used, line, n);
        s->used += n;
        pthread_cond_signal(&s->dirty);
    }
    pthread_mutex_unlock(&s->lock);
}

static void sink_close(struct sink *s)
{
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->dirty);
    pthread_mutex_unlock(&s->lock);
#ifdef FIXED
    pthread_join(s->flusher, NULL);
#endif
    close(s->fd); /* culprit */
    s->fd = -1;
#ifndef FIXED
    pthread_join(s->flusher, NULL);
#endif
    pthread_cond_destroy(&s->dirty);
    pthread_mutex_destroy(&s->lock);
    free(s->buffer);
}

static struct sink metrics;

static void *source(void *arg)
{
    for (int i = 0; i < 2; i++)
        sink_add(&metrics, arg);
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    sink_open(&metrics);
    pthread_create(&t[0], NULL, source, "cpu 1\n");
    pthread_create(&t[1], NULL, source, "mem 2\n");
    pthread_join(t[0], NULL);
    pthread_join(t[1], NULL);
    sink_close(&metrics);
    return 0;
}
