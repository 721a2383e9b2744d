/* Locks on files, between the threads of a process (flock, open file descriptions) and with a child (fcntl, lockf). */
/* tests: flock fcntl fcntl64 lockf lockf64 */
/* ops: FILE_LOCK FILE_UNLOCK */
/* outside: a child holds some of the locks */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>

enum { ROUNDS = 10 };

static char path[] = "/tmp/snippet-XXXXXX";
static int inside;

/* Each thread through a file description of its own. */
static void *by_flock(void *unused)
{
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(flock(fd, LOCK_EX));
        CHECK_EQ(inside++, 0);
        sched_yield();
        CHECK_EQ(--inside, 0);
        CHECK_OK(flock(fd, LOCK_UN));
    }
    CHECK_OK(close(fd));
    return unused;
}

static void *by_description(void *unused)
{
    struct flock lock = { .l_type = F_WRLCK }, none = { .l_type = F_UNLCK };
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0);
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_OK(fcntl(fd, F_OFD_SETLKW, &lock));
        CHECK_EQ(inside++, 0);
        sched_yield();
        CHECK_EQ(--inside, 0);
        CHECK_OK(fcntl(fd, F_OFD_SETLK, &none));
    }
    CHECK_OK(close(fd));
    return unused;
}

static int file, held[2], done[2];

/* A child takes the lock, says so, and gives it up by ending when it is told to. */
static pid_t holder(void)
{
    char c;
    CHECK_OK(pipe(held));
    CHECK_OK(pipe(done));
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        CHECK_OK(lockf(file, F_TLOCK, 10));
        CHECK_EQ(write(held[1], "x", 1), 1);
        CHECK_EQ(read(done[0], &c, 1), 1);
        _exit(0);
    }
    CHECK_EQ(read(held[0], &c, 1), 1);
    return pid;
}

static void *let_go(void *unused)
{
    CHECK_EQ(write(done[1], "x", 1), 1);
    return unused;
}

static void *interrupted(void *unused)
{
    struct nag nag;
    struct flock lock = { .l_type = F_WRLCK };
    nag_start(&nag, 0);
    CHECK_FAILS(fcntl(file, F_SETLKW, &lock), EINTR);
    nag_stop(&nag);
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    int status;
    file = mkstemp(path);
    CHECK(file >= 0);
    for (int i = 0; i < 3; i++)
        threads[i] = check_spawn(by_flock, NULL);
    for (int i = 0; i < 3; i++)
        check_join(threads[i]);
    for (int i = 0; i < 3; i++)
        threads[i] = check_spawn(by_description, NULL);
    for (int i = 0; i < 3; i++)
        check_join(threads[i]);

    struct flock lock = { .l_type = F_WRLCK };
    for (int how = 0; how < 4; how++) {
        pid_t pid = holder();
        CHECK_FAILS(lockf(file, F_TLOCK, 10), how < 5 ? EAGAIN : 0);
        CHECK_FAILS(fcntl(file, F_SETLK, &lock), EAGAIN);
        if (how == 0)
            interrupted(NULL);
        threads[0] = check_spawn(let_go, NULL);
        if (how == 0)
            CHECK_OK(lockf(file, F_LOCK, 10));
        else if (how == 1)
            CHECK_OK(lockf64(file, F_LOCK, 10));
        else if (how == 2)
            CHECK_OK(fcntl(file, F_SETLKW, &lock));
        else
            CHECK_OK(fcntl64(file, F_SETLKW, &lock));
        check_join(threads[0]);
        CHECK_EQ(waitpid(pid, &status, 0), pid);
        CHECK_EQ(status, 0);
        CHECK_OK(lockf(file, F_ULOCK, 0));
    }
    CHECK_FAILS(flock(1000, LOCK_EX), EBADF);
    CHECK_FAILS(fcntl(1000, F_SETLKW, &lock), EBADF);
    CHECK_FAILS(lockf(file, 99, 0), EINVAL);
    CHECK_EQ(fcntl(file, F_GETFD), FD_CLOEXEC & fcntl(file, F_GETFD));
    int copy = fcntl(file, F_DUPFD_CLOEXEC, 100);
    CHECK(copy >= 100);
    CHECK_EQ(fcntl64(copy, F_GETFD), FD_CLOEXEC);
    CHECK_OK(unlink(path));
    return 0;
}
