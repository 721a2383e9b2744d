/* Scratch files of commands that were killed, so that nobody has removed them: see launch.h. They take memory, and make each look into
 * their directory longer. */
#include "launch.h"
#include "locate.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* One that is younger may be about to get its lock. */
#define STALE_SECONDS 60

/* Whether this is the trace of a run whose command has gone. Its lock tells of commands whose process ids mean something else here, as
 * in another container. */
static bool is_stale(int fd)
{
    struct pct_trace_header header;
    struct stat status;
    return !fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_uid == geteuid() && status.st_nlink == 1 &&
           time(NULL) - status.st_mtime > STALE_SECONDS && read(fd, &header, sizeof header) == sizeof header &&
           !memcmp(header.magic, PCT_TRACE_MAGIC, sizeof header.magic) && header.launcher > 0 &&
           kill(header.launcher, 0) && errno == ESRCH && !flock(fd, LOCK_EX | LOCK_NB);
}

void pct_scratch_remove_stale(void)
{
    char path[PATH_MAX];
    static const char start[] = "pct-";
    int made = pct_locate_scratch(path, sizeof path, false);
    if (made < 0)
        return;
    close(made);
    unlink(path);
    *strrchr(path, '/') = 0;
    DIR *directory = opendir(path);
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        if (strncmp(entry->d_name, start, sizeof start - 1))
            continue;
        int fd = openat(dirfd(directory), entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd >= 0 && is_stale(fd))
            unlinkat(dirfd(directory), entry->d_name, 0);
        if (fd >= 0)
            close(fd);
    }
    if (directory)
        closedir(directory);
}
