/* A log that is rotated: its file is closed and a new one opened, while another part of the program opens files, too.
 *
 * Bug: who writes takes the number of the file under the lock, and writes outside of it: the number may belong to
 * another file by then.
 * Shows as: a failed assertion: a line of the log is in the data.
 * FIXED: it writes under the lock. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int current = -1;

static int file_open(void)
{
    char name[] = "/tmp/rotateXXXXXX";
    int fd = mkstemp(name);
    unlink(name);
    return fd;
}

static void log_line(const char *line)
{
    pthread_mutex_lock(&lock); /* culprit */
    int fd = current;
#ifdef FIXED
    (void)!write(fd, line, strlen(line));
#endif
    pthread_mutex_unlock(&lock);
#ifndef FIXED
    (void)!write(fd, line, strlen(line)); /* culprit */
#endif
}

static void log_rotate(void)
{
    pthread_mutex_lock(&lock); /* culprit */
    close(current);            /* culprit */
    current = -1;
    pthread_mutex_unlock(&lock);
    int fd = file_open();
    pthread_mutex_lock(&lock);
    current = fd;
    pthread_mutex_unlock(&lock);
}

static void *writer(void *unused)
{
    (void)unused;
    for (int i = 0; i < 2; i++)
        log_line("a line\n");
    return NULL;
}

static void *rotator(void *unused)
{
    (void)unused;
    log_rotate();
    return NULL;
}

static void *saver(void *unused)
{
    (void)unused;
    char data[16] = "";
    int fd = file_open();
    (void)!write(fd, "data", 4);
    lseek(fd, 0, SEEK_SET);
    ssize_t got = read(fd, data, sizeof(data) - 1);
    assert(got == 4 && strcmp(data, "data") == 0);
    close(fd);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    current = file_open();
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, rotator, NULL);
    pthread_create(&threads[2], NULL, saver, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
