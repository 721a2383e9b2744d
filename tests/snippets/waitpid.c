/* Child processes, by every way to make one and to wait for one; other threads go on meanwhile. */
/* tests: wait wait3 wait4 waitpid waitid posix_spawn posix_spawnp pidfd_spawn pidfd_spawnp system popen pclose */
/* ops: CHILD_WAIT FORK */
/* outside: children end when they like */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

static int released[2];

static pid_t child(int status)
{
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid)
        _exit(status);
    return pid;
}

/* A child that ends when somebody writes to the pipe. */
static pid_t waiting_child(void)
{
    CHECK_OK(pipe(released));
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) {
        char c;
        _exit(read(released[0], &c, 1) == 1 ? 7 : 1);
    }
    return pid;
}

static void *release(void *unused)
{
    CHECK_EQ(write(released[1], "x", 1), 1);
    return unused;
}

static void ended(int status, int expected)
{
    CHECK(WIFEXITED(status));
    CHECK_EQ(WEXITSTATUS(status), expected);
}

/* Since glibc 2.39; under pct the names are there in older ones, too, but there is nothing behind them. */
static void test_pidfds(char **arguments)
{
    static const char *const names[] = { "pidfd_spawn", "pidfd_spawnp" };
    for (int i = 0; i < 2; i++) {
        int (*spawn)(int *, const char *, const void *, const void *, char *const *, char *const *);
        *(void **)&spawn = dlsym(RTLD_DEFAULT, names[i]);
        int pidfd = -1;
        siginfo_t info;
        CHECK(spawn);
        CHECK_EQ(spawn(&pidfd, i ? "sh" : "/bin/sh", NULL, NULL, arguments, environ), 0);
        CHECK_OK(waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED));
        CHECK_EQ(info.si_status, 5);
        CHECK_OK(close(pidfd));
    }
}

int main(void)
{
    int status;
    struct rusage usage;
    siginfo_t info;
    char *arguments[] = { "sh", "-c", "exit 5", NULL };
    pid_t pid = child(1);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    ended(status, 1);
    pid = child(2);
    CHECK_EQ(wait(&status), pid);
    ended(status, 2);
    pid = child(3);
    CHECK_EQ(wait3(&status, 0, &usage), pid);
    ended(status, 3);
    pid = child(4);
    CHECK_EQ(wait4(-1, &status, 0, &usage), pid);
    ended(status, 4);
    pid = child(5);
    CHECK_OK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
    CHECK_EQ(info.si_status, 5);
    CHECK_OK(waitid(P_ALL, 0, &info, WEXITED));
    CHECK_EQ(info.si_pid, pid);
    pid = vfork();
    if (!pid)
        _exit(6);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    ended(status, 6);

    /* Another thread of this process is what the child waits for. */
    pid = waiting_child();
    CHECK_EQ(waitpid(pid, &status, WNOHANG), 0);
    pthread_t thread = check_spawn(release, NULL);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    ended(status, 7);
    check_join(thread);

    CHECK_EQ(posix_spawn(&pid, "/bin/sh", NULL, NULL, arguments, environ), 0);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    ended(status, 5);
    CHECK_EQ(posix_spawnp(&pid, "sh", NULL, NULL, arguments, environ), 0);
    CHECK_EQ(waitpid(pid, &status, 0), pid);
    ended(status, 5);
    if (check_libc_minor() >= 39)
        test_pidfds(arguments);
    ended(system("exit 9"), 9);
    CHECK(system(NULL) != 0);
    FILE *file = popen("echo word; exit 8", "r");
    char word[16] = "";
    CHECK(file);
    CHECK(fgets(word, sizeof word, file));
    CHECK(!strcmp(word, "word\n"));
    ended(pclose(file), 8);

    CHECK_FAILS(waitpid(-1, &status, 0), ECHILD);
    CHECK_FAILS(wait(&status), ECHILD);
    CHECK_FAILS(waitid(P_ALL, 0, &info, 0), EINVAL);
    return 0;
}
