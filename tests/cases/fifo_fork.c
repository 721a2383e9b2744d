/* The child of a fork has no copy of a named pipe's end that a thread of its parent still waits with in open(): when
 * that thread gives up, nobody can open the other end, whether the child has run meanwhile or not.
 * RUN: for strategy in pct random-walk pos; do pct run -q -n 60 -s 1 --slack 0 -S $strategy -- %p || exit 1; done
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[64];

static void handle(int signal)
{
    (void)signal;
}

static void *open_it(void *unused)
{
    return open(path, O_RDONLY) < 0 && errno == EINTR ? unused : path;
}

int main(void)
{
    const struct sigaction action = { .sa_handler = handle };
    pthread_t thread;
    void *wrong;
    sigaction(SIGUSR1, &action, NULL);
    snprintf(path, sizeof path, "/tmp/pct-fifo-%d", getpid());
    unlink(path); /* of one that was killed */
    if (mkfifo(path, 0600) || pthread_create(&thread, NULL, open_it, NULL))
        return 1;
    usleep(1000);                  /* with slack 0 it is in open() then */
    pthread_kill(thread, SIGUSR1); /* it has not given up yet */
    pid_t child = fork();
    if (!child)
        for (;;)
            pause();
    pthread_join(thread, &wrong);
    int fd = open(path, O_WRONLY | O_NONBLOCK), failure = errno;
    unlink(path);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    if (fd >= 0)
        puts("somebody has the end to read");
    return wrong || fd >= 0 || failure != ENXIO;
}
