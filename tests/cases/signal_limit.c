// How many signals a user may have pending is limited (ulimit -i), and another process may have them all. pct kept a
// signal for a thread that waits, said that it was sent, and lost it when it gave it to the kernel on the thread's
// turn: a deadlock, or a handler that was told nothing.
//
// RUN: %p
// RUN: for s in pos pct random-walk; do pct run -q -n 40 -s 1 -S $s --state none -- %p || exit 1; done
// RUN: pct run -q -n 20 -s 1 --exec --state none -- %p
// RUN: pct run -s 3 --state none --trace %t/trace -- %p && pct replay %t/trace -- %p
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static sem_t started, never, handled;

static void handle(int signal, siginfo_t *info, void *unused)
{
    (void)unused;
    if (signal == SIGRTMIN && (info->si_code != SI_QUEUE || info->si_value.sival_int != 42 || info->si_pid != getpid()))
        abort();
    sem_post(&handled);
}

static void *wait_for_ever(void *unused)
{
    sem_post(&started);
    while (sem_wait(&never))
        ;
    return unused;
}

int main(void)
{
    const struct rlimit none = { 0, 0 };
    struct sigaction action = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };
    pthread_t thread;
    sigaction(SIGRTMIN, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sem_init(&started, 0, 0);
    sem_init(&never, 0, 0);
    sem_init(&handled, 0, 0);
    setrlimit(RLIMIT_SIGPENDING, &none);
    pthread_create(&thread, NULL, wait_for_ever, NULL);
    sem_wait(&started);
    for (int i = 0; i < 3; i++) {
        int error = pthread_sigqueue(thread, SIGRTMIN, (union sigval){ .sival_int = 42 });
        if (error && error != EAGAIN)
            return 1;
        while (!error && sem_wait(&handled))
            ;
        if (pthread_kill(thread, SIGUSR1)) /* of these the kernel always has room for one */
            return 2;
        while (sem_wait(&handled))
            ;
    }
    sem_post(&never);
    pthread_join(thread, NULL);
    return 0;
}
