/* An access log: each request is written as a line with the address of its client, which a function puts into a buffer.
 *
 * Bug: the buffer is static, as inet_ntoa()'s is: it is filled under a lock, and read when the lock is given back.
 * Shows as: a line with the address of another client.
 * FIXED: the caller gives the buffer. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { WORKERS = 2, REQUESTS = 2 };

static pthread_mutex_t format_lock = PTHREAD_MUTEX_INITIALIZER, log_lock = PTHREAD_MUTEX_INITIALIZER;
static char lines[WORKERS * REQUESTS][64];
static unsigned line_count;

#ifdef FIXED
static const char *address_text(uint32_t address, char *buffer, size_t size)
{
    pthread_mutex_lock(&format_lock);
#else
static const char *address_text(uint32_t address)
{
    static char buffer[32];
    size_t size = sizeof buffer;
    pthread_mutex_lock(&format_lock); /* culprit */
#endif
    snprintf(buffer, size, "%u.%u.%u.%u", address >> 24, address >> 16 & 255, address >> 8 & 255, address & 255);
    pthread_mutex_unlock(&format_lock);
    return buffer;
}

static void log_request(uint32_t address, const char *path)
{
#ifdef FIXED
    char buffer[32];
    const char *client = address_text(address, buffer, sizeof buffer);
#else
    const char *client = address_text(address);
#endif
    pthread_mutex_lock(&log_lock); /* culprit */
    if (line_count < WORKERS * REQUESTS)
        snprintf(lines[line_count++], sizeof *lines, "%s %s", client, path);
    pthread_mutex_unlock(&log_lock);
}

static void *serve(void *argument)
{
    uint32_t number = (uint32_t)(uintptr_t)argument;
    char path[16];
    snprintf(path, sizeof path, "/%u", number);
    for (unsigned i = 0; i < REQUESTS; i++)
        log_request(0x0a000000 + number, path);
    return NULL;
}

int main(void)
{
    pthread_t workers[WORKERS];
    for (uintptr_t i = 0; i < WORKERS; i++)
        if (pthread_create(&workers[i], NULL, serve, (void *)i))
            return 2;
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    for (unsigned i = 0; i < line_count; i++) {
        unsigned a, b, c, client, path;
        if (sscanf(lines[i], "%u.%u.%u.%u /%u", &a, &b, &c, &client, &path) != 5 || client != path) {
            printf("line %u: %s\n", i, lines[i]);
            return 1;
        }
    }
    return 0;
}
