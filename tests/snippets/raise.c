/* raise: the handler has run in this thread when it returns; EINVAL. */
/* ops: SIGNAL_SEND */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <signal.h>

static __thread volatile sig_atomic_t handled;
static __thread volatile sig_atomic_t nested;

static void handle(int number)
{
    handled = handled + 1;
    if (number == SIGUSR2)
        CHECK_EQ(raise(SIGUSR1), 0);
    nested = handled;
}

static void *raise_each(void *unused)
{
    for (int i = 1; i <= 5; i++) {
        CHECK_OK(raise(SIGUSR1));
        CHECK_EQ(handled, i);
    }
    CHECK_OK(raise(SIGUSR2)); /* a handler may raise another signal */
    CHECK_EQ(handled, 7);
    CHECK_EQ(nested, 7);
    return unused;
}

static void raise_default(void *number)
{
    raise(*(int *)number);
}

int main(void)
{
    pthread_t threads[3];
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = handle;
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    CHECK_EQ(sigaction(SIGUSR2, &action, NULL), 0);
    CHECK_FAILS(raise(99), EINVAL);
    CHECK_FAILS(raise(-1), EINVAL);
    CHECK_OK(raise(0));
    for (int i = 0; i < 3; i++)
        threads[i] = check_spawn(raise_each, NULL);
    for (int i = 0; i < 3; i++)
        check_join(threads[i]);
    raise_each(NULL);
    static const int fatal[] = { SIGTERM, SIGABRT, SIGSEGV, SIGKILL };
    for (int i = 0; i < 4; i++) {
        int number = fatal[i];
        CHECK_SIGNALED(child_run(raise_default, &number), number);
    }
    return 0;
}
