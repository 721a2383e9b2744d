/* exec and its relatives: the program is another one, and shares its parent's time as before; its environment is what
 * was given. */
/* tests: execve execv execvp execvpe execl execlp execle fexecve execveat */
/* ops: FORK SLEEP CHILD_WAIT */
/* outside: its children */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char *program;

static int become(int way)
{
    char *arguments[] = { program, "child", NULL };
    setenv("MARK", "given", 1);
    switch (way) {
    case 0:
        return execve(program, arguments, environ);
    case 1:
        return execv(program, arguments);
    case 2:
        return execvp(program, arguments);
    case 3:
        return execvpe(program, arguments, environ);
    case 4:
        return execl(program, program, "child", NULL);
    case 5:
        return execlp(program, program, "child", NULL);
    case 6:
        return execle(program, program, "child", NULL, environ);
    case 7:
        return fexecve(open(program, O_RDONLY | O_CLOEXEC), arguments, environ);
    default:
        return execveat(AT_FDCWD, program, arguments, environ, 0);
    }
}

/* What it has become sleeps for longer than its parent, which ends it. */
static int child(void)
{
    if (!getenv("MARK") || strcmp(getenv("MARK"), "given"))
        return 2;
    sleep(20);
    return 1;
}

/* Without the library, a program gets nothing of pct's. */
static void become_plain(void *unused)
{
    char *arguments[] = { program, "plain", NULL }, *environment[] = { "MARK=given", NULL };
    (void)unused;
    execve(program, arguments, environment);
}

static int plain(void)
{
    return environ[0] && !strcmp(environ[0], "MARK=given") && !environ[1] ? 7 : 1;
}

static void fail(void *unused)
{
    char *arguments[] = { "nothing", NULL };
    (void)unused;
    CHECK_OK(setenv("PATH", "/usr/bin:/bin", 1)); /* a folder that may not be searched makes it EACCES */
    CHECK_FAILS(execv("/nonexistent/nothing", arguments), ENOENT);
    CHECK_FAILS(execvp("nonexistent-nothing", arguments), ENOENT);
    CHECK_FAILS(execl("/nonexistent/nothing", "nothing", NULL), ENOENT);
    _exit(5);
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc > 1)
        return strcmp(argv[1], "plain") ? child() : plain();
    struct timespec pause = { .tv_nsec = 50000000 };
    for (int way = 0; way < 9; way++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            become(way);
            _exit(3);
        }
        CHECK_EQ(nanosleep(&pause, NULL), 0);
        CHECK_EQ(kill(pid, SIGTERM), 0);
        CHECK_SIGNALED(child_wait(pid), SIGTERM);
    }
    CHECK_EXITED(child_run(become_plain, NULL), 7);
    CHECK_EXITED(child_run(fail, NULL), 5);
    return 0;
}
