/* A logger: several threads write lines, whoever finds the file too long rotates it.
 *
 * Bug: a line is written without the lock, to a descriptor that another thread may have closed. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT 120
#define WRITERS 3
#define LINES 3

struct logger {
    pthread_mutex_t lock;
    int fd;
    size_t written;
    int generation;
    char dir[64];
};

static struct logger logger = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

static int open_generation(struct logger *l)
{
    char path[128];
    int fd;

    snprintf(path, sizeof(path), "%s/app.log.%d", l->dir, l->generation);
    fd = open(path, O_CREAT | O_WRONLY | O_APPEND | O_TRUNC, 0600);
    if (fd < 0) {
        perror(path);
        exit(2);
    }
    return fd;
}

static void logger_open(struct logger *l)
{
    snprintf(l->dir, sizeof(l->dir), "/tmp/logrot.XXXXXX");
    if (mkdtemp(l->dir) == NULL)
        exit(2);
    l->fd = open_generation(l);
}

static void logger_rotate(struct logger *l)
{
    int old = l->fd;

    l->generation++;
    close(old); /* culprit */
    l->fd = open_generation(l);
    l->written = 0;
}

static int logger_current(struct logger *l, size_t need)
{
    int fd;

#ifndef FIXED
    pthread_mutex_lock(&l->lock); /* culprit */
#endif
    if (l->written + need > LIMIT)
        logger_rotate(l);
    l->written += need;
    fd = l->fd;
#ifndef FIXED
    pthread_mutex_unlock(&l->lock);
#endif
    return fd;
}

static void logger_write(struct logger *l, const char *text)
{
    char line[80];
    int n = snprintf(line, sizeof(line), "%s\n", text), fd;

#ifdef FIXED
    pthread_mutex_lock(&l->lock);
#endif
    fd = logger_current(l, (size_t)n);
    if (write(fd, line, (size_t)n) != n) { /* culprit */
        fprintf(stderr, "log line lost: %s\n", strerror(errno));
        abort();
    }
#ifdef FIXED
    pthread_mutex_unlock(&l->lock);
#endif
}

static void *writer(void *arg)
{
    long me = (long)arg;
    char text[60];

    for (int i = 0; i < LINES; i++) {
        snprintf(text, sizeof(text), "writer %ld line %d .............", me, i);
        logger_write(&logger, text);
    }
    return NULL;
}

static void logger_close(struct logger *l)
{
    char path[128];

    close(l->fd);
    for (int i = 0; i <= l->generation; i++) {
        snprintf(path, sizeof(path), "%s/app.log.%d", l->dir, i);
        unlink(path);
    }
    rmdir(l->dir);
}

int main(void)
{
    pthread_t t[WRITERS];

    logger_open(&logger);
    for (long i = 0; i < WRITERS; i++)
        pthread_create(&t[i], NULL, writer, (void *)i);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(t[i], NULL);
    printf("%d generations\n", logger.generation + 1);
    logger_close(&logger);
    return 0;
}
