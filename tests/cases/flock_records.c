// A thread that waits for a lock by flock(), of a process that has locks by fcntl() on the same file: whether it would
// be free was asked by a descriptor of pct's own, and the process lost its other locks as that was closed.
//
// RUN: pct run -n 40 -s 1 --explore=0 --state none -- %p %t/lock
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *path;
static int file;

static void *lock(void *unused)
{
    int fd = open(path, O_RDWR);
    assert(fd >= 0 && !flock(fd, LOCK_EX));
    for (int i = 0; i < 3; i++)
        sched_yield();
    assert(!flock(fd, LOCK_UN));
    return unused;
}

int main(int count, char **arguments)
{
    struct flock record = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
    pthread_t threads[2];
    int status;
    path = arguments[count - 1];
    file = open(path, O_RDWR | O_CREAT, 0600);
    assert(file >= 0 && !fcntl(file, F_SETLK, &record));
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, lock, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pid_t child = fork();
    if (!child)
        _exit(fcntl(file, F_GETLK, &record) || record.l_type != F_WRLCK);
    assert(waitpid(child, &status, 0) == child && !status);
    return 0;
}
