// A process of one thread confines itself and waits for a timer's signal, or descriptor, without another call, or while
// it computes: as without pct, whatever the filter of system calls lets pass. "open": everything; "closed": no more
// than natively needed, for a handler that ends the process or the default action; "narrow": also return from a
// handler; "strict": the strict mode. A second filter may refuse more than the first.
//
// RUN: for f in open narrow closed strict; do pct run -q -s 1 --state none -- %p $f timer || exit; done
// RUN: for f in open narrow closed twice; do pct run -q -s 1 --state none -- %p $f alarm || exit; done
// RUN: for f in open narrow closed; do pct run -q -s 1 --state none -- %p $f later || exit; done
// RUN: for f in narrow closed strict; do pct run -q -s 1 --state none -- %p $f descriptor || exit; done
// RUN: ! pct run -s 1 --state none -- %p open killed > %t/out 2>&1 && grep -q 'signal 14' %t/out
// RUN: ! pct run -s 1 --state none -- %p closed killed > %t/out 2>&1 && grep -q 'signal 14' %t/out
// RUN: pct run -q -s 1 --state none -t %t/trace -- %p open alarm && pct replay -q %t/trace -- %p open alarm
// RUN: pct run -s 1 --state none -- %p asked > %t/out 2>&1 && ! grep 'not controlled' %t/out
#include <assert.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define IF(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

enum { VALUE = 77 };
static const struct itimerspec often = { { 0, 100000000 }, { 0, 150000000 } };
static volatile sig_atomic_t times, right;
static int wanted = 3;
static timer_t timer;

static void count(int signal, siginfo_t *info, void *context)
{
    (void)context;
    times++;
    right += signal == SIGALRM || ((timer_t)(intptr_t)info->si_timerid == timer && info->si_value.sival_int == VALUE);
    if (times == wanted)
        syscall(SYS_exit, right != wanted);
}

static void confine(const char *how)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        IF(read),
        IF(write),
        IF(exit),
        IF(exit_group),
        IF(setitimer),
        IF(timer_settime),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, strcmp(how, "closed") != 0, 0),
        BPF_STMT(BPF_RET | BPF_K, strcmp(how, "open") ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    if (!strcmp(how, "strict")) {
        assert(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
        return;
    }
    assert(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    if (strcmp(how, "twice") != 0) {
        assert(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
        return;
    }
    confine("open");
    assert(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}

/* What libseccomp asks first sets no filter. */
static int ask(void)
{
    uint32_t action = SECCOMP_RET_LOG;
    assert(syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) == -1 && errno == EINVAL);
    assert(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) == -1 && errno == EFAULT);
    assert(!syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action));
    return 0;
}

int main(int argc, char **argv)
{
    const struct itimerval same = { { 0, 100000 }, { 0, 150000 } };
    const struct sigaction action = { .sa_sigaction = count, .sa_flags = SA_SIGINFO };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = VALUE };
    if (argc == 2)
        return ask();
    const char *how = argv[1], *what = argv[2];
    const int descriptor = timerfd_create(CLOCK_MONOTONIC, 0);
    uint64_t expired;
    wanted = strcmp(how, "closed") ? 3 : 1;
    assert(argc == 3 && descriptor >= 0 && !timer_create(CLOCK_MONOTONIC, &event, &timer));
    if (strcmp(what, "killed") != 0)
        assert(!sigaction(SIGALRM, &action, NULL) && !sigaction(SIGUSR1, &action, NULL));
    if (!strcmp(what, "alarm") || !strcmp(what, "killed"))
        assert(!setitimer(ITIMER_REAL, &same, NULL));
    else if (!strcmp(what, "timer"))
        assert(!timer_settime(timer, 0, &often, NULL));
    else if (!strcmp(what, "descriptor"))
        assert(!timerfd_settime(descriptor, 0, &often, NULL));
    confine(how);
    if (!strcmp(what, "later"))
        assert(!timer_settime(timer, 0, &often, NULL));
    if (!strcmp(what, "descriptor"))
        syscall(SYS_exit, read(descriptor, &expired, sizeof expired) != sizeof expired);
    for (;;)
        ;
}
