/* The relatives of signal: each sets a handler with the flags that are its own. */
/* tests: bsd_signal ssignal sysv_signal __sysv_signal sigset sigignore siginterrupt sigrelse sigsetmask sigprocmask */
/* tests: sigblock siggetmask sighold */
/* tests: pthread_sigmask */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>
#include <signal.h>

sighandler_t bsd_signal(int number, sighandler_t handler);

static volatile sig_atomic_t handled, nested;

static void handle(int number)
{
    handled = handled + 1;
    if (nested) {
        nested = nested - 1;
        raise(number);
        CHECK_EQ(nested, 0); /* the inner one has run, or this one blocks it */
    }
}

static int flags_of(int number)
{
    struct sigaction action;
    CHECK_EQ(sigaction(number, NULL, &action), 0);
    return action.sa_flags & (int)(SA_RESTART | SA_RESETHAND | SA_NODEFER | SA_SIGINFO);
}

int main(void)
{
    sighandler_t (*const plain[])(int, sighandler_t) = { signal, bsd_signal, ssignal };
    for (int i = 0; i < 3; i++) {
        CHECK(plain[i](SIGUSR1, handle) == (i ? SIG_IGN : SIG_DFL));
        CHECK_EQ(flags_of(SIGUSR1), SA_RESTART);
        handled = 0;
        CHECK_EQ(raise(SIGUSR1), 0);
        CHECK_EQ(raise(SIGUSR1), 0);
        CHECK_EQ(handled, 2);
        CHECK(plain[i](SIGUSR1, SIG_IGN) == handle);
        CHECK(plain[i](SIGKILL, handle) == SIG_ERR);
        CHECK_EQ(errno, EINVAL);
    }

    sighandler_t (*const once[])(int, sighandler_t) = { sysv_signal, __sysv_signal };
    for (int i = 0; i < 2; i++) {
        CHECK(once[i](SIGUSR1, handle) == (i ? SIG_DFL : SIG_IGN));
        CHECK_EQ(flags_of(SIGUSR1), (int)(SA_RESETHAND | SA_NODEFER));
        handled = 0;
        CHECK_EQ(raise(SIGUSR1), 0);
        CHECK_EQ(handled, 1);
        CHECK(signal(SIGUSR1, SIG_DFL) == SIG_DFL);
    }

    CHECK_OK(siginterrupt(SIGUSR1, 1));
    CHECK(signal(SIGUSR1, handle) == SIG_DFL);
    CHECK_EQ(flags_of(SIGUSR1), 0);
    CHECK_OK(siginterrupt(SIGUSR1, 0));
    CHECK_EQ(flags_of(SIGUSR1), SA_RESTART);
    CHECK_FAILS(siginterrupt(99, 0), EINVAL);

    /* System V: a signal can be held, and released. */
    handled = 0;
    CHECK(sigset(SIGUSR1, handle) == handle);
    CHECK(sigset(SIGUSR1, SIG_HOLD) == handle);
    CHECK(sigset(SIGUSR1, SIG_HOLD) == SIG_HOLD);
    CHECK_EQ(raise(SIGUSR1), 0);
    CHECK_EQ(handled, 0);
    CHECK_OK(sigrelse(SIGUSR1));
    CHECK_EQ(handled, 1);
    CHECK_EQ(sighold(0), -1);
    CHECK_OK(sighold(SIGUSR1));
    CHECK_EQ(raise(SIGUSR1), 0);
    CHECK(sigset(SIGUSR1, handle) == SIG_HOLD);
    CHECK_EQ(handled, 2);
    CHECK_OK(sigignore(SIGUSR1));
    CHECK_EQ(raise(SIGUSR1), 0);
    CHECK_EQ(handled, 2);
    CHECK(signal(SIGUSR1, handle) == SIG_IGN);

    /* BSD masks. */
    CHECK_EQ(sigblock(1 << (SIGUSR1 - 1)), 0);
    CHECK_EQ(raise(SIGUSR1), 0);
    CHECK_EQ(handled, 2);
    int (*get)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "siggetmask"); /* by its name, the linker warns */
    CHECK_EQ(get(), 1 << (SIGUSR1 - 1));
    CHECK_EQ(sigsetmask(0), 1 << (SIGUSR1 - 1));
    CHECK_EQ(handled, 3);

    /* POSIX masks; a handler blocks its own signal while it runs. */
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    int (*const masks[])(int, const sigset_t *, sigset_t *) = { pthread_sigmask, sigprocmask };
    for (int i = 0; i < 2; i++) {
        handled = 0;
        CHECK_EQ(masks[i](SIG_BLOCK, &set, &old), 0);
        CHECK_EQ(sigismember(&old, SIGUSR1), 0);
        CHECK_EQ(raise(SIGUSR1), 0);
        CHECK_EQ(masks[i](SIG_BLOCK, NULL, &old), 0);
        CHECK_EQ(sigismember(&old, SIGUSR1), 1);
        CHECK_EQ(handled, 0);
        CHECK_EQ(masks[i](SIG_UNBLOCK, &set, NULL), 0);
        CHECK_EQ(handled, 1);
        nested = 1;
        CHECK_EQ(raise(SIGUSR1), 0);
        CHECK_EQ(handled, 3);
    }
    CHECK_EQ(pthread_sigmask(77, &set, NULL), EINVAL);
    CHECK_FAILS(sigprocmask(77, &set, NULL), EINVAL);
    return 0;
}
