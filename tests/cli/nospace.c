/* A disk that is full: preloaded into pct itself, lets this many bytes (NOSPACE_BYTES) be written to campaign files,
 * and no more. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static size_t written;

static int is_full(int fd, size_t size)
{
    char link[64], path[4096];
    const char *limit = getenv("NOSPACE_BYTES");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = limit ? readlink(link, path, sizeof path - 1) : -1;
    if (length < 0)
        return 0;
    path[length] = 0;
    if (!strstr(path, ".db"))
        return 0;
    written += size;
    return written > strtoull(limit, NULL, 10);
}

ssize_t write(int fd, const void *data, size_t size)
{
    static ssize_t (*real)(int, const void *, size_t);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "write");
    if (is_full(fd, size)) {
        errno = ENOSPC;
        return -1;
    }
    return real(fd, data, size);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset)
{
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "pwrite64");
    if (is_full(fd, size)) {
        errno = ENOSPC;
        return -1;
    }
    return real(fd, data, size, offset);
}
