/* Interrupts a thread that blocks: sends it SIGUSR1 again and again until it says that it was interrupted. One signal
 * would not do: it may arrive just before the thread blocks, and nothing tells whether it did. */
#ifndef PCT_TESTS_NAG_H
#define PCT_TESTS_NAG_H

#include "check.h"
#include <signal.h>

struct nag {
    pthread_t target;
    pthread_t thread;
    bool stop; /* atomic */
};

/* How often the handler has run, in any thread. */
static volatile sig_atomic_t nag_count;

static inline void nag_handler(int signal)
{
    (void)signal;
    nag_count = nag_count + 1;
}

static inline void *nag_run(void *argument)
{
    struct nag *nag = (struct nag *)argument;
    while (!__atomic_load_n(&nag->stop, __ATOMIC_ACQUIRE)) {
        CHECK_EQ(pthread_kill(nag->target, SIGUSR1), 0);
        usleep(1000);
    }
    return NULL;
}

/* Start to interrupt the calling thread. flags: SA_RESTART or 0. */
static inline void nag_start(struct nag *nag, int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = nag_handler;
    action.sa_flags = flags;
    CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
    nag->target = pthread_self();
    nag->stop = false;
    nag->thread = check_spawn(nag_run, nag);
}

static inline void nag_stop(struct nag *nag)
{
    __atomic_store_n(&nag->stop, true, __ATOMIC_RELEASE);
    check_join(nag->thread);
}

#endif
