/* What a handler leaves behind for the call that it has interrupted. SA_RESTART takes up a futex wait from its
 * beginning, the value's look included; a wait that the handler made itself does not make the call one that is taken up
 * again, or that no handler has interrupted.
 * RUN: for strategy in pct pos random-walk; do pct run -q -n 60 -s 1 -S $strategy -- %p futex &&
 *     pct run -q -n 60 -s 1 -S $strategy -- %p nested && pct run -q -n 60 -s 1 -S $strategy -- %p taken || exit 1; done
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint32_t word;
static int data[2], failed;
static sem_t sem, other, handled;
static const char *what;

static void handle(int signal)
{
    char byte;
    (void)signal;
    int error = errno;
    if (!strcmp(what, "taken"))
        failed += read(data[0], &byte, 1) != 1; /* what the interrupted call was to have */
    else if (!strcmp(what, "nested"))
        while (sem_wait(&other))
            continue;
    else
        sched_yield();
    sem_post(&handled);
    errno = error;
}

static void *work(void *unused)
{
    char byte;
    if (!strcmp(what, "futex"))
        while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
            syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    else if (!strcmp(what, "nested"))
        failed = !(sem_wait(&sem) < 0 && errno == EINTR);
    else {
        failed += read(data[0], &byte, 1) != 1;
        while (sem_wait(&handled))
            continue;
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t worker;
    struct sigaction action = { .sa_handler = handle };
    (void)argc;
    what = argv[1];
    action.sa_flags = strcmp(what, "nested") ? SA_RESTART : 0;
    sigaction(SIGUSR1, &action, NULL);
    sem_init(&sem, 0, 0);
    sem_init(&other, 0, 0);
    sem_init(&handled, 0, 0);
    pipe(data);
    pthread_create(&worker, NULL, work, NULL);
    if (!strcmp(what, "futex")) {
        pthread_kill(worker, SIGUSR1);
        __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    } else if (!strcmp(what, "nested")) {
        for (int i = 0; i < 3; i++)
            nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL); /* it waits by now, or nothing is tested */
        pthread_kill(worker, SIGUSR1);
        sched_yield();
        sem_post(&other);
        while (sem_wait(&handled))
            continue;
    }
    if (!strcmp(what, "taken")) {
        write(data[1], "a", 1);
        pthread_kill(worker, SIGUSR1);
        sched_yield();
        write(data[1], "b", 1);
    }
    pthread_join(worker, NULL);
    return failed;
}
