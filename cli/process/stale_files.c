/* Scratch files of commands that were killed, so that nobody has removed them: see launch.h. They take memory, and make
 * each look into their directory longer. */
#include "descendants.h"
#include "launch.h"
#include <cli/binary/locate.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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

/* The trace of a child of a run has no lock of its own: it goes behind the run's. */
static bool has_parent(int directory, const char *name)
{
    char parent[NAME_MAX + 1];
    const char *child = strchr(name, '.');
    return child && (size_t)snprintf(parent, sizeof parent, "%.*s", (int)(child - name), name) < sizeof parent &&
           !faccessat(directory, parent, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* launcher: whose files; 0: anybody's. Those of one that we know to be gone may be young. */
static bool is_stale(int directory, int fd, const char *name, pid_t launcher)
{
    struct stat status;
    pid_t maker = pct_locate_maker(name);
    if (!maker || !is_ours(fd, &status) || !is_abandoned(fd, maker))
        return false;
    return launcher ? maker == launcher : time(NULL) - status.st_mtime > STALE_SECONDS && !has_parent(directory, name);
}

static void remove_files_in(const char *path, pid_t launcher, const char *kept)
{
    const size_t length = strlen(path);
    DIR *directory = opendir(path);
    for (const struct dirent *entry; directory && (entry = readdir(directory));) {
        const char *name = entry->d_name;
        if (!pct_locate_maker(name))
            continue;
        if (!strncmp(kept, path, length) && kept[length] == '/' && !strcmp(kept + length + 1, name))
            continue;
        int fd = openat(dirfd(directory), name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (fd >= 0 && is_stale(dirfd(directory), fd, name, launcher))
            unlinkat(dirfd(directory), name, 0);
        if (fd >= 0)
            close(fd);
    }
    if (directory)
        closedir(directory);
}

/* launcher: whose files, 0: anybody's. In all places: one that is full now may be so by these. */
static void remove_files(pid_t launcher, const char *kept)
{
    const char *places[PCT_LOCATE_PLACES];
    pct_locate_places(places);
    for (size_t i = 0; i < PCT_LOCATE_PLACES; i++)
        if (places[i])
            remove_files_in(places[i], launcher, kept);
}

void pct_scratch_remove_stale(void)
{
    remove_files(0, "");
}

void pct_scratch_remove_of(pid_t launcher, const char *kept)
{
    remove_files(launcher, kept);
}
