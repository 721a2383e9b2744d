// The clock of a child that does not keep its family's time goes on from its parent's: one in another namespace of
// process ids, forked or started, one in another namespace of System V's ids, one whose sandbox refuses shared memory.
// It began at 0, seconds before the parent.
//
// NEED: unshare -p -i -f true
// RUN: for w in plain pids ids refused; do LD_PRELOAD=$LIBPCT PCT_SEED=1 %p $w || exit; done
// RUN: for w in plain pids ids refused; do LD_PRELOAD=$LIBPCT PCT_SEED=1 %p $w starts || exit; done
// RUN: for w in plain pids ids; do pct run -q -s 1 -n 3 --timeout 60 --state none -- %p $w starts || exit; done
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void refuse(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_shmget, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_shmat, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    assert(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

/* Not earlier than the parent's, and not later than that takes. */
static int is_later(double monotonic, double day)
{
    double passed = now(CLOCK_MONOTONIC) - monotonic, same = now(CLOCK_REALTIME) - day;
    if (passed < -1e-6 || passed > 100 || same < -1e-6 || same > 100)
        printf("%g s, %g s after the parent\n", passed, same);
    return !(passed < -1e-6 || passed > 100 || same < -1e-6 || same > 100);
}

int main(int argc, char **argv)
{
    char monotonic[40], day[40];
    int status;
    if (argc > 3)
        return !is_later(atof(argv[2]), atof(argv[3]));
    bool starts = argc > 2;
    sleep(1000);
    if (!strcmp(argv[1], "pids"))
        assert(!unshare(CLONE_NEWPID));
    if (!strcmp(argv[1], "refused"))
        refuse();
    snprintf(monotonic, sizeof monotonic, "%.9f", now(CLOCK_MONOTONIC));
    snprintf(day, sizeof day, "%.9f", now(CLOCK_REALTIME));
    pid_t child = fork();
    if (!child && !strcmp(argv[1], "ids"))
        assert(!unshare(CLONE_NEWIPC));
    if (!child && starts)
        execl("/proc/self/exe", argv[0], "after", monotonic, day, (char *)NULL);
    if (!child)
        exit(!is_later(atof(monotonic), atof(day)));
    assert(waitpid(child, &status, 0) == child);
    return status != 0;
}
