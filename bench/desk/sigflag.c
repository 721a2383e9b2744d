/* A worker that works off jobs and pauses until the next signal; it is stopped by a flag and a signal.
 *
 * Bug: the worker looks at the flag and then pauses. A signal that comes between the two is spent, and it pauses for
 *   ever.
 * Shows as: deadlock; main joins the worker.
 * FIXED: the signal is blocked while it looks, and sigsuspend() lets it in. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static atomic_int stop, jobs, done;
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

static void on_signal(int number)
{
    (void)number;
}

static void say(const char *what)
{
    pthread_mutex_lock(&output);
    puts(what);
    pthread_mutex_unlock(&output);
}

static int finish_jobs(void)
{
    int n = 0;
    while (jobs > 0) {
        jobs--;
        n++;
    }
    return n;
}

static void *worker(void *unused)
{
    sigset_t mask, old;
    (void)unused;
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
#ifdef FIXED
    pthread_sigmask(SIG_BLOCK, &mask, &old); /* blocked since before its start */
    sigdelset(&old, SIGUSR1);
#else
    (void)old;
#endif
    while (!stop) {
        done += finish_jobs();
        say("idle");
        if (stop)
            break;
#ifdef FIXED
        sigsuspend(&old);
#else
        pause(); /* culprit */
#endif
    }
    done += finish_jobs();
    return NULL;
}

int main(void)
{
    struct sigaction action = { .sa_handler = on_signal };
    pthread_t thread;
    sigset_t mask, old;
    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR1);
#ifdef FIXED
    pthread_sigmask(SIG_BLOCK, &mask, &old);
    if (pthread_create(&thread, NULL, worker, NULL))
        return 3;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
#else
    (void)old;
    if (pthread_create(&thread, NULL, worker, NULL))
        return 3;
#endif
    jobs += 3;
    say("stopping");
    stop = 1;
    pthread_kill(thread, SIGUSR1); /* culprit */
    pthread_join(thread, NULL);
    assert(done == 3);
    return 0;
}
