// What processes of one family may do beside sleeping: stop each other, die by SIGKILL, end unnoticed, close all
// descriptors, compute, be no programs under pct at all. Time jumps over those that cannot run, and over nobody else;
// and never hangs.
//
// The static program sleeps in real time, and its parent's alarm with it; `compute` spins without a call that pct
// knows.
//
// BUILD: gcc -O1 -g -pthread -o %p %s && gcc -O1 -static -DSTATIC -o %p.static %s
// RUN: for w in stop kill zombie ignored closed clocks; do LD_PRELOAD=$LIBPCT PCT_SEED=1 %p $w || exit; done
// RUN: for s in pct pos random-walk round-robin; do for w in stop kill closed clocks;
//     do pct run -q -s 1 -n 3 -S $s -- %p $w || exit; done; done
// RUN: pct run -q -s 1 -- %p static 0.3
// RUN 142: LD_PRELOAD=$LIBPCT PCT_SEED=1 %p static 10
// RUN: pct run -q -s 1 -- %p compute 0.3
// RUN 142: LD_PRELOAD=$LIBPCT PCT_SEED=1 %p compute 10
// RUN: pct run -q -s 1 -- %p plain
#define _GNU_SOURCE
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef STATIC
int main(int argc, char **argv)
{
    (void)argc;
    usleep((useconds_t)(atof(argv[1]) * 1e6));
    return 0;
}
#else
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int status_of(pid_t pid)
{
    int status;
    assert(waitpid(pid, &status, 0) == pid);
    return status;
}

/* A child that ends with 3 after this many seconds. */
static pid_t sleeper(unsigned seconds)
{
    pid_t pid = fork();
    if (pid == 0) {
        sleep(seconds);
        _exit(3);
    }
    return pid;
}

static void stop(void)
{
    pid_t pid = sleeper(2);
    sleep(1);
    kill(pid, SIGSTOP);
    sleep(100);
    kill(pid, SIGCONT);
    assert(WEXITSTATUS(status_of(pid)) == 3);
}

static void kill_it(void)
{
    pid_t pid = sleeper(20);
    double start = now();
    sleep(1);
    kill(pid, SIGKILL);
    sleep(100);
    assert(now() - start >= 101 && WIFSIGNALED(status_of(pid)));
}

static void zombie(void)
{
    if (fork() == 0)
        _exit(0);
    sleep(1000);
}

static void ignored(void)
{
    signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < 5; i++)
        if (fork() == 0) {
            usleep(10000);
            _exit(0);
        }
    sleep(1000);
}

static void closed(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        for (int fd = 0; fd < 1024; fd++)
            close(fd);
        execlp("sleep", "sleep", "20", NULL);
        _exit(127);
    }
    sleep(1);
    kill(pid, SIGTERM);
    assert(WIFSIGNALED(status_of(pid)));
}

/* What one process reads before it tells another is no later than what that one reads then. */
static void clocks(void)
{
    int ends[2];
    double time[6];
    assert(!pipe(ends));
    time[0] = now();
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 2; i++) {
            double t = now();
            assert(write(ends[1], &t, sizeof t) == sizeof t);
            sleep(5);
        }
        _exit(0);
    }
    for (int i = 1; i < 5; i += 2) {
        assert(read(ends[0], &time[i], sizeof time[i]) == sizeof time[i]);
        time[i + 1] = now();
    }
    status_of(pid);
    time[5] = now();
    for (int i = 0; i < 5; i++)
        assert(time[i] <= time[i + 1]);
    assert(time[3] - time[2] > 4.9 && time[3] - time[1] >= 5 && time[5] - time[3] >= 5 && time[5] - time[0] < 11);
}

/* A child that has its time to itself, and an alarm that ends this process first if it takes more than 2 s. */
static void beside(pid_t pid)
{
    alarm(2);
    assert(!status_of(pid));
}

static void compute(double seconds)
{
    struct timespec t, first = { 0, 0 };
    do {
        syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &t); /* not by libc: the real one */
        if (!first.tv_sec && !first.tv_nsec)
            first = t;
    } while ((double)(t.tv_sec - first.tv_sec) + (double)(t.tv_nsec - first.tv_nsec) / 1e9 < seconds);
    _exit(0);
}

int main(int argc, char **argv)
{
    const char *what = argv[1], *length = argc > 2 ? argv[2] : "1";
    char program[4096];
    snprintf(program, sizeof program, "%s.static", argv[0]);
    if (!strcmp(what, "stop")) {
        stop();
    } else if (!strcmp(what, "kill")) {
        kill_it();
    } else if (!strcmp(what, "zombie")) {
        zombie();
    } else if (!strcmp(what, "ignored")) {
        ignored();
    } else if (!strcmp(what, "closed")) {
        closed();
    } else if (!strcmp(what, "clocks")) {
        clocks();
    } else {
        pid_t pid = fork();
        char *plain[] = { "sleep", "0.2", NULL }, *none[] = { NULL };
        if (pid == 0 && !strcmp(what, "static"))
            execl(program, program, length, NULL);
        if (pid == 0 && !strcmp(what, "plain"))
            execve("/bin/sleep", plain, none);
        if (pid == 0)
            compute(atof(length));
        beside(pid);
    }
    return 0;
}
#endif
