/* libc keeps the lock of a stream while functions of the program's own write for it (fopencookie). Others may come in
 * between, and wait for that lock, which pct explore does not see: nothing is verified.
 *
 * RUN 119: pct explore -q -- %p
 * RUN: pct run -q -n 20 -s 1 -- %p
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;
static size_t written;

static ssize_t count(void *unused, const char *bytes, size_t size)
{
    (void)unused;
    (void)bytes;
    pthread_mutex_lock(&mutex);
    written += size;
    pthread_mutex_unlock(&mutex);
    return (ssize_t)size;
}

static void *write_one(void *unused)
{
    fputc('x', file);
    fflush(file);
    return unused;
}

int main(void)
{
    pthread_t other;
    file = fopencookie(NULL, "w", (cookie_io_functions_t){ .write = count });
    pthread_create(&other, NULL, write_one, NULL);
    write_one(NULL);
    pthread_join(other, NULL);
    if (written != 2)
        abort();
    return 0;
}
