/* Scratch files of commands that were killed, so that nobody has removed them: see launch.h. They take memory, and make
 * each look into their directory longer. */
#include "descendants.h"
#include "launch.h"
#include <cli/binary/locate.h>
#include <common/exploration.h>
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

static bool is_ours(int fd, struct stat *status)
{
    return !fstat(fd, status) && S_ISREG(status->st_mode) && status->st_uid == geteuid() && status->st_nlink == 1;
}

/* Whether this launcher has gone. Its lock tells of commands whose process ids mean something else here, as in another
 * container. */
static bool is_abandoned(int fd, pid_t launcher)
{
    return has_gone(launcher) && !flock(fd, LOCK_EX | LOCK_NB);
}

/* Whether this is the trace of a run, or a channel, whose command has gone: that of a channel is in its name, behind
 * "pct-". */
static bool is_stale(int fd, const char *name)
{
    struct pct_trace_header header;
    struct stat status;
    if (!is_ours(fd, &status) || read(fd, &header, sizeof header) != sizeof header)
        return false;
    bool trace = !memcmp(header.magic, PCT_TRACE_MAGIC, sizeof header.magic);
    bool channel = !memcmp(header.magic, PCT_CHANNEL_MAGIC, sizeof PCT_CHANNEL_MAGIC);
    pid_t launcher = trace ? (pid_t)header.launcher : channel ? (pid_t)strtol(name, NULL, 10) : 0;
    return launcher > 0 && time(NULL) - status.st_mtime > STALE_SECONDS && is_abandoned(fd, launcher);
}

/* Whether its name, behind "pct-", says that it is this launcher's, which may have been ended before it had written
 * anything there. */
static bool is_left(int fd, const char *name, pid_t launcher)
{
    char *end;
    struct stat status;
    return strtol(name, &end, 10) == launcher && *end == '-' && is_ours(fd, &status) && is_abandoned(fd, launcher);
}

/* launcher: whose files, 0: anybody's. large: of which kind, as for pct_locate_scratch(). */
static void remove_files(pid_t launcher, const char *kept, bool large)
{
    char path[PATH_MAX];
    static const char start[] = "pct-";
    int made = pct_locate_scratch(path, sizeof path, large);
    if (made < 0)
        return;
    close(made);
    unlink(path);
    *strrchr(path, '/') = 0;
    DIR *directory = opendir(path);
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        const char *name = entry->d_name;
        if (strncmp(name, start, sizeof start - 1))
            continue;
        size_t length = strlen(path);
        if (!strncmp(kept, path, length) && kept[length] == '/' && !strcmp(kept + length + 1, name))
            continue;
        int fd = openat(dirfd(directory), name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd >= 0 &&
            (launcher ? is_left(fd, name + sizeof start - 1, launcher) : is_stale(fd, name + sizeof start - 1)))
            unlinkat(dirfd(directory), name, 0);
        if (fd >= 0)
            close(fd);
    }
    if (directory)
        closedir(directory);
}

void pct_scratch_remove_stale(void)
{
    remove_files(0, "", false);
}

void pct_scratch_remove_of(pid_t launcher, const char *kept)
{
    remove_files(launcher, kept, false);
    remove_files(launcher, kept, true);
}
