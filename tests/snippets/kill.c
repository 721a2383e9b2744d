/* kill: handled before it returns if only this thread can take it; reaches other processes; every error. */
/* ops: SIGNAL_SEND */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <semaphore.h>
#include <signal.h>

static volatile sig_atomic_t handled;
static pthread_t handler_thread;
static sem_t gate;

static void handle(int signal)
{
    CHECK_EQ(signal, SIGUSR1);
    handler_thread = pthread_self();
    handled = handled + 1;
}

static void wait_for_signal(void *unused)
{
    (void)unused;
    for (;;)
        pause();
}

static void kill_self(void *signal)
{
    kill(getpid(), *(int *)signal);
}

/* Blocks the signal, so it goes to another thread. */
static void *hold_blocked(void *set)
{
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, set, NULL), 0);
    CHECK_EQ(kill(getpid(), SIGUSR1), 0);
    CHECK_EQ(sem_post(&gate), 0);
    return NULL;
}

int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = handle;
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);

    CHECK_OK(kill(getpid(), SIGUSR1));
    CHECK_EQ(handled, 1);
    CHECK_OK(kill(0 - getpgid(0), 0));
    CHECK_OK(kill(getpid(), 0));
    CHECK_EQ(handled, 1);
    CHECK_FAILS(kill(getpid(), 99), EINVAL);
    CHECK_FAILS(kill(getpid(), -1), EINVAL);
    CHECK_FAILS(kill(0x3fffffff, 0), ESRCH);

    /* Blocked: pending until it is let in. */
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, &old), 0);
    CHECK_OK(kill(getpid(), SIGUSR1));
    CHECK_EQ(handled, 1);
    CHECK_EQ(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
    CHECK_EQ(handled, 2);

    /* A signal for the process goes to a thread that lets it in. */
    CHECK_EQ(sem_init(&gate, 0, 0), 0);
    pthread_t thread = check_spawn(hold_blocked, &set);
    while (sem_wait(&gate) != 0)
        CHECK_EQ(errno, EINTR);
    check_join(thread);
    while (handled < 3)
        sched_yield(); /* the signal is on its way */
    CHECK(pthread_equal(handler_thread, pthread_self()));

    /* What kills, kills; what is ignored does nothing. */
    static const int fatal[] = { SIGKILL, SIGTERM, SIGUSR2, SIGABRT, SIGSEGV };
    for (int i = 0; i < 5; i++) {
        int number = fatal[i];
        CHECK_SIGNALED(child_run(kill_self, &number), number);
    }
    int window = SIGWINCH;
    CHECK_EXITED(child_run(kill_self, &window), 99);
    pid_t child = child_start(wait_for_signal, NULL);
    CHECK_OK(kill(child, 0));
    CHECK_OK(kill(child, SIGTERM));
    CHECK_SIGNALED(child_wait(child), SIGTERM);
    CHECK_FAILS(kill(child, 0), ESRCH);
    return 0;
}
