/* glibc's pthread_cond_destroy waits until nobody waits on the condition any more, whatever ends the last wait: its
 * deadline, a cancellation, a signal that arrives meanwhile. The thread that destroys is none of those that a signal
 * may choose.
 * RUN: for how in deadline cancel signal broadcast handler; do for strategy in pct pos random-walk;
 *     do pct run -q -n $((FULL ? 60 : 20)) -s 1 -S $strategy -- %p $how || exit 1; done; done
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int waits, woken;
static const char *how;
static pthread_t waiter;

static void handle(int signal)
{
    (void)signal;
    sched_yield();
}

static void unlock(void *unused)
{
    (void)unused;
    woken = 1;
    pthread_mutex_unlock(&mutex);
}

static void *wait_for_it(void *unused)
{
    struct timespec when;
    clock_gettime(CLOCK_REALTIME, &when);
    when.tv_sec += strcmp(how, "deadline") ? 1000 : 1;
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(unlock, NULL);
    waits = 1;
    pthread_cond_timedwait(&cond, &mutex, &when);
    pthread_cleanup_pop(1);
    return unused;
}

static void *end_it(void *unused)
{
    if (!strcmp(how, "cancel"))
        pthread_cancel(waiter);
    if (!strcmp(how, "handler"))
        pthread_kill(waiter, SIGUSR1);
    if (!strcmp(how, "broadcast"))
        pthread_cond_broadcast(&cond);
    if (!strcmp(how, "signal") || !strcmp(how, "handler"))
        pthread_cond_signal(&cond);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t other;
    const struct sigaction action = { .sa_handler = handle, .sa_flags = SA_RESTART };
    (void)argc;
    how = argv[1];
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&waiter, NULL, wait_for_it, NULL);
    for (int seen = 0; !seen; sched_yield()) {
        pthread_mutex_lock(&mutex);
        seen = waits;
        pthread_mutex_unlock(&mutex);
    }
    pthread_create(&other, NULL, end_it, NULL);
    pthread_cond_destroy(&cond);
    pthread_join(other, NULL);
    pthread_join(waiter, NULL);
    return !woken;
}
