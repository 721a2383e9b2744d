/* A thread that writes to a pipe whose other end another one closes: killed by SIGPIPE before the write was a step, it
 * had no report, and no cause. It has both now; a program of one thread, for which that is how its pipeline ends, has
 * none, as before, nor is it a failing child. What the target sees of the signal is the default.
 *
 * RUN 141: pct run -n 100 -s 1 --state none -- %p > %t/out 2>&1
 * RUN: pct run -n 100 -s 1 --state none -- %p > %t/out 2>&1; grep -F "crash by signal 13" %t/out
 * RUN: pct run -n 100 -s 1 --state none -- %p > %t/out 2>&1; grep -A 7 "^cause: " %t/out |
 *     grep "at the end  thread 1: write fd"
 * RUN 141: LD_PRELOAD=$LIBPCT %p alone 2> %t/out
 * RUN: LD_PRELOAD=$LIBPCT %p alone 2> %t/out; test ! -s %t/out
 * RUN: pct run --children=all -n 3 --state none -- sh -c '%p alone; echo end'
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];
static bool closed;

static void *say(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    bool open = !closed;
    pthread_mutex_unlock(&lock);
    if (open)
        (void)!write(ends[1], "x", 1);
    return NULL;
}

static void *hang_up(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    closed = true;
    close(ends[0]);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(int argc, char **argv)
{
    struct sigaction action;
    pthread_t threads[2];
    (void)argv;
    if (pipe(ends) || sigaction(SIGPIPE, NULL, &action) || action.sa_handler != SIG_DFL)
        return 1;
    if (argc > 1) {
        hang_up(NULL);
        closed = false;
        say(NULL);
    }
    pthread_create(&threads[0], NULL, say, NULL);
    pthread_create(&threads[1], NULL, hang_up, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
