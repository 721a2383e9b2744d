/* Files by name and by descriptor: results and errno as natively; threads that poll for a file see it in the end. */
/* tests: fstat fstat64 readdir readdir64 mkdir mkdtemp link rename unlink pread pread64 */
/* ops: SLEEP AWAKE */
#define _GNU_SOURCE
#include "check.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/pct-files-XXXXXX";

static const char *in_folder(const char *name)
{
    static __thread char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void *appears(void *unused)
{
    char from[64];
    snprintf(from, sizeof from, "%s", in_folder("one"));
    CHECK_EQ(link(from, in_folder("two")), 0);
    return unused;
}

static void polls(void)
{
    pthread_t thread;
    struct stat status;
    CHECK_EQ(pthread_create(&thread, NULL, appears, NULL), 0);
    do
        CHECK_EQ(usleep(100), 0);
    while (stat(in_folder("two"), &status) && errno == ENOENT);
    CHECK_EQ(status.st_nlink, 2);
    CHECK_EQ(pthread_join(thread, NULL), 0);
}

static int entries(void)
{
    DIR *directory = opendir(folder);
    int count = 0;
    CHECK(directory);
    errno = CHECK_ERRNO;
    while (readdir(directory))
        count++;
    CHECK_EQ(errno, CHECK_ERRNO);
    rewinddir(directory);
    while (readdir64(directory))
        count--;
    CHECK_EQ(count, 0);
    rewinddir(directory);
    for (; readdir(directory); count++)
        ;
    CHECK_EQ(closedir(directory), 0);
    return count;
}

int main(void)
{
    struct stat narrow;
    struct stat64 wide;
    char bytes[4] = "", from[64], *volatile nowhere = (char *)8;
    CHECK(mkdtemp(folder));
    int fd = open(in_folder("one"), O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0);
    CHECK_EQ(write(fd, "abc", 3), 3);
    CHECK_EQ(fstat(fd, &narrow), 0);
    CHECK_EQ(fstat64(fd, &wide), 0);
    CHECK(narrow.st_size == 3 && wide.st_size == 3);
    CHECK_EQ(pread(fd, bytes, 2, 1), 2);
    CHECK_EQ(pread64(fd, bytes + 2, 2, 0), 2);
    CHECK(!memcmp(bytes, "bcab", 4));
    CHECK_EQ(pread(fd, bytes, 2, 3), 0);
    errno = 0;
    CHECK(pread(fd, nowhere, 2, 0) == -1 && errno == EFAULT);
    CHECK(fstat(-1, &narrow) == -1 && errno == EBADF);
    CHECK_EQ(entries(), 3);
    polls();
    CHECK_EQ(entries(), 4);
    snprintf(from, sizeof from, "%s", in_folder("two"));
    CHECK_EQ(rename(from, in_folder("three")), 0);
    CHECK(rename(from, in_folder("four")) == -1 && errno == ENOENT);
    CHECK(link(in_folder("three"), in_folder("three")) == -1 && errno == EEXIST);
    CHECK_EQ(mkdir(in_folder("down"), 0700), 0);
    CHECK(mkdir(in_folder("down"), 0700) == -1 && errno == EEXIST);
    CHECK(unlink(in_folder("none")) == -1 && errno == ENOENT);
    CHECK(mkdir(nowhere, 0700) == -1 && errno == EFAULT);
    CHECK_EQ(rmdir(in_folder("down")), 0);
    CHECK_EQ(unlink(in_folder("three")), 0);
    CHECK_EQ(unlink(in_folder("one")), 0);
    CHECK_EQ(rmdir(folder), 0);
    CHECK_EQ(close(fd), 0);
    return 0;
}
