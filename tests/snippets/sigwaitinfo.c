/* sigwaitinfo: the signal's number, and who sent it and how; EINTR after a handler for another signal. */
/* ops: SIGNAL_WAIT SIGNAL_SEND */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"
#include <signal.h>

static sigset_t set;

static void *take(void *unused)
{
    siginfo_t info;
    CHECK_RESULT(sigwaitinfo(&set, &info), SIGUSR2);
    CHECK_EQ(info.si_signo, SIGUSR2);
    CHECK_EQ(info.si_code, SI_USER); /* GLIBC: not SI_TKILL, which the kernel says */
    CHECK_EQ(info.si_pid, getpid());
    CHECK_EQ(info.si_uid, getuid());
    return unused;
}

static void *take_until_cancelled(void *unused)
{
    for (;;)
        sigwaitinfo(&set, NULL);
    return unused;
}

int main(void)
{
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigaddset(&set, SIGRTMIN);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);

    CHECK_EQ(kill(getpid(), SIGUSR2), 0);
    CHECK_RESULT(sigwaitinfo(&set, &info), SIGUSR2);
    CHECK_EQ(info.si_signo, SIGUSR2);
    CHECK_EQ(info.si_code, SI_USER);
    CHECK_EQ(info.si_pid, getpid());

    /* Queued with values, and taken in order. */
    for (int i = 0; i < 3; i++) {
        union sigval value = { .sival_int = 10 + i };
        CHECK_EQ(sigqueue(getpid(), SIGRTMIN, value), 0);
    }
    for (int i = 0; i < 3; i++) {
        CHECK_RESULT(sigwaitinfo(&set, &info), SIGRTMIN);
        CHECK_EQ(info.si_code, SI_QUEUE);
        CHECK_EQ(info.si_value.sival_int, 10 + i);
    }
    CHECK_EQ(raise(SIGUSR2), 0);
    CHECK_RESULT(sigwaitinfo(&set, NULL), SIGUSR2);

    pthread_t thread = check_spawn(take, NULL);
    CHECK_EQ(pthread_kill(thread, SIGUSR2), 0);
    check_join(thread);

    thread = check_spawn(take_until_cancelled, NULL);
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK(check_join(thread) == PTHREAD_CANCELED);

    struct nag nag;
    nag_start(&nag, 0);
    CHECK_FAILS(sigwaitinfo(&set, &info), EINTR);
    nag_stop(&nag);
    return 0;
}
