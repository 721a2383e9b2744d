// A program sets a second filter of system calls (seccomp). Where its first one kills for prctl(), pct's question
// whether the process may have a filter did. Where an alarm is set and the second filter refuses what it takes to
// handle a signal of pct's on its turn, libc's signal for setuid() was blocked for good in all threads: the setuid() of
// a thread made later hung.
//
// RUN: %p kills && %p setuid
// RUN: for how in kills setuid; do pct run -q -s 1 --state none -- %p $how || exit 1; done
// RUN: for how in kills setuid; do LD_PRELOAD=$LIBPCT PCT_SEED=1 timeout 60 %p $how || exit 1; done
#include <assert.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static void answer(unsigned number, unsigned action)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    assert(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}

static void *change(void *unused)
{
    assert(!setuid(getuid()));
    return unused;
}

int main(int count, char **arguments)
{
    const struct itimerval late = { .it_value = { .tv_sec = 1000 } };
    pthread_t thread;
    assert(count == 2 && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    if (arguments[1][0] == 'k') {
        answer(SYS_prctl, SECCOMP_RET_KILL_PROCESS);
        answer(SYS_reboot, SECCOMP_RET_KILL_PROCESS);
        return 0;
    }
    assert(!setitimer(ITIMER_REAL, &late, NULL));
    answer(SYS_reboot, SECCOMP_RET_KILL_PROCESS);
    answer(SYS_rt_tgsigqueueinfo, SECCOMP_RET_ERRNO | EPERM);
    assert(!pthread_create(&thread, NULL, change, NULL));
    return pthread_join(thread, NULL);
}
