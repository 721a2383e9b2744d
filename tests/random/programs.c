/* Events of processes that become other programs, or that may do what one with other threads may not. */
#include "random.h"
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;
int __sigpause(int signal_or_mask, int is_signal);
int mask_sigpause(int mask) __asm__("sigpause");

static void reap(pid_t child, int status)
{
    int got;
    CHECK_EQ(RESTARTED(waitpid(child, &got, 0)), child);
    CHECK(WIFEXITED(got));
    CHECK_EQ(WEXITSTATUS(got), status);
}

/* Does not come back. The parent may stand still meanwhile: this changes nothing of its. */
static void become(unsigned way, int shell)
{
    static char *const arguments[] = { (char *)"sh", (char *)"-c", (char *)"exit 11", NULL };
    switch (way) {
    case 0:
        execl("/bin/sh", "sh", "-c", "exit 11", NULL);
        break;
    case 1:
        execlp("sh", "sh", "-c", "exit 11", NULL);
        break;
    case 2:
        execle("/bin/sh", "sh", "-c", "exit 11", NULL, environ);
        break;
    case 3:
        execv("/bin/sh", arguments);
        break;
    case 4:
        execvp("sh", arguments);
        break;
    case 5:
        execvpe("sh", arguments, environ);
        break;
    case 6:
        execve("/bin/sh", arguments, environ);
        break;
    case 7:
        fexecve(shell, arguments, environ);
        break;
    case 8:
        execveat(shell, "", arguments, environ, AT_EMPTY_PATH);
        break;
    }
    _exit(99);
}

static void run_exec(struct event *event, unsigned role, uint64_t *place)
{
    static char *const arguments[] = { (char *)"sh", (char *)"-c", (char *)"exit 11", NULL };
    int shell = open("/bin/sh", O_RDONLY);
    (void)role;
    CHECK(shell >= 0);
    for (unsigned i = 0; i < event->rounds; i++) {
        unsigned way = draw(place, 9), how = draw(place, 4);
        pid_t child;
        if (how == 0) {
            child = vfork();
            if (!child)
                become(way, shell);
        } else if (how == 1) {
            child = _Fork();
            if (!child)
                become(way, shell);
        } else if (how == 2) {
            child = fork();
            if (!child)
                become(way, shell);
        } else {
            CHECK_OK(posix_spawnp(&child, "sh", NULL, NULL, arguments, environ));
        }
        CHECK(child >= 0);
        reap(child, 11);
    }
    CHECK_OK(close(shell));
}

/* --- Alone in a process ------------------------------------------------------------------------------------------ */

static volatile sig_atomic_t handled;
static void count_it(int signal)
{
    (void)signal;
    handled = handled + 1;
}

/* These change the whole mask of signals. */
static void use_masks(void)
{
    signal(SIGUSR1, count_it);
    CHECK(sigsetmask(1 << (SIGUSR1 - 1)) >= 0);
    CHECK_EQ(sigblock(0), 1 << (SIGUSR1 - 1));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(raise(SIGUSR1));
        CHECK_EQ(handled, i);
        CHECK_EQ(i ? mask_sigpause(0) : __sigpause(0, 0), -1);
        CHECK_EQ(errno, EINTR);
        CHECK_EQ(handled, i + 1);
    }
    CHECK_EQ(sigsetmask(0), 1 << (SIGUSR1 - 1));
}

/* Any child that there is. */
static void wait_for_any(unsigned way)
{
    int status;
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child)
        _Exit(21);
    CHECK_EQ(way & 1 ? RESTARTED(wait(&status)) : RESTARTED(wait3(&status, 0, NULL)), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 21);
    CHECK_EQ(wait(NULL), -1);
    CHECK_EQ(errno, ECHILD);
}

static void close_all(void)
{
    int fd = dup(STDERR_FILENO);
    CHECK(fd > 2);
    closefrom(3);
    CHECK_EQ(fcntl(fd, F_GETFD), -1);
}

static void run_alone(struct event *event, unsigned role, uint64_t *place)
{
    (void)role;
    for (unsigned i = 0; i < event->rounds; i++) {
        unsigned what = draw(place, 3), way = draw(place, 2);
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            if (what == 0)
                use_masks();
            else if (what == 1)
                wait_for_any(way);
            else
                close_all();
            _Exit(12);
        }
        doze(place);
        reap(child, 12);
    }
}

/* A process that leaves its parent, and is not waited for: its end of a pipe says when it is gone. */
static void run_daemon(struct event *event, unsigned role, uint64_t *place)
{
    int fd[2];
    char byte;
    (void)role;
    CHECK_OK(pipe2(fd, O_CLOEXEC));
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        CHECK_OK(daemon(1, 1));
        doze(place);
        for (unsigned i = 0; i < event->rounds; i++)
            wake_thing(event->thing[0], place);
        _exit(0);
    }
    CHECK_OK(close(fd[1]));
    reap(child, 0);
    for (unsigned i = 0; i < event->rounds; i++)
        CHECK(wait_thing(event->thing[0], FOREVER, place));
    CHECK_OK(RESTARTED(read(fd[0], &byte, 1)));
    CHECK_OK(close(fd[0]));
}

/* A lock that belongs to a process: the child has it until it gives it up, or ends. */
static void run_record_lock(struct event *event, unsigned role, uint64_t *place)
{
    char path[64], byte;
    int fd[2];
    (void)role;
    snprintf(path, sizeof path, "/tmp/pct-random-lock-%d-%u", (int)getpid(), event->number);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(file >= 0);
    CHECK_OK(unlink(path));
    CHECK_OK(pipe2(fd, O_CLOEXEC));
    bool ends = draw(place, 2), large = draw(place, 2);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        CHECK_OK(lockf(file, F_LOCK, 0));
        CHECK_EQ(RESTARTED(write(fd[1], "l", 1)), 1);
        doze(place);
        if (!ends)
            CHECK_OK(lockf64(file, F_ULOCK, 0));
        _exit(13);
    }
    CHECK_EQ(RESTARTED(read(fd[0], &byte, 1)), 1);
    CHECK_OK(large ? RESTARTED(lockf64(file, F_LOCK, 0)) : RESTARTED(lockf(file, F_LOCK, 0)));
    reap(child, 13);
    CHECK_OK(close(file));
    CHECK_OK(close(fd[0]));
    CHECK_OK(close(fd[1]));
}

const struct pattern program_patterns[] = {
    { "exec", 1, 1, 0, 0, 0, 0, 0, FOREIGN, NULL, run_exec, NULL },
    { "alone in a process", 1, 1, 0, 0, 0, 0, 0, FOREIGN, NULL, run_alone, NULL },
    { "daemon", 1, 1, 1, PROCESS, ONCE | SIGNALS, 0, 0, FOREIGN, NULL, run_daemon, NULL },
    { "record lock", 1, 1, 0, 0, 0, 0, 0, FOREIGN, NULL, run_record_lock, NULL },
    { NULL, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL },
};
