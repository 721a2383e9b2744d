/* sigtimedwait: EAGAIN after its time, at once for none; EINVAL; otherwise as sigwaitinfo. */
/* ops: SIGNAL_WAIT */
#define _GNU_SOURCE
#include "check.h"
#include "nag.h"
#include <signal.h>

static sigset_t set;

static void *take(void *unused)
{
    struct timespec far = { 1000, 0 };
    siginfo_t info;
    CHECK_RESULT(sigtimedwait(&set, &info, &far), SIGUSR2);
    CHECK_EQ(info.si_signo, SIGUSR2);
    return unused;
}

static void *take_until_cancelled(void *unused)
{
    struct timespec far = { 1000, 0 };
    for (;;)
        sigtimedwait(&set, NULL, &far);
    return unused;
}

int main(void)
{
    siginfo_t info;
    struct timespec time = { 0, 20000000 }, none = { 0, 0 };
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);

    int64_t before = check_now(CLOCK_MONOTONIC);
    CHECK_FAILS(sigtimedwait(&set, &info, &time), EAGAIN);
    CHECK(check_now(CLOCK_MONOTONIC) - before >= 20000000);
    CHECK_FAILS(sigtimedwait(&set, &info, &none), EAGAIN);
    struct timespec bad = { 0, 1000000000 };
    CHECK_FAILS(sigtimedwait(&set, &info, &bad), EINVAL);
    bad.tv_nsec = -1;
    CHECK_FAILS(sigtimedwait(&set, &info, &bad), EINVAL);

    CHECK_EQ(raise(SIGUSR2), 0);
    CHECK_RESULT(sigtimedwait(&set, &info, &none), SIGUSR2);
    CHECK_EQ(info.si_signo, SIGUSR2);
    CHECK_EQ(kill(getpid(), SIGUSR2), 0);
    CHECK_RESULT(sigtimedwait(&set, NULL, NULL), SIGUSR2); /* no time: for ever */

    pthread_t thread = check_spawn(take, NULL);
    CHECK_EQ(pthread_kill(thread, SIGUSR2), 0);
    check_join(thread);
    thread = check_spawn(take_until_cancelled, NULL);
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK(check_join(thread) == PTHREAD_CANCELED);

    struct nag nag;
    struct timespec far = { 1000, 0 };
    nag_start(&nag, 0);
    CHECK_FAILS(sigtimedwait(&set, &info, &far), EINTR);
    nag_stop(&nag);
    return 0;
}
