/* A process with threads, whose code is patched, forks, and the child creates its first thread in a signal handler; or
 * the other way round. The child took back what its own code jumped to, and crashed.
 *
 * RUN: %p outside && %p inside
 * RUN: pct run -q -n 3 -s 1 --memory=globals --state none --timeout 60 -- %p outside
 * RUN: pct run -q -n 3 -s 1 --memory=globals --state none --timeout 60 -- %p inside
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int shared;

static void *count(void *unused)
{
    for (int i = 0; i < 20; i++)
        shared++;
    return unused;
}

static void create(int signal)
{
    pthread_t thread;
    (void)signal;
    if (pthread_create(&thread, NULL, count, NULL) || pthread_join(thread, NULL))
        _exit(2);
}

int main(int argc, char **argv)
{
    const int inside = argc > 1 && !strcmp(argv[1], "inside");
    int status;
    signal(SIGUSR1, create);
    for (int child = 0; child < 2; child++) {
        if (inside != child)
            raise(SIGUSR1);
        else
            create(0);
        if (child)
            _exit(0);
        pid_t pid = fork();
        if (pid)
            return waitpid(pid, &status, 0) != pid || status;
    }
}
