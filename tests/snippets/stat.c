/* Looking at files: what is there and what is not, with errno as natively; sleeps behind looks in vain still end. */
/* tests: stat stat64 lstat lstat64 fstatat fstatat64 statx access faccessat */
/* ops: SLEEP AWAKE */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

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
    default:
        return faccessat(AT_FDCWD, path, F_OK, 0);
    }
}

static void *in_vain(void *unused)
{
    for (int i = 0; i < 18; i++) {
        errno = 0;
        CHECK_EQ(look(i % 9, "/proc/self/none"), -1);
        CHECK_EQ(errno, ENOENT);
        CHECK_EQ(usleep(100), 0);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, in_vain, NULL), 0);
    for (int i = 0; i < 9; i++)
        CHECK_EQ(look(i, "/dev/null"), 0);
    CHECK(S_ISCHR(narrow.st_mode) && S_ISCHR(wide.st_mode) && S_ISCHR(more.stx_mode));
    CHECK_EQ(pthread_join(thread, NULL), 0);
    return 0;
}
