/* An update is lost within a handler that has interrupted the program's own code, where the thread keeps the baton: no
 * schedule shows it, and the guarantee must not speak of it. It did, and called a miss of depth 1 impossible.
 *
 * RUN: pct run --state none -s 1 -n 100 -- %p 2>&1 |
 *     grep 'change points were passed over .* up to [1-9][0-9]* points in a run'
 * RUN: pct run --state none -s 1 -n 100 -- %p plain 2>&1 | { ! grep 'passed over'; }
 * RUN 134: pct run -q --state none -s 1 -n 100 -- %p call
 * RUN: pct campaign -n 50 -s 1 --db %t/db -- %p > %t/out 2>&1; pct campaign report %t/db |
 *     grep 'change points were passed over'
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static int load(void)
{
    pthread_mutex_lock(&mutex);
    int value = counter;
    pthread_mutex_unlock(&mutex);
    return value;
}

static void store(int value)
{
    pthread_mutex_lock(&mutex);
    counter = value;
    pthread_mutex_unlock(&mutex);
}

static void handle(int signal)
{
    (void)signal;
    store(load() + 1);
}

/* The signal comes between two instructions of the program's own, as one from outside does. */
static void *interrupted(void *unused)
{
    long result, process = getpid(), thread = gettid();
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_tgkill), "D"(process), "S"(thread), "d"(SIGUSR1)
                     : "rcx", "r11", "memory");
    return unused;
}

static void *call(void *unused)
{
    store(load() + 1);
    return unused;
}

int main(int argc, char **argv)
{
    void *(*work)(void *) = argc > 1 && !strcmp(argv[1], "call") ? call : interrupted;
    struct sigaction action = { .sa_handler = handle };
    pthread_t first, second;
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&first, NULL, work, NULL);
    if (argc > 1 && !strcmp(argv[1], "plain"))
        pthread_join(first, NULL);
    pthread_create(&second, NULL, work, NULL);
    if (argc <= 1 || strcmp(argv[1], "plain") != 0)
        pthread_join(first, NULL);
    pthread_join(second, NULL);
    if (counter != 2)
        abort();
    return 0;
}
