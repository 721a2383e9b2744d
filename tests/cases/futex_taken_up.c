/* A futex wait that a handler with SA_RESTART has interrupted is taken up again: the kernel looks at the word once
 * more, and what was done before that was written comes before the return (EAGAIN). It was called a race; with a
 * wake-up, too, that nobody waited for.
 *
 * BUILD: pct-cc -O1 -g -pthread -o %p %s
 * RUN: pct run -q -s 1 -n 30 --races=fail --state none -- %p && pct run -q -s 1 -n 30 --races=fail --state none -- %p w
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t word;
static int data, stored;

static void handle(int signal)
{
    const int error = errno;
    (void)signal;
    while (!__atomic_load_n(&stored, __ATOMIC_RELAXED))
        usleep(1);
    errno = error;
}

static void *wait_for_word(void *unused)
{
    while (!syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) || errno != EAGAIN)
        continue;
    return data == 1 ? unused : &data;
}

int main(int argc, char **argv)
{
    const struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
    pthread_t thread;
    void *result;
    (void)argv;
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&thread, NULL, wait_for_word, NULL);
    usleep(1000);
    pthread_kill(thread, SIGUSR1);
    data = 1;
    __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
    if (argc > 1)
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    __atomic_store_n(&stored, 1, __ATOMIC_RELAXED);
    pthread_join(thread, &result);
    return result != NULL;
}
