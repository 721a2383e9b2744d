/* Looking at files: what is there and what is not, with errno as natively; sleeps behind looks in vain still end. */
/* tests: stat stat64 lstat lstat64 fstatat fstatat64 statx access faccessat */
/* tests: __xstat __xstat64 __lxstat __lxstat64 __fxstatat __fxstatat64 */
/* ops: SLEEP AWAKE */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

/* By these, programs that were linked before glibc 2.33 call those of libc without the two underscores and the x. */
int old_stat(int version, const char *path, struct stat *status);
int old_stat64(int version, const char *path, struct stat64 *status);
int old_lstat(int version, const char *path, struct stat *status);
int old_lstat64(int version, const char *path, struct stat64 *status);
int old_fstatat(int version, int folder, const char *path, struct stat *status, int flags);
int old_fstatat64(int version, int folder, const char *path, struct stat64 *status, int flags);
__asm__(".symver old_stat, __xstat@GLIBC_2.2.5\n.symver old_stat64, __xstat64@GLIBC_2.2.5");
__asm__(".symver old_lstat, __lxstat@GLIBC_2.2.5\n.symver old_lstat64, __lxstat64@GLIBC_2.2.5");
__asm__(".symver old_fstatat, __fxstatat@GLIBC_2.4\n.symver old_fstatat64, __fxstatat64@GLIBC_2.4");

enum { WAYS = 15, VERSION = 1 };

static struct stat narrow;
static struct stat64 wide;
static struct statx more;

static int look(int how, const char *path)
{
    switch (how) {
    case 0:
        return stat(path, &narrow);
    case 1:
        return stat64(path, &wide);
    case 2:
        return lstat(path, &narrow);
    case 3:
        return lstat64(path, &wide);
    case 4:
        return fstatat(AT_FDCWD, path, &narrow, 0);
    case 5:
        return fstatat64(AT_FDCWD, path, &wide, 0);
    case 6:
        return statx(AT_FDCWD, path, 0, STATX_TYPE, &more);
    case 7:
        return access(path, F_OK);
    case 8:
        return old_stat(VERSION, path, &narrow);
    case 9:
        return old_stat64(VERSION, path, &wide);
    case 10:
        return old_lstat(VERSION, path, &narrow);
    case 11:
        return old_lstat64(VERSION, path, &wide);
    case 12:
        return old_fstatat(VERSION, AT_FDCWD, path, &narrow, 0);
    case 13:
        return old_fstatat64(VERSION, AT_FDCWD, path, &wide, 0);
    default:
        return faccessat(AT_FDCWD, path, F_OK, 0);
    }
}

static void *finds_nothing(void *unused)
{
    for (int i = 0; i < 2 * WAYS; i++) {
        errno = 0;
        CHECK_EQ(look(i % WAYS, "/proc/self/none"), -1);
        CHECK_EQ(errno, ENOENT);
        CHECK_EQ(usleep(100), 0);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, finds_nothing, NULL), 0);
    for (int i = 0; i < WAYS; i++)
        CHECK_EQ(look(i, "/dev/null"), 0);
    CHECK(S_ISCHR(narrow.st_mode) && S_ISCHR(wide.st_mode) && S_ISCHR(more.stx_mode));
    CHECK_EQ(pthread_join(thread, NULL), 0);
    return 0;
}
