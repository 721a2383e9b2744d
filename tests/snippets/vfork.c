/* vfork: the child runs in the parent's memory, with descriptors and signals of its own, until it ends or becomes
 * another program. */
/* outside: its children */
/* ops: FORK */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *count(void *unused)
{
    for (int i = 0; i < 10; i++) {
        CHECK_OK(pthread_mutex_lock(&lock));
        counter++;
        CHECK_OK(pthread_mutex_unlock(&lock));
    }
    return unused;
}

/* What a child stores is the parent's; what it closes, blocks or ignores is not. */
static void check_memory(void)
{
    volatile int stored = 0;
    int ends[2];
    sigset_t usr1, now;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    CHECK_EQ(pipe(ends), 0);
    int error = errno = CHECK_ERRNO;
    pid_t parent = getpid(), pid = vfork();
    CHECK(pid >= 0);
    if (pid == 0) {
        stored = getpid() != parent && getppid() == parent;
        close(ends[0]);
        dup2(ends[1], ends[0]);
        close(ends[1]);
        signal(SIGTERM, SIG_IGN);
        sigprocmask(SIG_BLOCK, &usr1, NULL);
        _exit(3);
    }
    CHECK_EQ(errno, error);
    CHECK_EQ(stored, 1);
    CHECK_EXITED(child_wait(pid), 3);
    CHECK_EQ(write(ends[1], "x", 1), 1);
    char c;
    CHECK_EQ(read(ends[0], &c, 1), 1);
    CHECK_OK(close(ends[0]));
    CHECK_OK(close(ends[1]));
    struct sigaction action;
    CHECK_OK(sigaction(SIGTERM, NULL, &action));
    CHECK(action.sa_handler == SIG_DFL);
    CHECK_OK(pthread_sigmask(SIG_BLOCK, NULL, &now));
    CHECK(!sigismember(&now, SIGUSR1));
}

static int become(const char *path, const char *script)
{
    volatile int error = 0;
    pid_t pid = vfork();
    CHECK(pid >= 0);
    if (pid == 0) {
        execl(path, "sh", "-c", script, (char *)NULL);
        error = errno;
        _exit(127);
    }
    int status = child_wait(pid);
    CHECK(!error || (error == ENOENT && WEXITSTATUS(status) == 127));
    return WEXITSTATUS(status);
}

int main(void)
{
    check_memory();
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        threads[i] = check_spawn(count, NULL);
    check_memory();
    CHECK_EQ(become("/bin/sh", "exit 5"), 5);
    CHECK_EQ(become("/nowhere", ""), 127);
    for (int i = 0; i < 2; i++)
        check_join(threads[i]);
    CHECK_EQ(counter, 20);
    return 0;
}
