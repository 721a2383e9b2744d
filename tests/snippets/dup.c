/* Making, copying and closing descriptors: what is known of them moves along, and who waits learns of an end. */
/* tests: dup dup2 dup3 close_range closefrom open open64 openat openat64 __open_2 __open64_2 __openat_2 __openat64_2 */
/* ops: READ CLOSE */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);

static int fds[2];

static void *read_end(void *fd)
{
    char c;
    CHECK_EQ(read(*(int *)fd, &c, 1), 0);
    return NULL;
}

static void *write_one(void *fd)
{
    CHECK_EQ(write(*(int *)fd, "x", 1), 1);
    return NULL;
}

int main(void)
{
    char c, folder[] = "/tmp/snippet-XXXXXX", path[64];
    CHECK_OK(pipe(fds));
    int copy = dup(fds[0]);
    pthread_t thread = check_spawn(write_one, &fds[1]);
    CHECK_EQ(read(copy, &c, 1), 1);
    check_join(thread);

    /* The last writer goes by dup2, dup3, close_range, closefrom: the reader sees the end. */
    for (int how = 0; how < 4; how++) {
        int end[2];
        CHECK_OK(pipe(end));
        int high = fcntl(end[1], F_DUPFD, 200);
        CHECK(high >= 200);
        CHECK_OK(close(end[1]));
        thread = check_spawn(read_end, &end[0]);
        if (how == 0)
            CHECK_EQ(dup2(fds[0], high), high);
        else if (how == 1)
            CHECK_EQ(dup3(fds[0], high, O_CLOEXEC), high);
        else if (how == 2)
            CHECK_OK(close_range((unsigned)high, (unsigned)high, 0));
        else
            closefrom(200);
        check_join(thread);
        CHECK_OK(close(end[0]));
    }
    CHECK_FAILS(dup2(1000, 5), EBADF);
    CHECK_FAILS(dup3(fds[0], fds[0], 0), EINVAL);
    CHECK_EQ(dup2(fds[0], fds[0]), fds[0]);
    CHECK_FAILS(dup(1000), EBADF);

    /* Files, by all the names of open. */
    CHECK(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/file", folder);
    umask(022); /* whatever the caller's is */
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR, 0640);
    struct stat status;
    CHECK(fd >= 0);
    CHECK_OK(fstat(fd, &status));
    CHECK_EQ(status.st_mode & 0777, 0640);
    CHECK_EQ(write(fd, "x", 1), 1);
    CHECK_OK(close(fd));
    int opened[] = { open64(path, O_RDONLY),
                     openat(AT_FDCWD, path, O_RDONLY),
                     openat64(AT_FDCWD, path, O_RDONLY),
                     __open_2(path, O_RDONLY),
                     __open64_2(path, O_RDONLY),
                     __openat_2(AT_FDCWD, path, O_RDONLY),
                     __openat64_2(AT_FDCWD, path, O_RDONLY) };
    for (unsigned i = 0; i < sizeof opened / sizeof *opened; i++) {
        CHECK_EQ(read(opened[i], &c, 1), 1);
        CHECK_OK(close(opened[i]));
    }
    CHECK_FAILS(open("/nonexistent/file", O_RDONLY), ENOENT);
    CHECK_OK(unlink(path));

    CHECK_OK(rmdir(folder));
    return 0;
}
