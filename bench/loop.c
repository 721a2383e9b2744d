/* The loop that pct is to replace: loop JOBS LIMIT HANG COMMAND [ARGUMENT...]. Runs the command over and over, JOBS at
 * a time, until one ends with a signal or a status other than 0, or does not end within HANG seconds (a deadlock), or
 * until LIMIT seconds are over. Prints the seconds that it took, or "-", and how many runs were started. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JOBS_MAX = 64 };

struct job {
    pid_t pid;
    double begun;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static pid_t start(char **command)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(command[0], command);
    _exit(127);
}

int main(int argc, char **argv)
{
    struct job jobs[JOBS_MAX] = { 0 };
    int count = argc > 4 ? atoi(argv[1]) : 0;
    if (count < 1 || count > JOBS_MAX)
        return 2;
    double limit = atof(argv[2]), hang = atof(argv[3]), begin = now();
    unsigned long runs = 0;
    int failed = 0;
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, NULL);
    while (!failed && now() - begin < limit) {
        for (int i = 0; i < count; i++)
            if (!jobs[i].pid) {
                jobs[i] = (struct job){ .pid = start(argv + 4), .begun = now() };
                runs++;
            }
        const struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };
        sigtimedwait(&child, NULL, &pause);
        int status;
        pid_t pid;
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
            for (int i = 0; i < count; i++)
                if (jobs[i].pid == pid) {
                    jobs[i].pid = 0;
                    failed |= !WIFEXITED(status) || WEXITSTATUS(status);
                }
        for (int i = 0; i < count; i++)
            failed |= jobs[i].pid && now() - jobs[i].begun > hang;
    }
    double seconds = now() - begin;
    for (int i = 0; i < count; i++)
        if (jobs[i].pid) {
            kill(jobs[i].pid, SIGKILL);
            waitpid(jobs[i].pid, NULL, 0);
        }
    if (failed)
        printf("%.3f %lu\n", seconds, runs);
    else
        printf("- %lu\n", runs);
    return 0;
}
