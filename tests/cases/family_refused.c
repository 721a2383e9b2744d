// Families that may not meet, as a sandbox refuses shared memory: with either error, or by killing who asks. What a
// process has slept has passed for the others, too. A program that another one had confined so before was killed for
// pct's question.
//
// Arguments: what is refused; "before": by the process that starts this program, "now": by the program itself.
//
// RUN: for w in eperm enosys kill; do LD_PRELOAD=$LIBPCT PCT_SEED=1 %p $w now || exit; done
// RUN: for w in eperm enosys kill; do LD_PRELOAD=$LIBPCT PCT_SEED=1 %p $w before || exit; done
// RUN: for w in eperm enosys kill; do pct run -q -s 1 -n 3 --timeout 60 -- %p $w now || exit; done
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void refuse(unsigned action)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_shmget, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_shmat, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, action),
    };
    struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    assert(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

static void confine(const char *what, const char *how)
{
    if (!strcmp(what, "eperm"))
        refuse(SECCOMP_RET_ERRNO | EPERM);
    else if (!strcmp(what, "enosys"))
        refuse(SECCOMP_RET_ERRNO | ENOSYS);
    else if (!strcmp(what, "kill"))
        refuse(SECCOMP_RET_KILL_PROCESS);
    else if (!strcmp(what, "namespace"))
        assert(!unshare(CLONE_NEWPID));
    else
        assert(!chroot(how) && !chdir("/"));
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    int ends[2], others[2];
    assert(argc >= 3);
    if (!strcmp(argv[2], "before")) {
        confine(argv[1], argv[2]);
        execl("/proc/self/exe", argv[0], argv[1], "done", (char *)NULL);
    }
    if (strcmp(argv[2], "done"))
        confine(argv[1], argv[2]);
    assert(!pipe(ends) && !pipe(others));
    double began = now();
    for (int i = 0; i < 4; i++) {
        /* In a new namespace of process ids the first child is its init: when that ends, the others are killed. So it
         * waits until they have closed their pipe. It is asleep all the time: of a child that can run when the parent
         * looks nobody knows whether it slept before, or waited for a CPU. */
        static const int order[] = { 0, 3, 1, 2 };
        if (fork())
            continue;
        if (i == 0)
            assert(!close(others[1]) && read(others[0], &(char){ 0 }, 1) == 0);
        usleep((useconds_t)order[i] * 200000);
        assert(!i || write(ends[1], &"abc"[order[i] - 1], 1) == 1);
        _exit(0);
    }
    close(others[1]);
    /* Time that a child slept has passed for who hears of it. On a busy machine one may come late, and in another
     * order. */
    for (int i = 0; i < 3; i++) {
        char got;
        assert(read(ends[0], &got, 1) == 1);
        double passed = now() - began;
        if (got < 'a' || got > 'c' || passed < (got - 'a' + 1) * 0.2 - 0.01) {
            printf("%c after %g s\n", got, passed);
            return 1;
        }
    }
    while (wait(NULL) > 0)
        ;
    return 0;
}
