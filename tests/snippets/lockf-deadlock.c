/* Two processes wait for each other's locks on a file: the kernel tells exactly one of them, by EDEADLK. */
/* tests: fcntl fcntl64 lockf lockf64 */
/* ops: FILE_LOCK */
/* outside: a child holds one of the locks */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <fcntl.h>
#include <stdlib.h>

static char path[] = "/tmp/snippet-XXXXXX";
static int file, how, ready[2], go[2];

static int lock(off_t at, int type)
{
    struct flock range = { .l_type = (short)type, .l_start = at, .l_len = 1 };
    if (type == F_UNLCK)
        return fcntl(file, F_SETLK, &range);
    if (how == 0)
        return fcntl(file, F_SETLKW, &range);
    if (how == 1)
        return fcntl64(file, F_SETLKW, &range);
    CHECK_EQ(lseek(file, at, SEEK_SET), at);
    return how == 2 ? lockf(file, F_LOCK, 1) : lockf64(file, F_LOCK, 1);
}

/* Whoever is told gives the other one what it waits for. Returns whether it was this process. */
static bool cross(off_t own, off_t other)
{
    if (!lock(other, F_WRLCK)) {
        CHECK_OK(lock(other, F_UNLCK));
        CHECK_OK(lock(own, F_UNLCK));
        return false;
    }
    CHECK_EQ(errno, EDEADLK);
    CHECK_OK(lock(own, F_UNLCK));
    return true;
}

static void child(void *unused)
{
    char byte;
    (void)unused;
    /* A place in the file of its own. */
    file = open(path, O_RDWR);
    CHECK(file >= 0);
    CHECK_OK(lock(1, F_WRLCK));
    CHECK_EQ(write(ready[1], "x", 1), 1);
    CHECK_EQ(read(go[0], &byte, 1), 1);
    _exit(cross(1, 0));
}

int main(void)
{
    char byte;
    file = mkstemp(path);
    CHECK(file >= 0);
    CHECK_OK(pipe(ready));
    CHECK_OK(pipe(go));
    for (how = 0; how < 4; how++) {
        pid_t pid = child_start(child, NULL);
        CHECK_OK(lock(0, F_WRLCK));
        CHECK_EQ(read(ready[0], &byte, 1), 1);
        CHECK_EQ(write(go[1], "x", 1), 1);
        bool told = cross(0, 1);
        CHECK_EXITED(child_wait(pid), !told);
    }
    CHECK_OK(unlink(path));
    return 0;
}
