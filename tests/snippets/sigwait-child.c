/* sigwait, sigwaitinfo, sigtimedwait, sigsuspend: signals that another process sends end the wait. */
/* tests: sigwait sigwaitinfo sigtimedwait sigsuspend */
/* ops: SIGNAL_WAIT */
/* outside: another process sends the signals when it likes */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <signal.h>

static sigset_t set;
static volatile sig_atomic_t handled;

static void handle(int number)
{
    (void)number;
    handled = handled + 1;
}

/* The real time that it sleeps does not matter: the parent waits without a limit, or with a long one. */
static void signal_parent(void *unused)
{
    struct timespec pause = { 0, 2000000 };
    (void)unused;
    nanosleep(&pause, NULL);
    _exit(kill(getppid(), SIGUSR1) == 0 ? 0 : 1);
}

int main(void)
{
    siginfo_t info;
    struct timespec far = { 100, 0 };
    int number = 0;
    sigset_t old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, &old), 0);
    CHECK(signal(SIGUSR1, handle) != SIG_ERR);

    pid_t child = child_start(signal_parent, NULL);
    CHECK_OK(sigwait(&set, &number));
    CHECK_EQ(number, SIGUSR1);
    CHECK_EXITED(child_wait(child), 0);

    child = child_start(signal_parent, NULL);
    CHECK_RESULT(sigwaitinfo(&set, &info), SIGUSR1);
    CHECK_EQ(info.si_code, SI_USER);
    CHECK_EQ(info.si_pid, child);
    CHECK_EXITED(child_wait(child), 0);

    child = child_start(signal_parent, NULL);
    CHECK_RESULT(sigtimedwait(&set, &info, &far), SIGUSR1);
    CHECK_EQ(info.si_pid, child);
    CHECK_EXITED(child_wait(child), 0);

    CHECK_EQ(handled, 0);
    child = child_start(signal_parent, NULL);
    CHECK_FAILS(sigsuspend(&old), EINTR);
    CHECK_EQ(handled, 1);
    CHECK_EXITED(child_wait(child), 0);
    return 0;
}
