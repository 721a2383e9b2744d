/* In the recorded run a signal's handler interrupted a wait for a child that had not ended yet. In the replay, on
 * another day, the child has ended before that, so the wait is over behind the handler; in the recorded run something
 * came from outside first. A trace replays it all the same: each pipeline of a shell, which has a handler for SIGCHLD,
 * may be such a wait.
 *
 * RUN: cd %t && for seed in 1 2 3 4 5 6 7 8; do rm -f early; pct run -q -S random-walk -s $seed --trace trace -- %p &&
 *     touch early && pct replay -q trace -- %p || exit; done
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_NS = 200000000 };

static sem_t waits;
static pthread_t parent;

static void handle(int signal)
{
    (void)signal;
}

static void *interrupt(void *unused)
{
    (void)unused;
    sem_wait(&waits);
    pthread_kill(parent, SIGUSR1);
    return NULL;
}

static void pause_inline(void)
{
    const struct timespec length = { .tv_nsec = WAIT_NS };
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_nanosleep), "D"(&length), "S"(0) : "rcx", "r11", "memory");
}

int main(void)
{
    const struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
    int status = 0, early = !access("early", F_OK);
    pthread_t helper;
    parent = pthread_self();
    sigaction(SIGUSR1, &action, NULL);
    pid_t child = fork();
    if (!child) {
        if (!early)
            pause_inline();
        _exit(3);
    }
    if (early)
        pause_inline(); /* it has ended by then */
    pthread_create(&helper, NULL, interrupt, NULL);
    sem_post(&waits);
    int failed = waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 3;
    return pthread_join(helper, NULL) || failed;
}
