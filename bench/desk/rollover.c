/* A logger: lines go to a file; when that has become too long, it is closed and the next one begun.
 *
 * Bug: that it is too long is seen in one section and done in another: two who see it both begin a file.
 * Shows as: an exit status of 1: a file without a line.
 * FIXED: who begins the next file looks once more. */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS = 3, LINES = 4, LIMIT = 60, FILES = 32 };

struct logger {
    pthread_mutex_t lock;
    char folder[32];
    int fd, number;
    size_t size;
};

static struct logger app = { .lock = PTHREAD_MUTEX_INITIALIZER, .folder = "/tmp/rolloverXXXXXX", .fd = -1 };

static void path_of(const struct logger *l, int number, char *path, size_t size)
{
    snprintf(path, size, "%s/app.%d.log", l->folder, number);
}

/* Begin a file; the caller has the lock, or is alone. */
static bool begin(struct logger *l)
{
    char path[64];
    if (l->fd >= 0)
        close(l->fd);
    path_of(l, ++l->number, path, sizeof path);
    l->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    l->size = 0;
    return l->fd >= 0;
}

static void rotate(struct logger *l)
{
    pthread_mutex_lock(&l->lock); /* culprit */
#ifdef FIXED
    if (l->size > LIMIT)
#endif
        begin(l);
    pthread_mutex_unlock(&l->lock);
}

static void log_line(struct logger *l, const char *who, int number)
{
    char line[64];
    int length = snprintf(line, sizeof line, "%s: line %d of the log\n", who, number);
    pthread_mutex_lock(&l->lock); /* culprit */
    if (write(l->fd, line, (size_t)length) != length)
        perror("write");
    l->size += (size_t)length;
    bool full = l->size > LIMIT;
    pthread_mutex_unlock(&l->lock);
    if (full)
        rotate(l); /* culprit */
}

static void *work(void *arg)
{
    for (int i = 0; i < LINES; i++)
        log_line(&app, arg, i);
    return NULL;
}

/* The number of files without a line, but for the last one. All are removed. */
static int tidy(struct logger *l)
{
    int empty = 0;
    for (int i = 1; i <= l->number; i++) {
        char path[64];
        struct stat found;
        path_of(l, i, path, sizeof path);
        if (!stat(path, &found) && found.st_size == 0 && i < l->number)
            empty++;
        unlink(path);
    }
    close(l->fd);
    rmdir(l->folder);
    return empty;
}

int main(void)
{
    static char names[THREADS][8] = { "web", "mail", "cron" };
    pthread_t threads[THREADS];
    if (!mkdtemp(app.folder) || !begin(&app))
        return 2;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, names[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    int files = app.number, empty = tidy(&app);
    printf("%d files, %d of them empty\n", files, empty);
    return empty != 0;
}
