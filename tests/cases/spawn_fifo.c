/* The child of posix_spawn waits for a thread of its parent before it is another program: to open a named pipe, whose
 * other end that thread has yet to open. The parent's thread sleeps meanwhile in the kernel, and nobody took the baton
 * from it: all stood still for ever.
 *
 * RUN: %p
 * RUN: pct run -q -n 12 -s 1 --state none --timeout 60 -- %p
 */
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char path[64];

static void *read_it(void *unused)
{
    char text[16];
    usleep(50000); /* by then the child is in its open() */
    int fd = open(path, O_RDONLY);
    ssize_t got = read(fd, text, sizeof text);
    close(fd);
    return got == 5 ? unused : path;
}

int main(void)
{
    char *arguments[] = { "echo", "some", NULL };
    posix_spawn_file_actions_t actions;
    pthread_t thread;
    void *wrong;
    pid_t child;
    int status;
    snprintf(path, sizeof path, "/tmp/pct-spawn-%d", getpid());
    unlink(path); /* of one that was killed */
    if (mkfifo(path, 0600) || pthread_create(&thread, NULL, read_it, NULL))
        return 1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, path, O_WRONLY, 0);
    int failed = posix_spawn(&child, "/bin/echo", &actions, NULL, arguments, environ);
    pthread_join(thread, &wrong);
    unlink(path);
    return failed || wrong || waitpid(child, &status, 0) != child || status;
}
