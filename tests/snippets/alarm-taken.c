/* An alarm that nobody handles, but a thread waits for: it says that it comes from the kernel, on whichever thread's
 * turn it goes off. So does one that was pending when a handler was installed. */
/* tests: setitimer, sigwaitinfo */
/* ops: TIMER_SET SIGNAL_WAIT SLEEP */
#define _GNU_SOURCE
#include "check.h"
#include <signal.h>
#include <sys/time.h>

enum { ROUNDS = 6 };

static sigset_t set;
static volatile int handled;

static void *sleep_on(void *unused)
{
    for (int i = 0; i < 100; i++)
        usleep(37);
    return unused;
}

static void *take(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        const struct itimerval soon = { .it_value.tv_usec = 500 };
        siginfo_t info;
        CHECK_EQ(setitimer(ITIMER_REAL, &soon, NULL), 0);
        CHECK_EQ(sigwaitinfo(&set, &info), SIGALRM);
        CHECK_EQ(info.si_code, SI_KERNEL);
        CHECK_EQ(info.si_pid, 0);
    }
    return unused;
}

static void handle(int signal, siginfo_t *info, void *context)
{
    (void)context;
    CHECK_EQ(signal, SIGALRM);
    CHECK_EQ(info->si_code, SI_KERNEL);
    handled++;
}

int main(void)
{
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    pthread_t sleeper = check_spawn(sleep_on, NULL), taker = check_spawn(take, NULL);
    check_join(taker);
    check_join(sleeper);

    const struct itimerval soon = { .it_value.tv_usec = 500 };
    CHECK_EQ(setitimer(ITIMER_REAL, &soon, NULL), 0);
    sleeper = check_spawn(sleep_on, NULL);
    check_join(sleeper);
    const struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };
    CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
    CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
    CHECK_EQ(handled, 1);
    return 0;
}
