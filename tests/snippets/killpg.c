/* killpg: reaches the own group, threads that wait and handlers, and that of a child; every error. */
/* ops: SIGNAL_SEND SIGNAL_WAIT SIGNAL_HANDLE */
/* outside: the kernel says where the handler of a signal to the own group runs */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include <semaphore.h>
#include <signal.h>

static volatile sig_atomic_t handled;
static sem_t gate;

static void handle(int signal)
{
    CHECK_EQ(signal, SIGUSR1);
    handled = handled + 1;
    sem_post(&gate);
}

static void *take(void *set)
{
    int signal;
    sigset_t handled_elsewhere;
    sigemptyset(&handled_elsewhere);
    sigaddset(&handled_elsewhere, SIGUSR1); /* a handler that runs here would leave EINTR in errno, natively, too */
    CHECK_OK(pthread_sigmask(SIG_BLOCK, &handled_elsewhere, NULL));
    CHECK_OK(sigwait(set, &signal));
    CHECK_EQ(signal, SIGUSR2);
    return NULL;
}

static void *send(void *unused)
{
    CHECK_OK(killpg(getpgrp(), SIGUSR1));
    CHECK_OK(killpg(0, SIGUSR2));
    return unused;
}

static void wait_in_group(void *pipe)
{
    CHECK_EQ(setpgid(0, 0), 0);
    CHECK_EQ(write(((int *)pipe)[1], "x", 1), 1);
    for (;;)
        pause();
}

int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    if (getpgrp() != getpid())
        CHECK_EQ(setpgid(0, 0), 0); /* nobody else's group */

    CHECK_OK(killpg(getpgrp(), 0));
    CHECK_FAILS(killpg(-1, 0), EINVAL);
    CHECK_FAILS(killpg(getpgrp(), 99), EINVAL);
    CHECK_FAILS(killpg(0x3fffffff, SIGUSR1), ESRCH);
    CHECK_EQ(handled, 0);

    CHECK_EQ(sem_init(&gate, 0, 0), 0);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
    pthread_t taker = check_spawn(take, &set), sender = check_spawn(send, NULL);
    while (sem_wait(&gate) != 0)
        CHECK_EQ(errno, EINTR);
    check_join(sender);
    check_join(taker);
    CHECK_EQ(handled, 1);

    int ready[2];
    char byte;
    CHECK_EQ(pipe(ready), 0);
    pid_t child = child_start(wait_in_group, ready);
    CHECK_EQ(read(ready[0], &byte, 1), 1);
    CHECK_OK(killpg(child, SIGTERM));
    CHECK_SIGNALED(child_wait(child), SIGTERM);
    CHECK_FAILS(killpg(child, 0), ESRCH);
    return 0;
}
