/* signal: returns the handler before, starting with the default; SIG_ERR and EINVAL. */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <signal.h>

static volatile sig_atomic_t handled;

static void handle(int number)
{
    CHECK(number == SIGUSR1 || number == SIGSEGV || number == SIGABRT);
    handled = handled + 1;
}

static void raise_abort(void *unused)
{
    (void)unused;
    CHECK(signal(SIGABRT, handle) == SIG_DFL);
    CHECK(signal(SIGABRT, SIG_DFL) == handle);
    raise(SIGABRT);
}

int main(void)
{
    static const int signals[] = { SIGUSR1, SIGSEGV, SIGABRT };
    for (int i = 0; i < 3; i++) {
        errno = CHECK_ERRNO;
        CHECK(signal(signals[i], handle) == SIG_DFL);
        CHECK_EQ(errno, CHECK_ERRNO);
        handled = 0;
        /* It stays: BSD's semantics. */
        CHECK_EQ(raise(signals[i]), 0);
        CHECK_EQ(raise(signals[i]), 0);
        CHECK_EQ(handled, 2);
        CHECK(signal(signals[i], SIG_IGN) == handle);
        CHECK_EQ(raise(signals[i]), 0);
        CHECK_EQ(handled, 2);
        CHECK(signal(signals[i], SIG_DFL) == SIG_IGN);
        struct sigaction action;
        CHECK(signal(signals[i], handle) == SIG_DFL);
        CHECK_EQ(sigaction(signals[i], NULL, &action), 0);
        CHECK(action.sa_handler == handle);
        CHECK_EQ(action.sa_flags & (SA_RESTART | SA_SIGINFO), SA_RESTART);
        CHECK(signal(signals[i], SIG_DFL) == handle);
    }
    errno = 0;
    CHECK(signal(SIGKILL, handle) == SIG_ERR);
    CHECK_EQ(errno, EINVAL);
    errno = 0;
    CHECK(signal(99, handle) == SIG_ERR);
    CHECK_EQ(errno, EINVAL);
    CHECK_SIGNALED(child_run(raise_abort, NULL), SIGABRT);
    return 0;
}
