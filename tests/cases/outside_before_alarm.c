/* In a family of processes that share their time, a wait of a millisecond for a signal is over before an alarm of
 * forty: where another thread kept the baton, time jumped to the alarm when the wait's time had come.
 *
 * RUN: for seed in 1 2 3 4 5 6; do PCT_SEED=$seed LD_PRELOAD=$LIBPCT %p || exit 1; done
 */
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void *rest(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pause();
    return unused;
}

int main(void)
{
    int status = 1;
    const struct itimerval later = { .it_value = { 0, 40000 } };
    const struct timespec millisecond = { 0, 1000000 };
    sigset_t none;
    pthread_t thread;
    if (fork()) {
        wait(&status);
        return status != 0; /* SIGALRM */
    }
    pthread_create(&thread, NULL, rest, NULL);
    sigemptyset(&none);
    setitimer(ITIMER_REAL, &later, NULL);
    _exit(sigtimedwait(&none, NULL, &millisecond) != -1);
}
