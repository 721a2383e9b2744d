/* A thread that destroys a condition variable on which another one waits, and is interrupted meanwhile by a signal, is
 * not in the queue then, but was taken off the number of waiters all the same: a signal of the condition found nobody,
 * and that was said to be a deadlock.
 * RUN: pct run -q -n 20 -s 1 -- %p
 */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_t first;
static int waits;

static void handle(int signal)
{
    (void)signal;
    pthread_cond_signal(&cond);
}

static void *wait_for_it(void *unused)
{
    pthread_mutex_lock(&mutex);
    waits = 1;
    pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *interrupt(void *unused)
{
    usleep(10000);
    pthread_kill(first, SIGUSR1);
    return unused;
}

int main(void)
{
    pthread_t waiter, other;
    first = pthread_self();
    signal(SIGUSR1, handle);
    pthread_create(&waiter, NULL, wait_for_it, NULL);
    for (int there = 0; !there;) {
        usleep(100);
        pthread_mutex_lock(&mutex);
        there = waits;
        pthread_mutex_unlock(&mutex);
    }
    pthread_create(&other, NULL, interrupt, NULL);
    pthread_cond_destroy(&cond);
    pthread_join(other, NULL);
    pthread_join(waiter, NULL);
    return 0;
}
