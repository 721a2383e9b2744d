/* A signal that comes in a wrapper that is no scheduling point is let in where that has returned: the thread goes there
 * instruction by instruction. sigaction() blocks all signals meanwhile, SIGTRAP among them, and the kernel killed the
 * program for the next trap: here at once, a shell in 1 of 100 runs. They come all the same, though nothing here is a
 * scheduling point.
 *     RUN: for seed in 1 2 3; do PCT_SEED=$seed LD_PRELOAD=$LIBPCT %p || exit 1; done
 */
#include <signal.h>
#include <string.h>
#include <sys/time.h>

static volatile int ticks;

static void count(int signal)
{
    (void)signal;
    ticks++;
}

int main(void)
{
    const struct itimerval often = { { 0, 100 }, { 0, 100 } };
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count;
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &often, NULL);
    while (ticks < 20)
        sigaction(SIGUSR1, &action, NULL);
    return 0;
}
