/* sigpause: lets one signal in (POSIX), or sets a mask (BSD), and waits; afterwards the mask is as it was. */
/* tests: sigpause __xpg_sigpause __sigpause */
/* ops: SIGNAL_WAIT SIGNAL_HANDLE */
#define _GNU_SOURCE
#include "check.h"
#include <signal.h>

int bsd_sigpause(int mask);
__asm__(".symver bsd_sigpause, sigpause@GLIBC_2.2.5");
int __sigpause(int argument, int is_signal);

static volatile sig_atomic_t handled;

static void handle(int number)
{
    CHECK_EQ(number, SIGUSR1);
    handled = handled + 1;
}

static void *signal_later(void *target)
{
    for (int i = 0; i < 4; i++)
        sched_yield();
    CHECK_EQ(pthread_kill(*(pthread_t *)target, SIGUSR1), 0);
    return NULL;
}

int main(void)
{
    sigset_t set, now;
    pthread_t self = pthread_self();
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    CHECK(signal(SIGUSR1, handle) != SIG_ERR);
    for (int i = 0; i < 8; i++) {
        pthread_t thread = check_spawn(signal_later, &self);
        CHECK_EQ(handled, i);
        if (i % 4 == 0)
            CHECK_FAILS(sigpause(SIGUSR1), EINTR); /* <signal.h>: __xpg_sigpause */
        else if (i % 4 == 1)
            CHECK_FAILS(bsd_sigpause(0), EINTR);
        else
            CHECK_FAILS(__sigpause(i % 4 == 2 ? SIGUSR1 : 0, i % 4 == 2), EINTR);
        CHECK_EQ(handled, i + 1);
        CHECK_EQ(pthread_sigmask(SIG_BLOCK, NULL, &now), 0);
        CHECK_EQ(sigismember(&now, SIGUSR1), 1);
        check_join(thread);
    }
    CHECK_FAILS(sigpause(99), EINVAL);
    return 0;
}
