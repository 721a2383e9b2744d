/* What a file is, without SQLite, which would open its log: see store.h. */
#include "store_sqlite.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint32_t big_endian(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

enum pct_store_state pct_store_look(const char *path, char *error, size_t size)
{
    /* https://www.sqlite.org/fileformat2.html, section 1.3: user version at 60, application id at 68. */
    unsigned char head[100];
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return PCT_STORE_ABSENT;
    if (fd < 0) {
        snprintf(error, size, "%s", strerror(errno));
        return PCT_STORE_FOREIGN;
    }
    bool regular = !fstat(fd, &status) && S_ISREG(status.st_mode);
    ssize_t got = regular ? read(fd, head, sizeof head) : -1;
    close(fd);
    if (got != sizeof head || memcmp(head, "SQLite format 3", 16) || big_endian(head + 68) != PCT_STORE_APPLICATION) {
        snprintf(error, size,
                 "this is not a campaign file of pct; it was left as it is; name another file, or move it away");
        return PCT_STORE_FOREIGN;
    }
    if (big_endian(head + 60) > PCT_STORE_VERSION) {
        snprintf(error, size, "a newer version of pct made this campaign file (version %u, this pct knows %d)",
                 big_endian(head + 60), PCT_STORE_VERSION);
        return PCT_STORE_NEWER;
    }
    return PCT_STORE_OURS;
}

bool pct_store_has_log(const char *path, char *log, size_t size)
{
    static const char *const ends[] = { "-wal", "-journal" };
    struct stat status;
    for (unsigned i = 0; i < sizeof ends / sizeof *ends; i++)
        if ((size_t)snprintf(log, size, "%s%s", path, ends[i]) < size && !stat(log, &status) && status.st_size > 0)
            return true;
    return false;
}
