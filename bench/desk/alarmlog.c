/* Statistics that are printed when a signal asks for them, as many daemons do for SIGUSR1.
 *
 * Bug: the handler takes the lock of the statistics, which the thread that it interrupts may hold.
 * Shows as: a deadlock.
 * FIXED: the handler sets a flag, and the thread prints between two requests. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    long requests, bytes;
} stats;
static volatile sig_atomic_t asked;

static void print_stats(void)
{
    char line[64];
    pthread_mutex_lock(&lock); /* culprit */
    int length = snprintf(line, sizeof line, "%ld requests, %ld bytes\n", stats.requests, stats.bytes);
    pthread_mutex_unlock(&lock);
    if (write(STDOUT_FILENO, line, (size_t)length) < 0)
        return;
}

static void handler(int signal)
{
    (void)signal;
#ifdef FIXED
    asked = 1;
#else
    print_stats();
#endif
}

static void count(long bytes)
{
    pthread_mutex_lock(&lock); /* culprit */
    stats.requests++;
    stats.bytes += bytes;
    pthread_mutex_unlock(&lock);
}

static void *server(void *arg)
{
    long bytes = *(long *)arg;
    for (int i = 0; i < 3; i++) {
        count(bytes);
        if (asked) {
            asked = 0;
            print_stats();
        }
    }
    return NULL;
}

int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, NULL);
    long small = 10, large = 1000;
    pthread_t first, second;
    pthread_create(&first, NULL, server, &small);
    pthread_create(&second, NULL, server, &large);
    pthread_kill(first, SIGUSR1);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    print_stats();
    return 0;
}
