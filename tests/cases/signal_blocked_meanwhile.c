/* Signals to the process that a thread was to take, and blocks by the time that it is its turn, as it is in the handler
 * of another one then, which waits. The kernel keeps them until it lets them in: those of kill() and of an alarm, too,
 * which it was not given by any thread but the first. They were lost.
 *
 * RUN: timeout 60 pct run -S schedule --state none -- %p
 * RUN: timeout 60 pct run -n 100 -s 1 --state none -- %p
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { ROUNDS = 3 };

static int handling[2];
static sem_t ready;
static atomic_int handled, alarms;

static void handle(int signal)
{
    char byte;
    (void)signal;
    if (read(handling[0], &byte, 1) != 1)
        abort();
    handled++;
}

static void handle_alarm(int signal)
{
    (void)signal;
    alarms++;
}

static sigset_t taken(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigaddset(&set, SIGALRM);
    return set;
}

static void *take(void *unused)
{
    const sigset_t set = taken();
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    sem_post(&ready);
    while (handled < ROUNDS || !alarms)
        usleep(100);
    return unused;
}

int main(void)
{
    struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
    const struct itimerval soon = { .it_value.tv_usec = 1 };
    const sigset_t set = taken();
    pthread_t thread;
    sigaddset(&action.sa_mask, SIGALRM);
    if (pipe(handling) || sem_init(&ready, 0, 0) || sigaction(SIGRTMIN, &action, NULL))
        abort();
    action.sa_handler = handle_alarm;
    sigaction(SIGALRM, &action, NULL);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&thread, NULL, take, NULL);
    sem_wait(&ready);
    for (int i = 0; i < ROUNDS; i++)
        kill(getpid(), SIGRTMIN);
    setitimer(ITIMER_REAL, &soon, NULL);
    for (int i = 0; i < ROUNDS; i++)
        if (write(handling[1], "h", 1) != 1)
            abort();
    pthread_join(thread, NULL);
    return handled == ROUNDS && alarms == 1 ? 0 : 1;
}
