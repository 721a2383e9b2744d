/* Looking at files, making and removing them: no scheduling points, but what is not there may be what the program waits
 * for (absent.h), and what is may be news (news.h). */
#include "news.h"
#include <common/exploration.h>
#include <preload/core/host_threads.h>
#include <preload/core/real.h>
#include <preload/core/shim.h>
#include <preload/memory/channel.h>
#include <preload/time/absent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK(folder, path, call)                                                                                       \
    ({                                                                                                                 \
        pct_explored_hidden(PCT_KEY_KERNEL, false);                                                                    \
        pct_host_threads_looks(folder, path);                                                                          \
        (int)pct_news_at(folder, path, pct_absent_note(call));                                                         \
    })

PCT_EXPORT int stat(const char *path, struct stat *status)
{
    return LOOK(AT_FDCWD, path, REAL(stat)(path, status));
}

PCT_EXPORT int stat64(const char *path, struct stat64 *status)
{
    return LOOK(AT_FDCWD, path, REAL(stat64)(path, status));
}

PCT_EXPORT int lstat(const char *path, struct stat *status)
{
    return LOOK(AT_FDCWD, path, REAL(lstat)(path, status));
}

PCT_EXPORT int lstat64(const char *path, struct stat64 *status)
{
    return LOOK(AT_FDCWD, path, REAL(lstat64)(path, status));
}

PCT_EXPORT int fstatat(int folder, const char *path, struct stat *status, int flags)
{
    return LOOK(folder, path, REAL(fstatat)(folder, path, status, flags));
}

PCT_EXPORT int fstatat64(int folder, const char *path, struct stat64 *status, int flags)
{
    return LOOK(folder, path, REAL(fstatat64)(folder, path, status, flags));
}

PCT_EXPORT int __xstat(int version, const char *path, struct stat *status)
{
    return LOOK(AT_FDCWD, path, REAL(__xstat)(version, path, status));
}

PCT_EXPORT int __xstat64(int version, const char *path, struct stat64 *status)
{
    return LOOK(AT_FDCWD, path, REAL(__xstat64)(version, path, status));
}

PCT_EXPORT int __lxstat(int version, const char *path, struct stat *status)
{
    return LOOK(AT_FDCWD, path, REAL(__lxstat)(version, path, status));
}

PCT_EXPORT int __lxstat64(int version, const char *path, struct stat64 *status)
{
    return LOOK(AT_FDCWD, path, REAL(__lxstat64)(version, path, status));
}

PCT_EXPORT int __fxstatat(int version, int folder, const char *path, struct stat *status, int flags)
{
    return LOOK(folder, path, REAL(__fxstatat)(version, folder, path, status, flags));
}

PCT_EXPORT int __fxstatat64(int version, int folder, const char *path, struct stat64 *status, int flags)
{
    return LOOK(folder, path, REAL(__fxstatat64)(version, folder, path, status, flags));
}

PCT_EXPORT int statx(int folder, const char *path, int flags, unsigned mask, struct statx *status)
{
    return LOOK(folder, path, REAL(statx)(folder, path, flags, mask, status));
}

PCT_EXPORT int access(const char *path, int mode)
{
    return LOOK(AT_FDCWD, path, REAL(access)(path, mode));
}

PCT_EXPORT int faccessat(int folder, const char *path, int mode, int flags)
{
    return LOOK(folder, path, REAL(faccessat)(folder, path, mode, flags));
}

PCT_EXPORT int fstat(int fd, struct stat *status)
{
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    return (int)pct_news_of(fd, REAL(fstat)(fd, status));
}

PCT_EXPORT int fstat64(int fd, struct stat64 *status)
{
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    return (int)pct_news_of(fd, REAL(fstat64)(fd, status));
}

/* What is there is news when it is found, as of the folder. */
PCT_EXPORT struct dirent *readdir(DIR *directory)
{
    struct dirent *found = REAL(readdir)(directory);
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    pct_news_of(dirfd(directory), 0);
    return found;
}

PCT_EXPORT struct dirent64 *readdir64(DIR *directory)
{
    struct dirent64 *found = REAL(readdir64)(directory);
    pct_explored_hidden(PCT_KEY_KERNEL, false);
    pct_news_of(dirfd(directory), 0);
    return found;
}

/* Whoever makes or takes a name may have waited for another one to do so, as for a lock. */
#define NAME(path, call)                                                                                               \
    ({                                                                                                                 \
        pct_explored_hidden(PCT_KEY_KERNEL, false);                                                                    \
        (int)pct_news_at(AT_FDCWD, path, call);                                                                        \
    })

PCT_EXPORT int mkdir(const char *path, mode_t mode)
{
    return NAME(path, REAL(mkdir)(path, mode));
}

PCT_EXPORT int link(const char *from, const char *to)
{
    return NAME(to, REAL(link)(from, to));
}

PCT_EXPORT int rename(const char *from, const char *to)
{
    return NAME(to, REAL(rename)(from, to));
}

/* It is not there any more. */
PCT_EXPORT int unlink(const char *path)
{
    return NAME(path, REAL(unlink)(path));
}
