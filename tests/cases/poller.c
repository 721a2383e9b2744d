/* A program that polls: it waits for 5 ms on a condition variable, looks, and waits again, as CPython does for its
 * lock.
 *
 * Where each wait may time out before others have made a step, such a program hangs under some strategies (pos:
 * hundreds of rounds): a coin for each wait keeps that from happening. No run polls more than 50 times.
 *
 * RUN: for strategy in pct random-walk pos round-robin surw urw portfolio;
 *     do pct run -q -n 60 -s 1 --state none -S $strategy -- %p || exit; done
 */
#include <pthread.h>
#include <time.h>

enum { ROUNDS = 200, MOST = 50 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int rounds;

static void *work(void *unused)
{
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&mutex);
        rounds++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void)
{
    pthread_t worker;
    int polls = 0;
    pthread_create(&worker, NULL, work, NULL);
    pthread_mutex_lock(&mutex);
    while (rounds < ROUNDS) {
        struct timespec when;
        clock_gettime(CLOCK_REALTIME, &when);
        when.tv_nsec += 5000000;
        when.tv_sec += when.tv_nsec / 1000000000;
        when.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&never, &mutex, &when);
        polls++;
    }
    pthread_mutex_unlock(&mutex);
    pthread_join(worker, NULL);
    return polls > MOST;
}
