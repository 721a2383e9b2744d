/* sigaction: what was set is what is read, also for the signals of crashes; each flag does what it says. */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <setjmp.h>
#include <signal.h>

static volatile sig_atomic_t handled, depth, deepest;
static siginfo_t seen;
static sigjmp_buf back;

static void handle(int number)
{
    (void)number;
    handled = handled + 1;
}

static void handle_info(int number, siginfo_t *info, void *context)
{
    CHECK_EQ(number, info->si_signo);
    CHECK(context != NULL);
    seen = *info;
    handled = handled + 1;
}

static void handle_nested(int number)
{
    depth = depth + 1;
    if (depth > deepest)
        deepest = depth;
    if (depth < 3)
        raise(number);
    depth = depth - 1;
}

static void jump(int number)
{
    siglongjmp(back, number);
}

static void crash(void *unused)
{
    (void)unused;
    volatile int *volatile nowhere = (int *)16;
    *nowhere = 1;
}

/* A handler for a crash, set and taken away again: the default action is back. */
static void crash_after_reset(void *unused)
{
    struct sigaction action, old;
    memset(&action, 0, sizeof(action));
    action.sa_handler = handle;
    CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
    action.sa_handler = SIG_DFL;
    CHECK_EQ(sigaction(SIGSEGV, &action, &old), 0);
    CHECK(old.sa_handler == handle);
    crash(unused);
}

static void exit_from_handler(int number)
{
    _exit(number + 20);
}

static void crash_with_handler(void *unused)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = exit_from_handler;
    CHECK_EQ(sigaction(SIGSEGV, &action, NULL), 0);
    crash(unused);
}

int main(void)
{
    static const int signals[] = {
        SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGTERM, SIGUSR1, SIGALRM
    };
    struct sigaction action, old;
    /* At the start all is as exec leaves it. */
    for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        memset(&old, 0x5a, sizeof(old));
        CHECK_OK(sigaction(signals[i], NULL, &old));
        CHECK(old.sa_handler == SIG_DFL);
        CHECK_EQ(old.sa_flags, 0);
        CHECK_EQ(sigismember(&old.sa_mask, SIGUSR2), 0);
    }
    for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        memset(&action, 0, sizeof(action));
        action.sa_sigaction = handle_info;
        action.sa_flags = SA_SIGINFO | SA_RESTART;
        sigaddset(&action.sa_mask, SIGUSR2);
        CHECK_OK(sigaction(signals[i], &action, &old));
        CHECK(old.sa_handler == SIG_DFL);
        CHECK_OK(sigaction(signals[i], NULL, &old));
        CHECK(old.sa_sigaction == handle_info);
        CHECK_EQ(old.sa_flags & (SA_SIGINFO | SA_RESTART | SA_NODEFER | SA_RESETHAND), SA_SIGINFO | SA_RESTART);
        CHECK_EQ(sigismember(&old.sa_mask, SIGUSR2), 1);
        handled = 0;
        CHECK_EQ(raise(signals[i]), 0);
        CHECK_EQ(handled, 1);
        CHECK_EQ(seen.si_signo, signals[i]);
        CHECK_EQ(seen.si_pid, getpid());
        memset(&action, 0, sizeof(action));
        action.sa_handler = SIG_IGN;
        CHECK_OK(sigaction(signals[i], &action, &old));
        CHECK(old.sa_sigaction == handle_info);
        CHECK_EQ(raise(signals[i]), 0);
        CHECK_EQ(handled, 1);
        action.sa_handler = SIG_DFL;
        CHECK_OK(sigaction(signals[i], &action, &old));
        CHECK(old.sa_handler == SIG_IGN);
    }
    CHECK_FAILS(sigaction(SIGKILL, &action, NULL), EINVAL);
    CHECK_FAILS(sigaction(SIGSTOP, &action, NULL), EINVAL);
    CHECK_FAILS(sigaction(99, NULL, &old), EINVAL);
    CHECK_FAILS(sigaction(0, NULL, &old), EINVAL);

    /* The flags: once only; not blocked while it runs. */
    memset(&action, 0, sizeof(action));
    action.sa_handler = handle;
    action.sa_flags = (int)SA_RESETHAND;
    CHECK_OK(sigaction(SIGABRT, &action, NULL));
    handled = 0;
    CHECK_EQ(raise(SIGABRT), 0);
    CHECK_EQ(handled, 1);
    CHECK_OK(sigaction(SIGABRT, NULL, &old));
    CHECK(old.sa_handler == SIG_DFL);
    memset(&action, 0, sizeof(action));
    action.sa_handler = handle_nested;
    action.sa_flags = SA_NODEFER;
    CHECK_OK(sigaction(SIGUSR1, &action, NULL));
    CHECK_EQ(raise(SIGUSR1), 0);
    CHECK_EQ(deepest, 3);

    /* A program's own handler gets its crashes, and may go on. */
    memset(&action, 0, sizeof(action));
    action.sa_handler = jump;
    CHECK_OK(sigaction(SIGSEGV, &action, NULL));
    for (int i = 0; i < 3; i++) {
        int number = sigsetjmp(back, 1);
        if (number == 0)
            crash(NULL);
        CHECK_EQ(number, SIGSEGV);
    }
    action.sa_handler = SIG_DFL;
    CHECK_OK(sigaction(SIGSEGV, &action, NULL));

    CHECK_SIGNALED(child_run(crash, NULL), SIGSEGV);
    CHECK_SIGNALED(child_run(crash_after_reset, NULL), SIGSEGV);
    CHECK_EXITED(child_run(crash_with_handler, NULL), SIGSEGV + 20);
    return 0;
}
