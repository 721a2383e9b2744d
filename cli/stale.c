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

/* Nobody may have asked for its status yet, or ever will: the first process of a container need not. */
static bool has_gone(pid_t pid)
{
    pid_t parent;
    return (kill(pid, 0) && errno == ESRCH) || pct_process_state(pid, &parent) == 'Z';
}

/* Whether this is the trace of a run whose command has gone. Its lock tells of commands whose process ids mean something else here, as
 * in another container. */
static bool is_stale(int fd, pid_t launcher)
{
    struct pct_trace_header header;
    struct stat status;
    if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_uid != geteuid() || status.st_nlink != 1 ||
        read(fd, &header, sizeof header) != sizeof header ||
        memcmp(header.magic, PCT_TRACE_MAGIC, sizeof header.magic) || header.launcher <= 0)
        return false;
    if (launcher ? header.launcher != launcher : time(NULL) - status.st_mtime <= STALE_SECONDS)
        return false;
    return has_gone(header.launcher) && !flock(fd, LOCK_EX | LOCK_NB);
}

/* Whether its name says that it is this launcher's, which has gone: it may have been ended before it had filled the file. A command of another
 * container, which may have the same process id, holds the lock. */
static bool is_left(int fd, pid_t launcher, const char *name)
{
    char *end;
    struct stat status;
    return launcher && strtol(name, &end, 10) == launcher && *end == '-' && !fstat(fd, &status) &&
           S_ISREG(status.st_mode) && status.st_uid == geteuid() && has_gone(launcher) && !flock(fd, LOCK_EX | LOCK_NB);
}

/* launcher: whose files, 0: anybody's. */
static void remove_files(pid_t launcher, const char *kept)
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
        size_t length = strlen(path);
        if (!strncmp(kept, path, length) && kept[length] == '/' && !strcmp(kept + length + 1, entry->d_name))
            continue;
        int fd = openat(dirfd(directory), entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd >= 0 && (is_stale(fd, launcher) || is_left(fd, launcher, entry->d_name + sizeof start - 1)))
            unlinkat(dirfd(directory), entry->d_name, 0);
        if (fd >= 0)
            close(fd);
    }
    if (directory)
        closedir(directory);
}

void pct_scratch_remove_stale(void)
{
    remove_files(0, "");
}

void pct_scratch_remove_of(pid_t launcher, const char *kept)
{
    remove_files(launcher, kept);
}
