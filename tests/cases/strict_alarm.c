// A process of one thread arms an alarm and enters the strict mode, where it makes no call any more: the alarm comes
// from the kernel, and kills or is handled as without pct.
//
// RUN: pct run -q -s 1 --state none -- %p handled
// RUN: ! pct run -s 1 --state none -- %p killed > %t/out 2>&1 && grep -q "signal 14" %t/out
// RUN: pct run -q -s 1 --state none -- %p none
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t times;

static void count(int signal)
{
    (void)signal;
    times++;
}

int main(int argc, char **argv)
{
    const struct itimerval soon = { .it_value = { .tv_usec = 50000 }, .it_interval = { .tv_usec = 10000 } };
    if (argc != 2 || (!strcmp(argv[1], "handled") && signal(SIGALRM, count) == SIG_ERR))
        return 1;
    if (strcmp(argv[1], "none") != 0 && setitimer(ITIMER_REAL, &soon, NULL))
        return 1;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
        return 1;
    while (strcmp(argv[1], "none") != 0 && times < 2)
        ;
    syscall(SYS_exit, 0);
}
